// What scripts/bundle.js provides: the glue that wasm-bindgen wrote, and the WebAssembly itself.

declare module 'wasm:glue' {
  /** A report as JSON text, or nothing; where the call failed, an error as an object, or in words what is our fault. */
  export type Returned = string | object | undefined;

  /** The exports of bindings-wasm, as wasm-bindgen wraps them. */
  export interface Glue {
    initSync(options: { module: WebAssembly.Module }): { readonly memory: WebAssembly.Memory };
    desk(): number;
    makeRoom(words: number, chars: number): void;
    functions(): string;
    call(
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
    ): Returned;
    callText(
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
      broken: boolean,
    ): Returned;
    keepsRestore(restore: number): boolean;
    callRestore(
      restore: number,
      functionNumber: number,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
    ): Returned;
    callRestoreText(
      restore: number,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
      broken: boolean,
    ): Returned;
    openStream(words: number, chars: number, spelled: boolean): Returned;
    feedStream(stream: number, words: number, chars: number, spelled: boolean): Returned;
    feedStreamText(stream: number, words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    finishStream(stream: number, asText: boolean, words: number, chars: number, spelled: boolean): Returned;
    closeStream(stream: number): void;
    // What is kept in the instance.
    keep(words: number, chars: number, spelled: boolean): Returned;
    keepText(words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    keptTools(): number;
    searchKept(words: number, chars: number, spelled: boolean): Returned;
    answerKept(words: number, chars: number, spelled: boolean): Returned;
    keepSet(words: number, chars: number, spelled: boolean): Returned;
    keepSetText(words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    toolsInSet(): number;
    readySet(words: number, chars: number, spelled: boolean): Returned;
    openExchange(words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    reportOfExchange(exchange: number): string | undefined;
    replyExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    feedExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    finishExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    failExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    refuseExchange(words: number, chars: number, spelled: boolean, broken: boolean): Returned;
    closeExchange(exchange: number): void;
  }

  /** New glue, with nothing instantiated yet. (wasm-bindgen keeps its instance in module scope; this gives each its own.) */
  export function newGlue(): Glue;
}

/** The WebAssembly, ready to be instantiated: by one of the files in source/, according to the entry. */
declare module 'wasm:source' {
  export function compiledModule(): WebAssembly.Module;
}

/** A script that puts the WebAssembly on the global object, under its stamp. */
declare module 'wasm:inline';

// What CommonJS has; bundlers may leave out the second.
declare function require(script: 'wasm:inline'): void;
declare const __dirname: string | undefined;

/** The `.wasm` file beside the entry, imported as it is. */
declare module 'wasm:module' {
  const module: WebAssembly.Module;
  export default module;
}

declare module 'wasm:stamp' {
  /** What the `.wasm` file is called, less `.wasm`. */
  export const entry: string;
  /** Which WebAssembly fits this entry: the text of its section `toolwire`. */
  export const stamp: string;
}
