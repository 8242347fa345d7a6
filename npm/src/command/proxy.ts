/** `toolwire proxy`: the processes, the streams and the clock of it. What happens to a message is decided in Rust. */

import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, constants, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ProxyConnection } from './engine.js';
import { Lines } from './lines.js';
import { Remote } from './remote.js';
import { withoutSecrets } from './secrets.js';
import type { Address } from './server.js';

/** The most bytes of a message, and of what a server has not read yet. */
const MOST = 64 << 20;
/** How long a server may take to end by itself, and then after it was told to, in milliseconds. */
const PATIENCE = 2000;
const isWindows = process.platform === 'win32';

/** A server as the core describes it. */
type Server = (Program | Address) & { name: string };

interface Program {
  timeout: number;
  command: string[];
  folder: string | null;
  inherited: string[];
  environment: Record<string, string>;
}

type Running = ChildProcessByStdio<Writable, Readable, null>;

/** A server that can be spoken with. */
interface Link {
  write(message: string | Uint8Array): void;
  /** While the client has much to read, no server is heard. */
  pause?(): void;
  resume?(): void;
  close(): Promise<void>;
}

const running = new Set<ChildProcess>();
// However this process ends.
process.on('exit', stopServers);

/** Ends everything that was started, at once. */
function stopServers(): void {
  for (const child of running) kill(child, 'SIGKILL');
}

/** Runs until the client has closed its end. */
export async function proxied(settings: string): Promise<void> {
  const { servers, report } = JSON.parse(settings) as { servers: Server[]; report: string | null };
  await new Host(settings, servers, report).run();
}

class Host {
  readonly #connection: InstanceType<typeof ProxyConnection>;
  readonly #links: (Link | undefined)[];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #report: number | undefined;
  #isOver = false;
  /** Ends the run with an error. */
  #fail: (error: unknown) => void = () => {};

  constructor(
    settings: string,
    readonly servers: Server[],
    report: string | null,
  ) {
    this.#connection = new ProxyConnection(settings);
    this.#links = servers.map(() => undefined);
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
      await Promise.all(this.#links.map((link) => link?.close()));
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

  /** Starts a server, or connects to it. If it is the only one and was never there, its absence is an error. */
  async #start(at: number, isFirst: boolean): Promise<void> {
    const server = this.servers[at] as Server;
    let link: Link | undefined;
    const message = (message: Uint8Array) => this.#do(() => this.#connection.server(at, message), message);
    const ended = (why: string) => {
      if (this.#isOver) return;
      if (this.#links[at] === link) this.#links[at] = undefined;
      this.#do(() => this.#connection.ended(at, withoutSecrets(why, server)));
    };
    try {
      if ('url' in server) {
        const remote = await Remote.open(server, message, ended);
        link = { write: (text) => remote.send(text), close: () => remote.close() };
      } else {
        link = await started(server, message, ended);
      }
      this.#links[at] = link;
    } catch (error) {
      const why = withoutSecrets((error as Error).message, server);
      if (isFirst && this.servers.length === 1) throw new Error(`${server.name}: ${why}`);
      ended(why);
    }
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
    if (this.#links[at] !== undefined) this.#do(() => this.#connection.started(at));
  }

  #toClient(message: string | Uint8Array): void {
    process.stdout.write(message);
    // A client that does not read stops the servers, not this process's memory.
    if (process.stdout.write('\n')) return;
    const paused = this.#links.filter((link) => link !== undefined);
    for (const link of paused) link.pause?.();
    process.stdout.once('drain', () => {
      for (const link of paused) link.resume?.();
    });
  }

  #toServer(at: number, message: string | Uint8Array): void {
    this.#links[at]?.write(message);
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

/** Starts a program. */
function started(
  program: Program,
  message: (message: Uint8Array) => void,
  ended: (why: string) => void,
): Promise<Link> {
  const [command = '', ...args] = program.command;
  const env: Record<string, string> = {};
  for (const name of program.inherited) {
    const value = process.env[name];
    // A function of the shell is no value.
    if (value !== undefined && !value.startsWith('()')) env[name] = value;
  }
  Object.assign(env, program.environment);
  const folder = program.folder === null ? {} : { cwd: program.folder };
  // In a group of its own, so that what it starts itself ends with it.
  const group = { detached: !isWindows, windowsHide: true };
  const child: Running = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'], ...folder, ...group });
  return new Promise((resolve, reject) => {
    let why: string | undefined;
    child.once('spawn', () => {
      running.add(child);
      resolve({
        write: (message) => {
          child.stdin.write(message);
          child.stdin.write('\n');
          // One that does not read is not there.
          if (child.stdin.writableLength <= MOST) return;
          why = `it has not read ${MOST} bytes`;
          kill(child, 'SIGKILL');
        },
        pause: () => child.stdout.pause(),
        resume: () => child.stdout.resume(),
        close: () => end(child),
      });
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      // One that was started and cannot be killed: `close` will come.
      if (child.pid !== undefined) return;
      const missing = 'expected a command, found none of that name';
      reject(error.code === 'ENOENT' ? new Error(missing) : error);
    });
    // What it has started and left behind, and what would keep its streams open.
    child.once('exit', () => kill(child, 'SIGKILL'));
    child.once('close', (code, signal) => {
      if (running.delete(child)) ended(why ?? (signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    // It may end while something is written to it: `close` says so.
    child.stdin.on('error', () => {});
    const lines = new Lines(MOST, message, () => {
      why = `it wrote a message of more than ${MOST} bytes`;
      kill(child, 'SIGKILL');
    });
    child.stdout.on('data', (piece: Buffer) => lines.take(piece)).on('end', () => lines.end());
  });
}

/** Lets a server end: its input is closed, then it is told to end, then it is ended. */
async function end(child: Running): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  child.stdin.end();
  const timers = [
    setTimeout(() => kill(child, 'SIGTERM'), PATIENCE),
    setTimeout(() => kill(child, 'SIGKILL'), 2 * PATIENCE),
  ];
  await gone;
  timers.forEach(clearTimeout);
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
