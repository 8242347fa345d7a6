/**
 * The WebAssembly that the caller passes to `init`. It must be the one that was built with this file: a cache may hold the WebAssembly
 * of another release, whose memory layout differs, and no other check would detect that.
 */

import { entry, stamp } from 'wasm:stamp';

import { describe } from '../../values/foreign.js';
import type { WasmSource } from '../../wasm-source.js';
import { compile } from './compile.js';
import { stampOf } from './host.js';

let passedModule: WebAssembly.Module | undefined;

/** Compiles the source, if it is bytes, and keeps the module for the first call. */
export function setModule(source: WasmSource): void {
  const module = isModule(source) ? source : compile(asBytes(source));
  const foundStamp = stampOf(module);
  if (foundStamp !== stamp) {
    const what = foundStamp === undefined ? 'another WebAssembly' : `\`${foundStamp}\``;
    throw new TypeError(
      `expected \`toolwire/${entry}.wasm\` of this very release (\`${stamp}\`), found ${what}: is an old file cached?`,
    );
  }
  passedModule = module;
}

/** Returns the module that was passed to `init`. */
export function compiledModule(): WebAssembly.Module {
  if (passedModule !== undefined) return passedModule;
  throw new Error(
    `expected a call to \`init\` with the bytes or the module of \`toolwire/${entry}.wasm\` before any other call, found none`,
  );
}

/** Checks the tag and not `instanceof`, because test runners have several `WebAssembly` objects. */
function isModule(source: unknown): source is WebAssembly.Module {
  return Object.prototype.toString.call(source) === '[object WebAssembly.Module]';
}

function asBytes(source: unknown): BufferSource {
  if (ArrayBuffer.isView(source) || Object.prototype.toString.call(source) === '[object ArrayBuffer]') {
    return source as BufferSource;
  }
  throw new TypeError(
    `\`init\`: expected a \`WebAssembly.Module\`, an \`ArrayBuffer\` or a view of one, found ${describe(source)}`,
  );
}
