/**
 * The WebAssembly as the file beside this one, which Node reads in a millisecond, or as text where there is no such file: in a bundle. The
 * text takes Node 9 ms: 4 to load, 5 to inflate.
 */

import { entry, stamp } from 'wasm:stamp';

import { type Host, stampOf } from './host.js';
import { compiled, taken } from './text.js';

let module: WebAssembly.Module | undefined;

/** The WebAssembly, compiled with the first call. */
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
  // Deno would ask its user whether we may read.
  if (Deno !== undefined || typeof __dirname !== 'string') return undefined;
  try {
    const bytes = process?.getBuiltinModule?.('node:fs').readFileSync(`${__dirname}/${entry}.wasm`);
    const read = bytes === undefined ? undefined : new WebAssembly.Module(bytes);
    // Beside a bundle may lie the file of another release.
    return read !== undefined && stampOf(read) === stamp ? read : undefined;
  } catch {
    return undefined;
  }
}
