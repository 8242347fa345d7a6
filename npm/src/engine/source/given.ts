/**
 * The WebAssembly that the caller gives. It has to be the one that was built with this file: a cache may hold that of
 * another release, and two releases meet in memory, where nothing else would notice.
 */

import { entry, stamp } from 'wasm:stamp';

import type { WasmSource } from '../../init.js';
import { described } from '../../values/foreign.js';
import { compile } from './compile.js';
import { stampOf } from './host.js';

let given: WebAssembly.Module | undefined;

/** Compiles what is given, if need be, and keeps it for the first call. */
export function give(source: WasmSource): void {
  const module = isModule(source) ? source : compile(asBytes(source));
  const found = stampOf(module);
  if (found !== stamp) {
    const what = found === undefined ? 'none of toolwire' : `\`${found}\``;
    throw new TypeError(
      `expected \`toolwire/${entry}.wasm\` of this very release (\`${stamp}\`), found ${what}: is an old file cached?`,
    );
  }
  given = module;
}

/** The WebAssembly that was given. */
export function compiledModule(): WebAssembly.Module {
  if (given !== undefined) return given;
  throw new Error(
    `expected a call of \`init\` with the bytes or the module of \`toolwire/${entry}.wasm\` before any other call, found none`,
  );
}

/** By what it is, not by whose `WebAssembly` it is: test runners have several. */
function isModule(source: unknown): source is WebAssembly.Module {
  return Object.prototype.toString.call(source) === '[object WebAssembly.Module]';
}

function asBytes(source: unknown): BufferSource {
  if (ArrayBuffer.isView(source) || Object.prototype.toString.call(source) === '[object ArrayBuffer]') {
    return source as BufferSource;
  }
  throw new TypeError(
    `\`init\`: expected a \`WebAssembly.Module\`, an \`ArrayBuffer\` or a view of one, found ${described(source)}`,
  );
}
