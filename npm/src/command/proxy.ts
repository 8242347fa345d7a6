/** `toolwire proxy`: the processes, the streams and the clock of it. What happens to a message is decided in Rust. */

import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { CommandLine, ProxyConnection } from './engine.js';
import { Lines } from './lines.js';
import { Log, MOST_LOG, ReportFile } from './records.js';
import { Remote } from './remote.js';
import { withoutSecrets } from './secrets.js';
import type { Server as Described, Program } from './server.js';

/** Maximum size of a message, and of what a server has not read yet, in bytes. */
const MOST = 64 << 20;
/** How long open requests may take after the client has closed its end, and how long each way to end a server may take, in milliseconds. */
const PATIENCE = 1000;
const isWindows = process.platform === 'win32';

/** A server as the core describes it, with its name. */
type Server = Described & { name: string };

type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** A server that can be spoken with. */
interface Link {
  write(message: string | Uint8Array): void;
  /** While the client has much to read, no server is heard. */
  pause?(): void;
  resume?(): void;
  /** Ends it because it does not behave. */
  stop(): void;
  close(): Promise<void>;
}

/** What a server tells its host. */
interface Listener {
  message(message: Uint8Array): void;
  /** A line of its standard error. */
  log(line: string): void;
  /** A message that has not reached it. */
  undelivered(message: Uint8Array, why: string): void;
  ended(why: string): void;
}

const running = new Set<ChildProcess>();
// However this process ends.
process.on('exit', () => {
  for (const child of running) kill(child, 'SIGKILL');
});

let isEnding = false;

/** Lets everything that was started end, for a second at most. */
export async function stopServers(): Promise<void> {
  isEnding = true;
  for (const child of running) kill(child, 'SIGTERM');
  for (let waited = 0; running.size > 0 && waited < PATIENCE; waited += 20) await after(20);
}

/** Runs between a client on standard input and output and its servers, until the client has closed its end. */
export async function proxied(settings: string): Promise<void> {
  const { report } = JSON.parse(settings) as { report: string | null };
  const log = new Log();
  const file = new ReportFile(report, log.reportFailed);
  try {
    await new Host(settings, new Stdio(), log, file).run();
  } finally {
    file.close();
  }
}

/** The client of a proxy. */
export interface Client {
  /** Takes its messages until it closes its end. */
  listen(host: Host): Promise<void>;
  write(message: string | Uint8Array): void;
}

/** The client that has started this program. */
class Stdio implements Client {
  #host: Host | undefined;
  /** It has much to read. */
  #isFull = false;

  listen(host: Host): Promise<void> {
    this.#host = host;
    const lines = new Lines(
      MOST,
      (message) => host.take(message),
      () => host.refuse(MOST),
    );
    return new Promise((resolve, reject) => {
      process.stdin
        .on('data', (piece: Buffer) => lines.take(piece))
        .on('end', () => {
          lines.end();
          resolve();
        })
        .on('error', reject);
      // The client has closed its other end.
      process.stdout.once('error', () => resolve());
    });
  }

  write(message: string | Uint8Array): void {
    process.stdout.write(message);
    if (process.stdout.write('\n') || this.#isFull) return;
    // A client that does not read stops the servers and itself, not this process's memory.
    this.#isFull = true;
    process.stdin.pause();
    this.#host?.pause();
    process.stdout.once('drain', () => {
      this.#isFull = false;
      process.stdin.resume();
      this.#host?.resume();
    });
  }
}

/** A proxy between one client and its servers. */
export class Host {
  readonly #connection: InstanceType<typeof ProxyConnection>;
  readonly #links: (Link | undefined)[];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #servers: Server[];
  #isOver = false;
  #isFull = false;
  /** Ends the run with an error. */
  #fail: (error: unknown) => void = () => {};

  constructor(
    settings: string,
    readonly client: Client,
    readonly log: Log,
    readonly report: ReportFile,
  ) {
    this.#connection = new ProxyConnection(settings);
    this.#servers = (JSON.parse(settings) as { servers: Server[] }).servers;
    this.#links = this.#servers.map(() => undefined);
  }

  async run(): Promise<void> {
    try {
      const failed = new Promise<never>((_, reject) => {
        this.#fail = reject;
      });
      await Promise.race([failed, this.#served()]);
    } finally {
      this.#isOver = true;
      for (const timer of this.#timers) clearTimeout(timer);
      // A process whose output is not read does not close.
      this.resume();
      await Promise.all(this.#links.map((link) => link?.close()));
    }
  }

  async #served(): Promise<void> {
    await Promise.all(this.#servers.map((_, at) => this.#start(at, true)));
    await this.client.listen(this);
    // Requests that the client has sent before it closed its end.
    for (let waited = 0; this.#connection.unanswered() > 0 && waited < PATIENCE; waited += 10) await after(10);
  }

  /** A message of the client. */
  take(message: Uint8Array): void {
    this.#do(() => this.#connection.client(message), message);
  }

  /** A message of the client was longer than `most` bytes. */
  refuse(most: number): void {
    this.#do(() => this.#connection.tooLong(most));
  }

  /** The client has much to read: until it has done that, no server is heard. */
  pause(): void {
    this.#isFull = true;
    for (const link of this.#links) link?.pause?.();
  }

  resume(): void {
    this.#isFull = false;
    for (const link of this.#links) link?.resume?.();
  }

  /** Starts a server, or connects to it. If it is the only one and was never there, its absence is an error. */
  async #start(at: number, isFirst: boolean): Promise<void> {
    const server = this.#servers[at] as Server;
    let link: Link | undefined;
    const listener: Listener = {
      message: (message) => this.#do(() => this.#connection.server(at, message), message),
      log: (line) => this.log.write(CommandLine.heard(line).trimEnd()),
      undelivered: (message, why) =>
        this.#do(() => this.#connection.undelivered(at, message, withoutSecrets(why, server))),
      ended: (why) => {
        if (this.#isOver || isEnding) return;
        if (this.#links[at] === link) this.#links[at] = undefined;
        this.#do(() => this.#connection.ended(at, withoutSecrets(why, server)));
      },
    };
    try {
      link = 'url' in server ? await Remote.open(server, listener) : await started(server, listener);
      this.#links[at] = link;
      if (this.#isFull) link.pause?.();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const missing = 'expected a command, found none of that name';
      const why = code === 'ENOENT' ? missing : withoutSecrets(code ?? message, server);
      if (isFirst && this.#servers.length === 1) throw new Error(`${server.name}: ${why}`);
      listener.ended(why);
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
          this.client.write(text);
          break;
        case 'pass-client':
          this.client.write(message as Uint8Array);
          break;
        case 'server':
          this.#links[at]?.write(text);
          break;
        case 'pass-server':
          this.#links[at]?.write(message as Uint8Array);
          break;
        case 'stop':
          this.#links[at]?.stop();
          break;
        case 'start':
          this.#later(Number(text), () => void this.#restart(at));
          break;
        case 'alarm':
          this.#later(Number(text), () => this.#do(() => this.#connection.alarm(at)));
          break;
        case 'report':
          this.report.write(text);
          break;
        default:
          this.log.write(text);
      }
    }
  }

  async #restart(at: number): Promise<void> {
    await this.#start(at, false);
    if (this.#links[at] !== undefined) this.#do(() => this.#connection.started(at));
  }

  #later(delay: number, then: () => void): void {
    if (this.#isOver) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, delay);
    this.#timers.add(timer);
  }
}

/** Starts a program. */
function started(program: Program, { message, log, ended }: Listener): Promise<Link> {
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
  const child: Running = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], ...folder, ...group });
  return new Promise((resolve, reject) => {
    let why: string | undefined;
    const stop = (reason?: string) => {
      why ??= reason;
      kill(child, 'SIGKILL');
    };
    child.once('spawn', () => {
      running.add(child);
      resolve({
        write: (message) => {
          child.stdin.write(message);
          child.stdin.write('\n');
          // A server that does not read is ended.
          if (child.stdin.writableLength > MOST) stop(`it has not read ${MOST} bytes`);
        },
        pause: () => child.stdout.pause(),
        resume: () => child.stdout.resume(),
        stop,
        close: () => end(child),
      });
    });
    // One that was started and cannot be killed: `close` will come.
    child.once('error', (error) => child.pid === undefined && reject(error));
    // What it has started and left behind, and what would keep its streams open.
    child.once('exit', () => kill(child, 'SIGKILL'));
    child.once('close', (code, signal) => {
      if (running.delete(child)) ended(why ?? (signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    // It may end while something is written to it: `close` says so.
    child.stdin.on('error', () => {});
    const lines = new Lines(MOST, message, () => stop(`it wrote a message of more than ${MOST} bytes`));
    child.stdout.on('data', (piece: Buffer) => lines.take(piece)).on('end', () => lines.end());
    const logged = new Lines(
      MOST_LOG,
      (line) => log(line.toString()),
      () => {},
    );
    child.stderr.on('data', (piece: Buffer) => logged.take(piece)).on('end', () => logged.end());
  });
}

/** Lets a server end: its input is closed, then it is told to end, then it is ended. */
async function end(child: Running): Promise<void> {
  if (!running.has(child)) return;
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
