/**
 * The WebAssembly as the file next to this one, which Node reads in one millisecond, or as text if there is no such file, as in a bundle.
 * Node takes 9 ms for the text: 4 to load it, 5 to inflate it.
 */

import { entry, stamp } from 'wasm:stamp';

import { type Host, stampOf } from './host.js';
import { compiled, taken } from './text.js';

let module: WebAssembly.Module | undefined;

/** Returns the WebAssembly, which the first call compiles. */
export function compiledModule(): WebAssembly.Module {
  module ??= besides() ?? inlined();
  return module;
}

function inlined(): WebAssembly.Module {
  require('wasm:inline');
  return compiled(taken());
}

function besides(): WebAssembly.Module | undefined {
  const { Deno, process } = globalThis as Host;
  // Deno would ask its user for permission to read the file.
  if (Deno !== undefined || typeof __dirname !== 'string') return undefined;
  try {
    const bytes = process?.getBuiltinModule?.('node:fs').readFileSync(`${__dirname}/${entry}.wasm`);
    const read = bytes === undefined ? undefined : new WebAssembly.Module(bytes);
    // The file next to a bundle may be of another release.
    return read !== undefined && stampOf(read) === stamp ? read : undefined;
  } catch {
    return undefined;
  }
}
