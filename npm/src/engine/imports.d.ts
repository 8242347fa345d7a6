// What scripts/bundle.js provides: the glue that wasm-bindgen wrote, and the WebAssembly itself.

declare module 'wasm:glue' {
  /** A report or an error as JSON text, or nothing. */
  type Said = string | undefined;

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
    ): Said;
    callText(
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
      broken: boolean,
    ): Said;
    keepsRestore(restore: number): boolean;
    callRestore(
      restore: number,
      functionNumber: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
    ): Said;
    callRestoreText(
      restore: number,
      withReport: boolean,
      inputs: number,
      words: number,
      chars: number,
      spelled: boolean,
      broken: boolean,
    ): Said;
    openStream(words: number, chars: number, spelled: boolean): Said;
    feedStream(stream: number, words: number, chars: number, spelled: boolean): Said;
    feedStreamText(stream: number, words: number, chars: number, spelled: boolean, broken: boolean): Said;
    finishStream(stream: number, asText: boolean, words: number, chars: number, spelled: boolean): Said;
    closeStream(stream: number): void;
    // What is kept in the instance.
    keep(words: number, chars: number, spelled: boolean): Said;
    keepText(words: number, chars: number, spelled: boolean, broken: boolean): Said;
    keptTools(): number;
    searchKept(words: number, chars: number, spelled: boolean): Said;
    answerKept(words: number, chars: number, spelled: boolean): Said;
    keepSet(words: number, chars: number, spelled: boolean): Said;
    keepSetText(words: number, chars: number, spelled: boolean, broken: boolean): Said;
    toolsInSet(): number;
    readySet(words: number, chars: number, spelled: boolean): Said;
    setChanges(words: number, chars: number, spelled: boolean): Said;
    openExchange(words: number, chars: number, spelled: boolean, broken: boolean): Said;
    replyExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Said;
    feedExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Said;
    finishExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Said;
    failExchange(exchange: number, words: number, chars: number, spelled: boolean, broken: boolean): Said;
    refuseExchange(words: number, chars: number, spelled: boolean, broken: boolean): Said;
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
