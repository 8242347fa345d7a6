/** wasm-bindgen's module for the command line's WebAssembly, which only the playground uses. */
declare module 'toolwire/command' {
  export class CommandLine {
    constructor(facts: string);
    need(): string[] | undefined;
    give(bytes: Uint8Array): void;
    fail(message: string): void;
    step(): string | undefined;
    finish(): string[];
    static reading(bytes: Uint8Array): string;
    static outcome(change: string): string | undefined;
  }
  export function initSync(given: { module: WebAssembly.Module }): void;
}

/** The WebAssembly of the library and of the command line: deflated, as base64, because the page's policy allows no `fetch`. */
declare module 'page:library' {
  export const deflated: string;
}
declare module 'page:command' {
  export const deflated: string;
}
