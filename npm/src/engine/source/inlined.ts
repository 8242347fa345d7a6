/**
 * The WebAssembly as text in a script next to this file, with nothing to fetch or configure, for every engine that compiles
 * WebAssembly at run time.
 */

import 'wasm:inline';

import { compileOnce, storedText } from './text.js';

const text = storedText();

/** Returns the WebAssembly, which the first call compiles. */
export function compiledModule(): WebAssembly.Module {
  return compileOnce(text);
}
