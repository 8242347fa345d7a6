/** Processes, streams and timers of `toolwire proxy`. Rust decides what happens to each message. */

import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { CommandLine, ProxyConnection } from './engine.js';
import { Lines } from './lines.js';
import { Log, MAX_LOG, ReportFile } from './logs.js';
import { Remote } from './remote.js';
import { withoutSecrets } from './secrets.js';
import type { Server as Described, Program } from './server.js';

/** Maximum size of a message, and of the output that a server has not read yet, in bytes. */
const MAX_MESSAGE = 64 << 20;
/** Time limit for each step of stopping a server, in ms. */
const PATIENCE = 1000;
/**
 * Time limit for open requests after the client has closed its end, in ms. It allows for servers
 * that are still starting.
 */
const LAST_ANSWERS = 10_000;
const isWindows = process.platform === 'win32';

/** A server as the core describes it, with its name. */
type Server = Described & { name: string };

type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** A connected server. */
interface Link {
  write(message: string | Uint8Array): void;
  /** Stops reading from the server while the client's output is backed up. */
  pause?(): void;
  resume?(): void;
  /** Ends a server that violates the protocol. */
  stop(): void;
  close(): Promise<void>;
}

/** Callbacks from a server to its host. */
interface Listener {
  message(message: Uint8Array): void;
  /** Receives a line of the server's standard error. */
  log(line: string): void;
  /** Reports a message that could not be delivered to the server. */
  undelivered(message: Uint8Array, why: string): void;
  ended(why: string): void;
}

const running = new Set<ChildProcess>();
// Kills the servers when this process ends, for whatever reason.
process.on('exit', () => {
  for (const child of running) kill(child, 'SIGKILL');
});

let isEnding = false;

/** Terminates all servers, and waits at most a second until they have ended. */
export async function stopServers(): Promise<void> {
  isEnding = true;
  for (const child of running) kill(child, 'SIGTERM');
  for (let waited = 0; running.size > 0 && waited < PATIENCE; waited += 20) await after(20);
}

/** Serves a client on standard input and output until the client closes its end. */
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
  /** Passes the client's messages to the host until the client closes its end. */
  listen(host: Host): Promise<void>;
  write(message: string | Uint8Array): void;
}

/** The client that started this program, on standard input and output. */
class Stdio implements Client {
  #host: Host | undefined;
  /** True while the output is backed up. */
  #isFull = false;

  listen(host: Host): Promise<void> {
    this.#host = host;
    const lines = new Lines(
      MAX_MESSAGE,
      (message) => host.take(message),
      () => host.refuse(MAX_MESSAGE),
    );
    return new Promise((resolve, reject) => {
      process.stdin
        .on('data', (piece: Buffer) => lines.take(piece))
        .on('end', () => {
          lines.end();
          resolve();
        })
        .on('error', reject);
      // The client no longer reads the output.
      process.stdout.once('error', () => resolve());
    });
  }

  write(message: string | Uint8Array): void {
    process.stdout.write(message);
    if (process.stdout.write('\n') || this.#isFull) return;
    // If the client does not read, reading from it and from the servers stops, so that memory use stays bounded.
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
    // Waits for requests that the client sent before it closed its end.
    for (let waited = 0; this.#connection.unanswered() > 0 && waited < LAST_ANSWERS; waited += 10) await after(10);
  }

  /** Handles a message from the client. */
  take(message: Uint8Array): void {
    this.#do(() => this.#connection.client(message), message);
  }

  /** Reports that a message from the client was longer than `most` bytes. */
  refuse(most: number): void {
    this.#do(() => this.#connection.tooLong(most));
  }

  /** Stops reading from servers while the client's output is backed up. */
  pause(): void {
    this.#isFull = true;
    for (const link of this.#links) link?.pause?.();
  }

  resume(): void {
    this.#isFull = false;
    for (const link of this.#links) link?.resume?.();
  }

  /** Starts a server, or connects to it. Throws if the first attempt fails for the only server. */
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
      const missing = 'expected a command, found none with this name';
      const why = code === 'ENOENT' ? missing : withoutSecrets(code ?? message, server);
      if (isFirst && this.#servers.length === 1) throw new Error(`${server.name}: ${why}`);
      listener.ended(why);
    }
  }

  /** Carries out the actions that follow a message or another event. */
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

/** Starts a server's program. */
function started(program: Program, { message, log, ended }: Listener): Promise<Link> {
  const [command = '', ...args] = program.command;
  const env: Record<string, string> = {};
  for (const name of program.inherited) {
    const value = process.env[name];
    // Skips exported shell functions.
    if (value !== undefined && !value.startsWith('()')) env[name] = value;
  }
  Object.assign(env, program.environment);
  const folder = program.folder === null ? {} : { cwd: program.folder };
  // A separate process group, so that the server's child processes end with the server.
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
          // Kills a server that does not read.
          if (child.stdin.writableLength > MAX_MESSAGE) stop(`it has not read ${MAX_MESSAGE} bytes`);
        },
        pause: () => child.stdout.pause(),
        resume: () => child.stdout.resume(),
        stop,
        close: () => end(child),
      });
    });
    // If the process has an id, it was started but could not be killed; `close` follows.
    child.once('error', (error) => child.pid === undefined && reject(error));
    /** Closes the streams that a process outside the server's group keeps open. */
    const closeStreams = () => {
      if (child.stdout.isPaused()) setTimeout(closeStreams, PATIENCE);
      else for (const stream of [child.stdout, child.stderr]) stream.destroy();
    };
    child.once('exit', () => {
      // Kills leftover child processes, which would keep the streams open.
      kill(child, 'SIGKILL');
      setTimeout(closeStreams, PATIENCE);
    });
    child.once('close', (code, signal) => {
      if (running.delete(child)) ended(why ?? (signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    // The server may end during a write; `close` reports that.
    child.stdin.on('error', () => {});
    const lines = new Lines(MAX_MESSAGE, message, () => stop(`it wrote a message of more than ${MAX_MESSAGE} bytes`));
    child.stdout.on('data', (piece: Buffer) => lines.take(piece)).on('end', () => lines.end());
    const logged = new Lines(
      MAX_LOG,
      (line) => log(line.toString()),
      () => {},
    );
    child.stderr.on('data', (piece: Buffer) => logged.take(piece)).on('end', () => logged.end());
  });
}

/** Stops a server: closes its input, then sends SIGTERM, then SIGKILL. */
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

/** Sends a signal to a server and its child processes. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (isWindows) spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore' });
    else process.kill(-child.pid, signal);
  } catch {
    // The process has already ended.
  }
}
