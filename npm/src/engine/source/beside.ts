/** The WebAssembly as a file beside the program, which only Node runs. */

import { readFileSync } from 'node:fs';

import { entry } from 'wasm:stamp';

/** The WebAssembly, read and compiled. */
export function compiledModule(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(new URL(`./${entry}.wasm`, import.meta.url)));
}
