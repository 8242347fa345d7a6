// What scripts/build.js provides: the glue that wasm-bindgen wrote, and the WebAssembly itself.

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
    // In the entry `toolwire/search` only: what is kept in the instance.
    keep(words: number, chars: number, spelled: boolean): unknown;
    keepText(words: number, chars: number, spelled: boolean, broken: boolean): unknown;
    keptTools(): number;
    searchKept(words: number, chars: number, spelled: boolean): unknown;
    answerKept(words: number, chars: number, spelled: boolean): unknown;
  }

  /** New glue, with nothing instantiated yet. (wasm-bindgen keeps its instance in module scope; this gives each its own.) */
  export function newGlue(): Glue;
}

declare module 'wasm:base64' {
  const text: string;
  export default text;
}
