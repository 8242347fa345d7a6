/** The WebAssembly from the text that the script `inline/….js` stores on the global object. */

import { entry, stamp } from 'wasm:stamp';
import { inflateSync } from 'fflate';

import { compile } from './compile.js';
import type { Host } from './host.js';

/** The object that the script stores. Several copies of toolwire in one program share it. */
export interface Inlined {
  /** Number of bytes. */
  readonly size: number;
  /** The bytes, deflated, as base64. */
  deflated?: string;
  /** The compiled module, once it exists. */
  module?: WebAssembly.Module;
}

/** Returns the object that the script stored. Call it right after the script ran, because test runners may replace the global object. */
export function storedText(): Inlined {
  const inlined = (globalThis as unknown as Record<symbol, Inlined | undefined>)[Symbol.for(stamp)];
  if (inlined !== undefined) return inlined;
  throw new Error(
    `expected that \`toolwire/dist/inline/${entry}.js\` has run, found that it has not: did a bundler leave it out?`,
  );
}

/** Compiles the WebAssembly once. */
export function compileOnce(inlined: Inlined): WebAssembly.Module {
  inlined.module ??= compile(inflate(decodeBase64(inlined.deflated as string), inlined.size));
  delete inlined.deflated;
  return inlined.module;
}

function inflate(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  // In Node 20.16 and later, zlib needs 5 ms and `fflate` 40. The chunk has one extra byte, because zlib allocates another if it is full.
  const zlib = (globalThis as Host).process?.getBuiltinModule?.('node:zlib');
  return zlib?.inflateRawSync?.(bytes, { chunkSize: size + 1 }) ?? inflateSync(bytes, { out: new Uint8Array(size) });
}

function decodeBase64(base64: string): Uint8Array {
  const { Buffer } = globalThis as Host;
  if (Buffer !== undefined) return Buffer.from(base64, 'base64');
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array };
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, base64);
  // For 1.2 MB, a loop needs 8 ms, and `Uint8Array.from` with a function 120 ms (Node 20, without its Buffer).
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
