import { give } from './engine/source/given.js';

/**
 * A compiled `WebAssembly.Module`. Not written by that name, which TypeScript does not know without the types of a browser;
 * and of which it knows so little that it would take a promise for one.
 */
export type WasmModule = object & { then?: never };

/** What {@link init} takes: the bytes of the `.wasm` file, or the module that was compiled from them. */
export type WasmSource = WasmModule | ArrayBuffer | ArrayBufferView;

/**
 * Gives toolwire its WebAssembly. Once, before any other call; the first of those starts it.
 *
 * Synchronous: bytes are compiled here and now. Where that is not allowed, or would hold up a page, give a module that was
 * compiled elsewhere.
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
 * @throws `TypeError` if it is something else, or the file of another release or entry; `WebAssembly.CompileError` if the
 * bytes are no WebAssembly.
 */
export function init(source: WasmSource): void {
  give(source);
}
