// The virtual modules that scripts/bundle.js provides: the glue code of wasm-bindgen, and the WebAssembly itself.

declare module 'wasm:glue' {
  /** A report as JSON text, or nothing. If the call failed, an error as an object, or the message of an internal error. */
  export type GlueResult = string | object | undefined;

  /** The exports of bindings-wasm, as wasm-bindgen wraps them. */
  export interface Glue {
    initSync(options: { module: WebAssembly.Module }): { readonly memory: WebAssembly.Memory };
    sharedBuffer(): number;
    makeRoom(words: number, chars: number): void;
    functions(): string;
    call(
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      escaped: boolean,
    ): GlueResult;
    callText(
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      escaped: boolean,
      truncated: boolean,
    ): GlueResult;
    hasRestore(restore: number): boolean;
    callRestore(
      restore: number,
      functionNumber: number,
      inputs: number,
      words: number,
      chars: number,
      escaped: boolean,
    ): GlueResult;
    callRestoreText(
      restore: number,
      inputs: number,
      words: number,
      chars: number,
      escaped: boolean,
      truncated: boolean,
    ): GlueResult;
    openStream(words: number, chars: number, escaped: boolean): GlueResult;
    feedStream(stream: number, words: number, chars: number, escaped: boolean): GlueResult;
    feedStreamText(stream: number, words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    finishStream(stream: number, asText: boolean, words: number, chars: number, escaped: boolean): GlueResult;
    closeStream(stream: number): void;
    // Functions for state that is kept in the instance.
    storeIndex(words: number, chars: number, escaped: boolean): GlueResult;
    storeIndexText(words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    toolsInIndex(): number;
    searchIndex(words: number, chars: number, escaped: boolean): GlueResult;
    answerFromIndex(words: number, chars: number, escaped: boolean): GlueResult;
    storeSet(words: number, chars: number, escaped: boolean): GlueResult;
    storeSetText(words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    toolsInSet(): number;
    readySet(words: number, chars: number, escaped: boolean): GlueResult;
    openExchange(words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    reportOfExchange(exchange: number): string | undefined;
    replyExchange(exchange: number, words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    feedExchange(exchange: number, words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    finishExchange(exchange: number, words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    failExchange(exchange: number, words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    feedBytesExchange(exchange: number, words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    finishBytesExchange(
      exchange: number,
      words: number,
      chars: number,
      escaped: boolean,
      truncated: boolean,
    ): GlueResult;
    failBytesExchange(exchange: number, words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    refuseExchange(words: number, chars: number, escaped: boolean, truncated: boolean): GlueResult;
    closeExchange(exchange: number): void;
  }

  /** Returns new glue, not yet instantiated. (wasm-bindgen keeps its instance in module scope; this makes it one per call.) */
  export function newGlue(): Glue;
}

/** The WebAssembly, ready to be instantiated: one of the files in source/, depending on the entry point. */
declare module 'wasm:source' {
  export function compiledModule(): WebAssembly.Module;
}

/** A script that stores the WebAssembly on the global object, with its stamp as the key. */
declare module 'wasm:inline';

// Defined in CommonJS; some bundlers do not define `__dirname`.
declare function require(script: 'wasm:inline'): void;
declare const __dirname: string | undefined;

/** The `.wasm` file next to the entry point, imported as a module. */
declare module 'wasm:module' {
  const module: WebAssembly.Module;
  export default module;
}

declare module 'wasm:stamp' {
  /** The name of the `.wasm` file without `.wasm`. */
  export const entry: string;
  /** Identifies the WebAssembly of this entry point: the text of its custom section `toolwire`. */
  export const stamp: string;
}
