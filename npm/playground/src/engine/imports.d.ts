/** The glue of the command line's WebAssembly, a file of the package that no entry exports. */
declare module 'toolwire/command-glue' {
  export interface CommandLine {
    need(): string[] | undefined;
    give(bytes: Uint8Array): void;
    fail(message: string): void;
    step(): string | undefined;
    finish(): string[];
  }
  export function newGlue(): {
    initSync(given: { module: WebAssembly.Module }): void;
    CommandLine: {
      new (facts: string): CommandLine;
      reading(bytes: Uint8Array): string;
      outcome(change: string): string | undefined;
    };
  };
}

/** The WebAssembly of the library and of the command line: deflated, as base64, because the page's policy allows no `fetch`. */
declare module 'page:library' {
  export const deflated: string;
}
declare module 'page:command' {
  export const deflated: string;
}
