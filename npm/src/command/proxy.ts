/** `toolwire proxy`: the processes, the streams and the clock of it. What happens to a message is decided in Rust. */

import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, constants, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ProxyConnection } from './engine.js';
import { Lines } from './lines.js';

/** The most bytes of a message, and of what a server has not read yet. */
const MOST = 64 << 20;
/** How long a server may take to end by itself, and then after it was told to, in milliseconds. */
const PATIENCE = 2000;
const isWindows = process.platform === 'win32';

/** A server as the core describes it. */
interface Program {
  name: string;
  command: string[];
  folder: string | null;
  inherited: string[];
  environment: Record<string, string>;
}

type Running = ChildProcessByStdio<Writable, Readable, null>;

const running = new Set<ChildProcess>();
// However this process ends.
process.on('exit', stopServers);

/** Ends everything that was started, at once. */
function stopServers(): void {
  for (const child of running) kill(child, 'SIGKILL');
}

/** Runs until the client has closed its end. */
export async function proxied(settings: string): Promise<void> {
  const { servers, report } = JSON.parse(settings) as { servers: Program[]; report: string | null };
  await new Host(settings, servers, report).run();
}

class Host {
  readonly #connection: InstanceType<typeof ProxyConnection>;
  readonly #children: (Running | undefined)[];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #report: number | undefined;
  #isOver = false;
  /** Ends the run with an error. */
  #fail: (error: unknown) => void = () => {};

  constructor(
    settings: string,
    readonly servers: Program[],
    report: string | null,
  ) {
    this.#connection = new ProxyConnection(settings);
    this.#children = servers.map(() => undefined);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
    if (report !== null) this.#report = openSync(report, flags, 0o666);
  }

  async run(): Promise<void> {
    try {
      await Promise.all(this.servers.map((_, at) => this.#start(at, true)));
      await this.#listen();
    } finally {
      this.#isOver = true;
      for (const timer of this.#timers) clearTimeout(timer);
      await Promise.all([...running].map(ended));
      if (this.#report !== undefined) closeSync(this.#report);
    }
  }

  /** Takes the client's messages until it closes its end. */
  #listen(): Promise<void> {
    const lines = new Lines(
      MOST,
      (message) => this.#do(() => this.#connection.client(message), message),
      () => this.#do(() => this.#connection.tooLong(MOST)),
    );
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      process.stdin
        .on('data', (piece: Buffer) => lines.take(piece))
        .on('end', () => {
          lines.end();
          resolve();
        })
        .on('error', reject);
    });
  }

  /** Starts a server. If it is the only one and was never there, its absence is an error. */
  #start(at: number, isFirst: boolean): Promise<void> {
    const program = this.servers[at] as Program;
    const [command = '', ...args] = program.command;
    const env: Record<string, string> = {};
    for (const name of program.inherited) {
      const value = process.env[name];
      // A function of the shell, which is no value.
      if (value !== undefined && !value.startsWith('()')) env[name] = value;
    }
    Object.assign(env, program.environment);
    const cwd = program.folder ?? undefined;
    // In a group of its own, so that what it starts itself ends with it.
    const child = spawn(command, args, {
      env,
      cwd,
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: !isWindows,
      windowsHide: true,
    });
    running.add(child);
    return new Promise((resolve, reject) => {
      let why: string | undefined;
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => {
        why = error.code === 'ENOENT' ? 'expected a command, found none of that name' : (error.code ?? error.message);
        if (child.pid !== undefined) return;
        running.delete(child);
        if (isFirst && this.servers.length === 1) return reject(new Error(`${program.name}: ${why}`));
        this.#ended(at, child, why);
        resolve();
      });
      child.once('close', (code, signal) => {
        running.delete(child);
        this.#ended(at, child, why ?? (signal === null ? `exit code ${code}` : `signal ${signal}`));
      });
      // It may end while something is written to it: `close` says so.
      child.stdin.on('error', () => {});
      this.#children[at] = child;
      const lines = new Lines(
        MOST,
        (message) => this.#do(() => this.#connection.server(at, message), message),
        () => {
          why = `it wrote a message of more than ${MOST} bytes`;
          kill(child, 'SIGKILL');
        },
      );
      child.stdout.on('data', (piece: Buffer) => lines.take(piece)).on('end', () => lines.end());
    });
  }

  #ended(at: number, child: ChildProcess, why: string): void {
    if (this.#isOver) return;
    if (this.#children[at] === child) this.#children[at] = undefined;
    this.#do(() => this.#connection.ended(at, why));
  }

  /** Does what there is to do after a message, or after something else. */
  #do(decide: () => string[], message?: Uint8Array): void {
    try {
      this.#carryOut(decide(), message);
    } catch (error) {
      this.#fail(error);
    }
  }

  #carryOut(effects: string[], message?: Uint8Array): void {
    for (let next = 0; next < effects.length; next += 3) {
      const [kind, number, text] = effects.slice(next, next + 3) as [string, string, string];
      const at = Number(number);
      switch (kind) {
        case 'client':
          this.#toClient(text);
          break;
        case 'pass-client':
          this.#toClient(message as Uint8Array);
          break;
        case 'server':
          this.#toServer(at, text);
          break;
        case 'pass-server':
          this.#toServer(at, message as Uint8Array);
          break;
        case 'start':
          this.#later(Number(text), () => void this.#restart(at));
          break;
        case 'alarm':
          this.#later(Number(text), () => this.#do(() => this.#connection.alarm(at)));
          break;
        case 'report':
          if (this.#report !== undefined) appendFileSync(this.#report, `${text}\n`);
          break;
        default:
          process.stderr.write(`${text}\n`);
      }
    }
  }

  async #restart(at: number): Promise<void> {
    await this.#start(at, false);
    if (this.#children[at] !== undefined) this.#do(() => this.#connection.started(at));
  }

  #toClient(message: string | Uint8Array): void {
    process.stdout.write(message);
    // A client that does not read stops the servers, not this process's memory.
    if (process.stdout.write('\n')) return;
    const paused = this.#children.filter((child) => child !== undefined);
    for (const child of paused) child.stdout.pause();
    process.stdout.once('drain', () => {
      for (const child of paused) child.stdout.resume();
    });
  }

  #toServer(at: number, message: string | Uint8Array): void {
    const child = this.#children[at];
    if (child === undefined) return;
    child.stdin.write(message);
    child.stdin.write('\n');
    // One that does not read is not there.
    if (child.stdin.writableLength > MOST) kill(child, 'SIGKILL');
  }

  #later(pause: number, then: () => void): void {
    if (this.#isOver) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, pause);
    this.#timers.add(timer);
  }
}

/** Lets a server end: its input is closed, then it is told to end, then it is ended. */
async function ended(child: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  child.stdin?.end();
  const timers = [
    setTimeout(() => kill(child, 'SIGTERM'), PATIENCE),
    setTimeout(() => kill(child, 'SIGKILL'), 2 * PATIENCE),
  ];
  await gone;
  timers.forEach(clearTimeout);
  // What it has started and left behind.
  kill(child, 'SIGKILL');
}

/** Sends a signal to a server and to what it has started. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (isWindows) spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore' });
    else process.kill(-child.pid, signal);
  } catch {
    // It has ended by itself.
  }
}
