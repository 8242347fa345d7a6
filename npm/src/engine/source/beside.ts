/** The WebAssembly as a file next to the program, for Node only. It is compressed, because it is a third of the package. */

import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

import { entry } from 'wasm:stamp';

/** Reads and compiles the WebAssembly. */
export function compiledModule(): WebAssembly.Module {
  const compressed = readFileSync(new URL(`./${entry}.wasm.br`, import.meta.url));
  return new WebAssembly.Module(brotliDecompressSync(compressed, { chunkSize: 1 << 20 }));
}
