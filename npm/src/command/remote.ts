/** A remote MCP server, through the official SDK: streamable HTTP, or SSE if the server has nothing else. */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { limited } from './limited.js';
import { type Address, Heard, loaded, transports } from './server.js';

/** Maximum size of a message in bytes, after decompression. */
const MAX_MESSAGE = 64 << 20;

/** Receives the events of a connection. */
interface Listener {
  message(message: Uint8Array): void;
  undelivered(message: Uint8Array, why: string): void;
  ended(why: string): void;
}

/** A connection to a remote server. */
export class Remote {
  readonly #transports: Iterator<Transport>;
  #transport: Transport | undefined;
  /** Until a first message is delivered, the transport is unknown, so messages are sent one at a time. */
  #sending: Promise<void> = Promise.resolve();
  #hasArrived = false;
  #isOver = false;
  /**
   * Original bytes of each message, keyed by the SDK's serialization. `fetch` sends the original bytes, because the SDK
   * rounds large numbers.
   */
  readonly #bytes = new Map<string, Uint8Array>();

  private constructor(
    sdk: Awaited<ReturnType<typeof loaded>>,
    server: Address,
    readonly listener: Listener,
  ) {
    const fetchExact: typeof fetch = (url, init) => {
      const body = typeof init?.body === 'string' ? (this.#bytes.get(init.body) ?? init.body) : init?.body;
      return fetch(url, body === undefined ? init : ({ ...init, body } as RequestInit));
    };
    const fetchLimited = limited(fetchExact, MAX_MESSAGE, 'message', (error) => this.#finish(error));
    this.#transports = transports(sdk, server, new Heard(server), fetchLimited);
  }

  static async open(server: Address, listener: Listener): Promise<Remote> {
    const remote = new Remote(await loaded('--url URL'), server, listener);
    await remote.#next();
    return remote;
  }

  write(message: string | Uint8Array): void {
    const bytes = Buffer.from(message);
    const sent = this.#hasArrived ? this.#post(bytes) : this.#sending.then(() => this.#first(bytes));
    const done = sent.catch((error) => this.#failed(bytes, error));
    if (!this.#hasArrived) this.#sending = done;
  }

  /** Sends a message over the first transport that the server supports. */
  async #first(bytes: Buffer): Promise<void> {
    try {
      await this.#post(bytes);
    } catch (error) {
      const status = statusOf(error);
      const isOtherTransport = status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
      if (this.#hasArrived || !isOtherTransport || !(await this.#next())) throw error;
      await this.#post(bytes);
    }
    this.#hasArrived = true;
  }

  async #post(bytes: Buffer): Promise<void> {
    if (this.#isOver) return;
    const message: JSONRPCMessage = JSON.parse(bytes.toString());
    const text = JSON.stringify(message);
    this.#bytes.set(text, bytes);
    try {
      await this.#transport?.send(message);
    } finally {
      this.#bytes.delete(text);
    }
  }

  /** Handles an undelivered message. Ends the connection only if the server no longer knows the session (404). */
  #failed(bytes: Buffer, error: Error): void {
    if (statusOf(error) === 404 && this.#hasArrived) this.#finish(error);
    else if (!this.#isOver) this.listener.undelivered(bytes, reason(error));
  }

  async #next(): Promise<boolean> {
    const { value, done } = this.#transports.next();
    if (done) return false;
    const transport: Transport = value;
    const former = this.#transport;
    this.#transport = transport;
    await former?.close();
    transport.onmessage = (message) => {
      const version = (message as { result?: { protocolVersion?: unknown } }).result?.protocolVersion;
      // The SDK sends the version as a header of every later request.
      if (typeof version === 'string') transport.setProtocolVersion?.(version);
      this.listener.message(Buffer.from(JSON.stringify(message)));
    };
    transport.onclose = () => {
      if (this.#transport === transport) this.#finish(new Error('the connection was closed'));
    };
    await transport.start();
    return true;
  }

  #finish(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#transport?.close();
    this.listener.ended(reason(error));
  }

  stop(): void {
    this.#finish(new Error('it was ended'));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    // Servers keep a session until it is terminated explicitly.
    const { terminateSession } = this.#transport as { terminateSession?(): Promise<void> };
    await terminateSession?.call(this.#transport).catch(() => {});
    await this.#transport?.close();
  }
}

/** Returns the HTTP status of an SDK error, or 0. */
function statusOf(error: unknown): number {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? code : 0;
}

function reason(error: Error): string {
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return error.message === 'fetch failed' && typeof code === 'string' ? code : error.message;
}
