/**
 * The whole API of `toolwire` without the embedded WebAssembly, which {@link init} has to be given first. For pages that load it as a
 * separate file, and for engines that only run WebAssembly that was compiled beforehand.
 *
 * @packageDocumentation
 */

export * from './index.js';
export { init } from './init.js';
export type { WasmModule, WasmSource } from './wasm-source.js';
