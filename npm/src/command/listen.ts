/** `toolwire proxy --listen`: the sockets and the clock of it. Who gets which answer is decided in Rust. */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ProxyListener } from './engine.js';
import {
  ended,
  following,
  type Listening,
  listening,
  MOST_HEAD,
  onceOver,
  type Pairs,
  pairs,
  Room,
  tokenOf,
  Unreadable,
  wholeOf,
} from './http.js';
import { type Client, Host } from './proxy.js';
import { Log, ReportFile } from './records.js';

/** How long a client may take for the body of a request, and may not read a response, in seconds. */
const PATIENCE = 60;
/** Maximum size of all bodies that are being read, in bytes. */
const MOST_BODIES = 512 << 20;
/** How much of a response may wait where servers do not wait for its client, in bytes. */
const MOST_WAITING = 16 << 20;
/** Maximum number of connections: more than there may be open requests. */
const MOST_CONNECTIONS = 4_000;

/** What the host has to know. */
interface Settings extends Listening {
  report: string | null;
}

/** What there is to do, in order; and the body that was received before. */
interface Work {
  effects: string[];
  body: Uint8Array | undefined;
}

/** Runs until it is told to end. */
export async function listened(settings: string): Promise<void> {
  await new Front(settings).run();
}

/** The sessions of all clients. */
class Front {
  readonly #settings: Settings;
  readonly #token: string | undefined;
  readonly #server: Server;
  readonly #log = new Log();
  readonly #report: ReportFile;
  readonly #open = new Map<number, { request: IncomingMessage; response: ServerResponse }>();
  readonly #sessions = new Map<number, Session>();
  readonly #work: Work[] = [];
  readonly #room = new Room(MOST_BODIES);
  /** Responses that their clients do not read. */
  readonly #full = new Set<ServerResponse>();
  #listener: InstanceType<typeof ProxyListener>;
  #last = 0;
  #lastSession = 0;

  constructor(readonly text: string) {
    this.#settings = JSON.parse(text) as Settings;
    this.#token = tokenOf(this.#settings);
    this.#report = new ReportFile(this.#settings.report, this.#log.reportFailed);
    this.#listener = new ProxyListener(text, this.#token);
    // Of a client that is gone without a word, the system learns by asking.
    const limits = { maxHeaderSize: MOST_HEAD, keepAlive: true, keepAliveInitialDelay: PATIENCE * 1000 };
    this.#server = createServer(limits, (request, response) => this.#take(request, response));
    this.#server.maxConnections = MOST_CONNECTIONS;
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

  /** Does what there is to do after something has happened, and after what happens meanwhile. */
  do(decide: (listener: InstanceType<typeof ProxyListener>) => string[], body?: Uint8Array): void {
    try {
      this.#work.push({ effects: decide(this.#listener), body });
    } catch (error) {
      this.#restart(error as Error);
      return;
    }
    // Who has begun to work does this as well.
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

  /** The core or this host has failed: all sessions end, and others may begin. */
  #restart(error: Error): void {
    this.#log.write(`toolwire: internal: found a defect of toolwire (${error.message})`);
    const settings = JSON.stringify({ ...this.#settings, lastSession: this.#lastSession });
    this.#listener = new ProxyListener(settings, this.#token);
    this.#work.splice(1);
    // The rest of what was begun was for the former sessions.
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
        // Others share the servers, which cannot wait for one client.
        if (about.session === 0 && open.response.writableLength > MOST_WAITING) open.response.destroy();
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
      // Otherwise the client is gone.
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

  /** Lets the servers of a session wait until its client has read. A client that reads nothing loses the response. */
  #wait(response: ServerResponse, session: Session | undefined): void {
    if (this.#full.has(response)) return;
    this.#full.add(response);
    session?.pause(response);
    const { req: request } = response;
    // A response that waits for the one before it on its connection has no socket of its own.
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

/** What an effect is about, as far as its kind has it. */
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
  /** Messages that came before the servers were started. */
  #early: Uint8Array[] = [];
  #host: Host | undefined;
  /** Responses that the client does not read. */
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

  /** The client does not read a response: the servers wait. */
  pause(response: ServerResponse): void {
    this.#full.add(response);
    this.#host?.pause();
  }

  resume(response: ServerResponse): void {
    this.#full.delete(response);
    if (this.#full.size === 0) this.#host?.resume();
  }
}
