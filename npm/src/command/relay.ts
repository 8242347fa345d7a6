/** Sockets and timers of `toolwire relay`. Rust decides which upstream a request is sent to, and what the client receives. */

import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { RelayState } from './engine.js';
import {
  ended,
  following,
  hasBody,
  IDLE,
  isEarly,
  type Listening,
  listening,
  MAX_HEAD,
  onceOver,
  type Pairs,
  pairs,
  tokenOf,
  Unreadable,
  unpacked,
  wholeOf,
} from './http.js';
import { Log, ReportFile } from './logs.js';

/** Time limit for open requests after the relay is asked to stop, in milliseconds. */
const PATIENCE = 10_000;
/** Lifetime of an idle connection to an API, in milliseconds. Servers keep theirs longer: 5 s in Node and uvicorn. */
const KEEP_ALIVE = 4_000;

/** An API, as the core describes it. */
interface Upstream {
  encrypted: boolean;
  host: string;
  port: number;
}

/** The settings that the host reads. */
interface Settings extends Listening {
  upstreams: Upstream[];
  mostClients: number;
  /** Maximum silence of a client or an upstream, in seconds. */
  timeout: number;
  report: string | null;
}

/** The form in which a request is sent to an upstream. */
interface Sending {
  upstream: number;
  method: string;
  target: string;
  headers: Pairs;
}

/** Ends the reading of a body, with the effects of the core. */
class Stopped extends Error {
  constructor(readonly effects: string[]) {
    super();
  }
}

let current: Host | undefined;

/** Stops accepting requests and drains open ones. */
export async function stopRelay(): Promise<void> {
  await current?.stop();
}

/** Serves clients until a signal stops the program. */
export async function relayed(settings: string): Promise<void> {
  const host = new Host(settings);
  current = host;
  await host.run();
}

class Host {
  readonly settings: Settings;
  readonly log = new Log();
  readonly report: ReportFile;
  readonly agents = {
    plain: new PlainAgent({ keepAlive: true, timeout: KEEP_ALIVE }),
    secure: new SecureAgent({ keepAlive: true, timeout: KEEP_ALIVE }),
  };
  readonly #token: string | undefined;
  readonly #server: Server;
  readonly #open = new Set<Exchange>();
  #state: InstanceType<typeof RelayState>;
  #last = 0;

  constructor(readonly text: string) {
    this.settings = JSON.parse(text) as Settings;
    this.#token = tokenOf(this.settings);
    this.report = new ReportFile(this.settings.report, this.log.reportFailed);
    this.#state = new RelayState(text, this.#token);
    // `setTimeout` below disconnects silent clients; there is no time limit for a whole request.
    const limits = { maxHeaderSize: MAX_HEAD, requestTimeout: 0 };
    this.#server = createServer(limits, (request, response) => this.#take(request, response));
    this.#server.setTimeout((this.settings.timeout + 10) * 1000);
    this.#server.keepAliveTimeout = IDLE;
    this.#server.maxConnections = 4 * this.settings.mostClients;
  }

  async run(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.once('close', () => resolve());
    });
    this.log.write(this.#state.started(await listening(this.#server, this.settings.listen)));
    await closed;
    this.report.close();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeIdleConnections();
    for (let waited = 0; this.#open.size > 0 && waited < PATIENCE; waited += 20) await after(20);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    this.#last = following(this.#last);
    const exchange = new Exchange(this, this.#last, request, response);
    this.#open.add(exchange);
    onceOver(request, response, () => {
      this.#open.delete(exchange);
      exchange.close();
    });
    exchange.begin();
  }

  /** Asks the core for the next actions. If it panics, open requests are aborted and the relay continues. */
  ask(what: (state: InstanceType<typeof RelayState>) => string[]): string[] {
    try {
      return what(this.#state);
    } catch (error) {
      this.log.write(`toolwire: internal: found a defect in toolwire (${(error as Error).message})`);
      this.#state = new RelayState(this.text, this.#token);
      for (const exchange of this.#open) exchange.abort();
      return [];
    }
  }
}

/** A client's request and its reply. */
class Exchange {
  readonly #response: ServerResponse;
  #body: Buffer = Buffer.alloc(0);
  #upstream: ClientRequest | undefined;
  #reply: IncomingMessage | undefined;
  #isOver = false;
  /** True if the upstream was silent for too long. */
  #isLate = false;
  /** Time spent in the core, in milliseconds. */
  #spent = 0;

  constructor(
    readonly host: Host,
    readonly number: number,
    readonly request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#response = response;
    response.on('error', () => {});
    request.on('error', () => {});
  }

  begin(): void {
    const { method, url, rawHeaders, socket } = this.request;
    const head = JSON.stringify({
      method,
      target: url,
      headers: pairs(rawHeaders),
      time: new Date().toISOString(),
      local: isLocal(socket.remoteAddress),
    });
    this.#run(this.#ask((state) => state.request(this.number, head)));
  }

  /** Called when the reply is complete or the client's connection has ended. */
  close(): void {
    this.#isOver = true;
    this.#upstream?.destroy();
    this.#note(this.#ask((state) => state.closed(this.number, Math.round(this.#spent * 1000))));
  }

  /** Closes the client's connection. */
  abort(): void {
    this.#response.destroy();
  }

  #ask(what: (state: InstanceType<typeof RelayState>) => string[]): string[] {
    const begin = performance.now();
    try {
      return this.host.ask(what);
    } finally {
      this.#spent += performance.now() - begin;
    }
  }

  #run(effects: string[]): void {
    this.#carryOut(effects).catch((error: Error) => {
      this.host.log.write(`toolwire: internal: found a defect in toolwire (${error.message})`);
      this.abort();
    });
  }

  /** Carries out the effects that write to the log or the report. */
  #note(effects: string[]): void {
    for (let at = 0; at < effects.length; at += 3) {
      const [kind, , text = ''] = effects.slice(at, at + 3);
      if (kind === 'log') this.host.log.write(text);
      if (kind === 'report') this.host.report.write(text);
    }
  }

  async #carryOut(effects: string[]): Promise<void> {
    for (let at = 0; at < effects.length && !this.#isOver; at += 3) {
      const [kind, about, text] = effects.slice(at, at + 3) as [string, string, string];
      const how = about === '' ? {} : JSON.parse(about);
      switch (kind) {
        case 'answer':
          this.#head(how);
          if (this.request.method !== 'HEAD') await this.#write(text);
          await ended(this.request, this.#response);
          break;
        case 'read':
          await this.#read(how);
          break;
        case 'forward':
          await this.#send(how, this.request);
          break;
        case 'send-body':
          await this.#send(how, this.#takeBody());
          break;
        case 'send':
          this.#takeBody();
          await this.#send(how, Buffer.from(text));
          break;
        case 'head':
          this.#head(how);
          // Unlike `flushHeaders`, this sends each character of a header as one byte.
          this.#response.write(Buffer.alloc(0));
          break;
        case 'through':
          await this.#through();
          break;
        case 'collect':
          await this.#collect(how);
          break;
        case 'feed':
          await this.#feed(how);
          break;
        case 'write':
          await this.#write(text);
          break;
        case 'end':
          await ended(this.request, this.#response);
          break;
        case 'abort':
          this.abort();
          break;
        default:
          this.#note([kind, about, text]);
      }
    }
  }

  #head({ status, headers }: { status: number; headers: Pairs }): void {
    // The upstream has already replied, so it will not read the rest of the request.
    if (isEarly(this.request) && this.#upstream !== undefined) this.request.unpipe(this.#upstream);
    this.#response.writeHead(status, headers.flat());
  }

  /** Counts received bytes of a body. */
  readonly #room = {
    take: (length: number) => {
      const effects = this.#ask((state) => state.received(this.number, length));
      if (effects.length > 0) throw new Stopped(effects);
    },
    free: () => {},
  };

  /** Returns the client's body, which is needed only once. */
  #takeBody(): Buffer {
    const body = this.#body;
    this.#body = Buffer.alloc(0);
    return body;
  }

  async #read({ most, encoding }: { most: number; encoding: string | null }): Promise<void> {
    try {
      const limits = { piece: this.host.settings.timeout, room: this.#room };
      this.#body = await wholeOf(this.request, most, encoding, limits);
    } catch (error) {
      if (this.#isOver) return;
      if (error instanceof Stopped) {
        await this.#carryOut(error.effects);
        return;
      }
      const { status, message } = error instanceof Unreadable ? error : new Unreadable(400, (error as Error).message);
      await this.#carryOut(this.#ask((state) => state.unread(this.number, status, message)));
      return;
    }
    await this.#carryOut(this.#ask((state) => state.body(this.number, this.#body)));
  }

  async #send(how: Sending, body: Buffer | Readable): Promise<void> {
    const upstream = this.#opened(how);
    try {
      write(body, upstream);
      this.#reply = await replyOf(upstream);
    } catch (error) {
      upstream.destroy();
      // The request is not sent again, because the model may already have run, and both runs would
      // be billed.
      if (!this.#isOver) await this.#failed(why(error));
      return;
    }
    const { statusCode = 502, rawHeaders } = this.#reply;
    const headers = JSON.stringify(pairs(rawHeaders));
    await this.#carryOut(this.#ask((state) => state.reply(this.number, statusCode, headers)));
  }

  #opened({ upstream, method, target, headers }: Sending): ClientRequest {
    const { encrypted, host, port } = this.host.settings.upstreams[upstream] as Upstream;
    const list = headers.flat();
    // A chunked request is forwarded chunked, regardless of its method. A POST, PUT or PATCH without a body has length 0.
    if (!headers.some(([name]) => name.toLowerCase() === 'content-length')) {
      if (this.request.headers['transfer-encoding'] !== undefined) list.push('Transfer-Encoding', 'chunked');
      else if (['POST', 'PUT', 'PATCH'].includes(method)) list.push('Content-Length', '0');
    }
    const timeout = this.host.settings.timeout * 1000;
    const options = { host, port, method, path: target, headers: list, timeout, maxHeaderSize: MAX_HEAD };
    const opened = encrypted
      ? secureRequest({ ...options, agent: this.host.agents.secure })
      : plainRequest({ ...options, agent: this.host.agents.plain });
    opened.on('timeout', () => {
      this.#isLate = true;
      opened.destroy(Object.assign(new Error('it was silent for too long'), { code: 'ETIMEDOUT' }));
    });
    opened.on('error', () => {});
    this.#upstream = opened;
    return opened;
  }

  async #failed(why: string): Promise<void> {
    const seconds = this.host.settings.timeout;
    const isOfClient = hasBody(this.request) && !this.request.complete;
    const silent = isOfClient
      ? 'the client did not send the rest of its request'
      : `nothing was received for ${seconds} seconds`;
    const reason = this.#isLate ? silent : why;
    await this.#carryOut(this.#ask((state) => state.failed(this.number, this.#isLate, reason)));
  }

  async #through(): Promise<void> {
    const reply = this.#reply as IncomingMessage;
    try {
      for await (const piece of reply) await this.#write(piece as Buffer);
      await ended(this.request, this.#response);
    } catch (error) {
      if (!this.#isOver) await this.#failed(why(error));
    }
  }

  async #collect({ most, encoding }: { most: number; encoding: string | null }): Promise<void> {
    let body: Buffer;
    try {
      body = await wholeOf(this.#reply as IncomingMessage, most, encoding, { room: this.#room });
    } catch (error) {
      if (this.#isOver) return;
      if (error instanceof Stopped) await this.#carryOut(error.effects);
      else await this.#failed(why(error));
      return;
    }
    await this.#carryOut(this.#ask((state) => state.whole(this.number, body)));
  }

  async #feed({ encoding }: { encoding: string | null }): Promise<void> {
    try {
      for await (const piece of unpacked(this.#reply as IncomingMessage, encoding)) {
        await this.#carryOut(this.#ask((state) => state.piece(this.number, piece as Buffer)));
      }
    } catch (error) {
      if (!this.#isOver) await this.#failed(why(error));
      return;
    }
    if (!this.#isOver) await this.#carryOut(this.#ask((state) => state.end(this.number)));
  }

  /** Writes to the client. While the client does not read, the upstream is not read either. */
  async #write(piece: string | Buffer): Promise<void> {
    // With a string, Node would send the headers in UTF-8, too.
    if (this.#isOver || this.#response.write(typeof piece === 'string' ? Buffer.from(piece) : piece)) return;
    const { timeout } = this.host.settings;
    const timer = setTimeout(() => this.abort(), timeout * 1000);
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.once('drain', done).once('close', done);
    });
    clearTimeout(timer);
  }
}

function isLocal(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address ?? '');
}

function replyOf(upstream: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    upstream
      .once('response', resolve)
      .once('error', reject)
      .once('close', () => reject(new Error('ECONNRESET')));
  });
}

/** Sends a request body to the upstream. A stream is forwarded as it arrives. */
function write(body: Buffer | Readable, upstream: ClientRequest): void {
  if (Buffer.isBuffer(body)) {
    upstream.end(body);
    return;
  }
  body.once('close', () => {
    // The client disconnected before the end of its request.
    if (!body.readableEnded) upstream.destroy();
  });
  body.pipe(upstream);
}

function why(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof Unreadable ? message : (code ?? message);
}
