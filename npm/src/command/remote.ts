/** A server at an address, through the official SDK's transports: streamable HTTP, and SSE if that is all that it has. */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type Address, loaded, transports } from './server.js';

/** A connection to a server at an address. */
export class Remote {
  readonly #transports: Iterator<Transport>;
  #transport: Transport | undefined;
  /** Messages are sent one after the other until one has arrived: before that, nobody knows which transport the server has. */
  #sending: Promise<void> = Promise.resolve();
  #hasArrived = false;
  #isOver = false;

  private constructor(
    ways: Iterator<Transport>,
    readonly message: (message: Uint8Array) => void,
    readonly ended: (why: string) => void,
  ) {
    this.#transports = ways;
  }

  /**
   * @param message - Takes each message of the server.
   * @param ended - Is told once why the connection has ended, if it was not closed here.
   */
  static async open(
    server: Address,
    message: (message: Uint8Array) => void,
    ended: (why: string) => void,
  ): Promise<Remote> {
    const remote = new Remote(transports(await loaded('--url URL'), server, { log: '' }), message, ended);
    await remote.#next();
    return remote;
  }

  send(message: string | Uint8Array): void {
    const read: JSONRPCMessage = JSON.parse(typeof message === 'string' ? message : Buffer.from(message).toString());
    if (this.#hasArrived) {
      this.#post(read).catch((error) => this.#end(error));
      return;
    }
    this.#sending = this.#sending.then(() => this.#first(read)).catch((error) => this.#end(error));
  }

  /** Sends a message by the first transport that the server has. */
  async #first(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#post(message);
    } catch (error) {
      const { code } = error as { code?: unknown };
      const isOtherTransport = typeof code === 'number' && code >= 400 && code < 500 && code !== 401 && code !== 403;
      if (this.#hasArrived || !isOtherTransport || !(await this.#next())) throw error;
      await this.#post(message);
    }
    this.#hasArrived = true;
  }

  async #post(message: JSONRPCMessage): Promise<void> {
    if (!this.#isOver) await this.#transport?.send(message);
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
      // A header of every later request.
      if (typeof version === 'string') transport.setProtocolVersion?.(version);
      this.message(Buffer.from(JSON.stringify(message)));
    };
    transport.onclose = () => {
      if (this.#transport === transport) this.#end(new Error('the connection was closed'));
    };
    await transport.start();
    return true;
  }

  #end(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#transport?.close();
    this.ended(error.message);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#transport?.close();
  }
}
