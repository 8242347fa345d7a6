/**
 * The WebAssembly as text in a script beside the file: nothing to fetch, nothing to configure. For every engine that compiles
 * WebAssembly at run time.
 */

import 'wasm:inline';

import { compiled, taken } from './text.js';

const text = taken();

/** The WebAssembly, compiled with the first call. */
export function compiledModule(): WebAssembly.Module {
  return compiled(text);
}
