// Modules that scripts/bundle.js provides to the program: the glue code of wasm-bindgen, and the WebAssembly itself.

declare module 'wasm:glue' {
  /** A running command, see command/src/lib.rs. */
  class CommandLine {
    constructor(facts: string);
    need(): string[] | undefined;
    give(bytes: Uint8Array): void;
    static heard(log: string): string;
    fail(message: string): void;
    step(): string | undefined;
    waiting(seconds: number): string;
    /**
     * Returns standard output, standard error and the exit code, then four strings for each file to write: its path,
     * its content, the suffix of the path in which no link is followed, and the file whose permissions it gets.
     */
    finish(): string[];
  }

  /**
   * A connection of `toolwire proxy`, see command/src/proxy/mod.rs. Methods that return `string[]` return the actions
   * to perform, as a flat list: for each action its kind, a number or an empty string, and text.
   */
  class ProxyConnection {
    constructor(settings: string);
    client(message: Uint8Array): string[];
    server(server: number, message: Uint8Array): string[];
    ended(server: number, why: string): string[];
    started(server: number): string[];
    alarm(alarm: number): string[];
    undelivered(server: number, message: Uint8Array, why: string): string[];
    unanswered(): number;
    tooLong(bytes: number): string[];
  }

  /**
   * The sessions of `toolwire proxy --listen`, see command/src/proxy/listener. Methods that return `string[]` return
   * the actions to perform, as a flat list: for each action its kind, JSON or an empty string, and text.
   */
  class ProxyListener {
    constructor(settings: string, token: string | undefined);
    request(number: number, head: string): string[];
    body(number: number, body: Uint8Array): string[];
    unread(number: number, status: number, why: string): string[];
    closed(number: number): string[];
    message(session: number, message: Uint8Array): string[];
    ended(session: number, why: string): string[];
    alarm(session: number): string[];
    started(address: string): string;
  }

  /**
   * The state of `toolwire relay`, see command/src/relay/mod.rs. Methods that return `string[]` return the actions to
   * perform, as a flat list: for each action its kind, JSON or an empty string, and text.
   */
  class RelayState {
    constructor(settings: string, token: string | undefined);
    request(number: number, head: string): string[];
    received(number: number, length: number): string[];
    body(number: number, body: Uint8Array): string[];
    unread(number: number, status: number, why: string): string[];
    reply(number: number, status: number, headers: string): string[];
    whole(number: number, body: Uint8Array): string[];
    piece(number: number, piece: Uint8Array): string[];
    end(number: number): string[];
    failed(number: number, isLate: boolean, why: string): string[];
    closed(number: number, spent: number): string[];
    started(address: string): string;
  }

  /** The exports of bindings-wasm that the program uses. */
  interface Glue {
    initSync(options: { module: WebAssembly.Module }): unknown;
    CommandLine: typeof CommandLine;
    ProxyConnection: typeof ProxyConnection;
    ProxyListener: typeof ProxyListener;
    RelayState: typeof RelayState;
  }

  export function newGlue(): Glue;
}

declare module 'wasm:source' {
  export function compiledModule(): WebAssembly.Module;
}

declare module 'wasm:stamp' {
  export const entry: string;
  export const stamp: string;
}
