import { setModule } from './engine/source/given.js';
import type { WasmSource } from './wasm-source.js';

/**
 * Sets the WebAssembly that toolwire uses. Call it once, before any other function; the first call to another function instantiates it.
 *
 * It is synchronous: bytes are compiled immediately. If that is not allowed, or would block a page, pass a module that was compiled
 * elsewhere.
 *
 * @param source - `toolwire/toolwire.wasm` of the same release.
 *
 * @example
 * ```ts
 * import { init, sanitize } from 'toolwire/slim';
 *
 * // A page that serves the file itself:
 * init(await WebAssembly.compileStreaming(fetch('/assets/toolwire.wasm')));
 *
 * // Node:
 * init(readFileSync(createRequire(import.meta.url).resolve('toolwire/toolwire.wasm')));
 * ```
 *
 * @throws {@link ToolwireError} `no-webassembly` if the page's policy forbids WebAssembly (`script-src 'wasm-unsafe-eval'` allows it).
 * @throws `TypeError` if the source is something else, or the file of another release or entry point; `WebAssembly.CompileError` if the
 * bytes are not WebAssembly.
 */
export function init(source: WasmSource): void {
  setModule(source);
}
