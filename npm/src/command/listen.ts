/** Sockets and timers of `toolwire proxy --listen`. Rust decides which client receives which response. */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ProxyListener } from './engine.js';
import {
  ended,
  following,
  IDLE,
  type Listening,
  listening,
  MAX_HEAD,
  onceOver,
  type Pairs,
  pairs,
  Room,
  tokenOf,
  Unreadable,
  wholeOf,
} from './http.js';
import { Log, ReportFile } from './logs.js';
import { type Client, Host } from './proxy.js';

/** Time limit for receiving a request body, and for a client that does not read its response, in seconds. */
const PATIENCE = 60;
/** Maximum total size of the bodies that are being read, in bytes. */
const MAX_BODIES = 512 << 20;
/** Maximum number of unsent bytes of a response whose servers cannot be paused for its client. */
const MAX_WAITING = 16 << 20;
/** Maximum number of connections, greater than the maximum number of open requests. */
const MAX_CONNECTIONS = 4_000;

/** The settings that the host reads. */
interface Settings extends Listening {
  report: string | null;
}

/** The actions that follow an event, in order, and the request body if the event was its arrival. */
interface Work {
  effects: string[];
  body: Uint8Array | undefined;
}

/** Serves clients until a signal stops the program. */
export async function listened(settings: string): Promise<void> {
  await new Front(settings).run();
}

/** The HTTP server in front of all sessions. */
class Front {
  readonly #settings: Settings;
  readonly #token: string | undefined;
  readonly #server: Server;
  readonly #log = new Log();
  readonly #report: ReportFile;
  readonly #open = new Map<number, { request: IncomingMessage; response: ServerResponse }>();
  readonly #sessions = new Map<number, Session>();
  readonly #work: Work[] = [];
  readonly #room = new Room(MAX_BODIES);
  /** Responses whose clients have stopped reading. */
  readonly #full = new Set<ServerResponse>();
  #listener: InstanceType<typeof ProxyListener>;
  #last = 0;
  #lastSession = 0;

  constructor(readonly text: string) {
    this.#settings = JSON.parse(text) as Settings;
    this.#token = tokenOf(this.#settings);
    this.#report = new ReportFile(this.#settings.report, this.#log.reportFailed);
    this.#listener = new ProxyListener(text, this.#token);
    // Keep-alive probes detect clients that disconnected silently.
    const limits = { maxHeaderSize: MAX_HEAD, keepAlive: true, keepAliveInitialDelay: PATIENCE * 1000 };
    this.#server = createServer(limits, (request, response) => this.#take(request, response));
    this.#server.keepAliveTimeout = IDLE;
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  async run(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.once('close', () => resolve());
    });
    this.#log.write(this.#listener.started(await listening(this.#server, this.#settings.listen)));
    await closed;
    this.#report.close();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    this.#last = following(this.#last);
    const number = this.#last;
    this.#open.set(number, { request, response });
    request.on('error', () => {});
    response.on('error', () => {});
    onceOver(request, response, () => {
      this.#open.delete(number);
      this.do((listener) => listener.closed(number));
    });
    const { method, url, rawHeaders } = request;
    const head = JSON.stringify({ method, target: url, headers: pairs(rawHeaders), id: randomUUID() });
    this.do((listener) => listener.request(number, head));
  }

  /** Carries out the actions that follow an event, and those of events that occur meanwhile. */
  do(decide: (listener: InstanceType<typeof ProxyListener>) => string[], body?: Uint8Array): void {
    try {
      this.#work.push({ effects: decide(this.#listener), body });
    } catch (error) {
      this.#restart(error as Error);
      return;
    }
    // The call that is already running also carries out these actions.
    if (this.#work.length > 1) return;
    for (let work = this.#work[0]; work !== undefined; work = this.#work[0]) {
      const { effects } = work;
      try {
        for (let at = 0; at < effects.length; at += 3) {
          const [kind = '', about = '', text = ''] = effects.slice(at, at + 3);
          this.#carryOut(kind, about === '' ? {} : JSON.parse(about), text, work.body);
        }
      } catch (error) {
        this.#restart(error as Error);
      } finally {
        this.#work.shift();
      }
    }
  }

  /** Ends all sessions after a failure of the core or this host. New sessions may start. */
  #restart(error: Error): void {
    this.#log.write(`toolwire: internal: found a defect in toolwire (${error.message})`);
    const settings = JSON.stringify({ ...this.#settings, lastSession: this.#lastSession });
    this.#listener = new ProxyListener(settings, this.#token);
    this.#work.splice(1);
    // The remaining actions belong to the ended sessions.
    if (this.#work[0] !== undefined) this.#work[0].effects.length = 0;
    for (const { response } of this.#open.values()) response.destroy();
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  #carryOut(kind: string, about: About, text: string, body: Uint8Array | undefined): void {
    const open = this.#open.get(about.request);
    const session = this.#sessions.get(about.session);
    switch (kind) {
      case 'read':
        if (open !== undefined) void this.#read(about.request, open.request, about.most);
        break;
      case 'answer':
        if (open === undefined) break;
        open.response.writeHead(about.status, about.headers.flat());
        if (text !== '') open.response.write(text);
        void ended(open.request, open.response);
        break;
      case 'head':
        open?.response.writeHead(about.status, about.headers.flat()).flushHeaders();
        break;
      case 'write':
        if (open === undefined) break;
        // Session 0 is shared by clients, so its servers cannot wait for one of them.
        if (about.session === 0 && open.response.writableLength > MAX_WAITING) open.response.destroy();
        else if (!open.response.write(text)) this.#wait(open.response, session);
        break;
      case 'end':
        open?.response.end();
        break;
      case 'open':
        this.#begin(about.session);
        break;
      case 'message':
        session?.push(Buffer.from(text));
        break;
      case 'pass':
        if (body !== undefined) session?.push(body);
        break;
      case 'close':
        session?.close();
        break;
      case 'alarm':
        setTimeout(() => this.do((listener) => listener.alarm(about.session)), about.delay);
        break;
      default:
        this.#log.write(text);
    }
  }

  async #read(number: number, request: IncomingMessage, most: number): Promise<void> {
    try {
      const body = await wholeOf(request, most, null, { whole: PATIENCE, room: this.#room });
      this.do((listener) => listener.body(number, body), body);
    } catch (error) {
      // Any other error means that the client has disconnected.
      if (error instanceof Unreadable) {
        this.do((listener) => listener.unread(number, error.status, error.message));
      }
    }
  }

  #begin(number: number): void {
    this.#lastSession = number;
    const session = new Session((message) => this.do((listener) => listener.message(number, message)));
    this.#sessions.set(number, session);
    const end = (why: string) => {
      if (this.#sessions.delete(number)) this.do((listener) => listener.ended(number, why));
    };
    new Host(this.text, session, this.#log, this.#report).run().then(
      () => end('it has ended'),
      (error: Error) => end(error.message),
    );
  }

  /** Pauses the servers of a session until its client has read. The response is aborted if that takes too long. */
  #wait(response: ServerResponse, session: Session | undefined): void {
    if (this.#full.has(response)) return;
    this.#full.add(response);
    session?.pause(response);
    const { req: request } = response;
    // A response that is queued behind another one on its connection has no socket yet.
    const timer = setTimeout(() => {
      response.destroy();
      request.socket.destroy();
    }, PATIENCE * 1000);
    const done = () => {
      clearTimeout(timer);
      response.off('drain', done);
      stop();
      this.#full.delete(response);
      session?.resume(response);
    };
    const stop = onceOver(request, response, done);
    response.once('drain', done);
  }
}

/** Fields of an effect. Its kind determines which of them are present. */
interface About {
  request: number;
  session: number;
  most: number;
  delay: number;
  status: number;
  headers: Pairs;
}

/** The client of one session. */
class Session implements Client {
  readonly write: (message: string | Uint8Array) => void;
  /** Messages that arrived before the servers were started. */
  #early: Uint8Array[] = [];
  #host: Host | undefined;
  /** Responses that the client has stopped reading. */
  readonly #full = new Set<ServerResponse>();
  #isOver = false;
  #end: () => void = () => {
    this.#isOver = true;
  };

  constructor(tell: (message: Uint8Array) => void) {
    this.write = (message) => tell(Buffer.from(message));
  }

  listen(host: Host): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#host = host;
    const over = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    for (const message of this.#early) host.take(message);
    this.#early = [];
    return over;
  }

  push(message: Uint8Array): void {
    if (this.#host === undefined) this.#early.push(message);
    else this.#host.take(message);
  }

  close(): void {
    this.#end();
  }

  /** Pauses the servers, because the client has stopped reading a response. */
  pause(response: ServerResponse): void {
    this.#full.add(response);
    this.#host?.pause();
  }

  resume(response: ServerResponse): void {
    this.#full.delete(response);
    if (this.#full.size === 0) this.#host?.resume();
  }
}
