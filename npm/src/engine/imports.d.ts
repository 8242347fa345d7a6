// What scripts/bundle.js provides: the glue that wasm-bindgen wrote, and the WebAssembly itself.

declare module 'wasm:glue' {
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
    ): unknown;
    callText(
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
      broken: boolean,
    ): unknown;
    keepsRestore(restore: number): boolean;
    callRestore(
      restore: number,
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
    ): unknown;
    callRestoreText(
      restore: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
      broken: boolean,
    ): unknown;
    openStream(words: number, chars: number, spelled: boolean): unknown;
    feedStream(stream: number, words: number, chars: number, spelled: boolean): unknown;
    feedStreamText(stream: number, words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    finishStream(stream: number, asText: boolean, words: number, chars: number, spelled: boolean): unknown;
    closeStream(stream: number): void;
    // What is kept in the instance.
    keep(words: number, chars: number, spelled: boolean): unknown;
    keepText(words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    keptTools(): number;
    searchKept(words: number, chars: number, spelled: boolean): unknown;
    answerKept(words: number, chars: number, spelled: boolean): unknown;
    keepSet(words: number, chars: number, spelled: boolean): unknown;
    keepSetText(words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    toolsInSet(): number;
    readySet(words: number, chars: number, spelled: boolean): unknown;
    openExchange(words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    replyExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    feedExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    finishExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    failExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    refuseExchange(words: number, chars: number, spelled: boolean, broken: boolean): unknown;
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
