/**
 * The WebAssembly inside the file, as base64: nothing to fetch, nothing to configure. For every engine that compiles
 * WebAssembly at run time.
 */

import base64 from 'wasm:base64';

let compiled: WebAssembly.Module | undefined;

/** The WebAssembly, compiled with the first call. */
export function compiledModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(bytes());
  return compiled;
}

function bytes(): Uint8Array<ArrayBuffer> {
  const { Buffer } = globalThis as { Buffer?: { from(text: string, encoding: 'base64'): Uint8Array<ArrayBuffer> } };
  if (Buffer !== undefined) return Buffer.from(base64, 'base64');
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
