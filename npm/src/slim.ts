/**
 * Everything that `toolwire` has, without the WebAssembly: {@link init} is given that first. For pages that load it as a
 * file of its own, and for engines that only run WebAssembly which was compiled beforehand.
 *
 * @packageDocumentation
 */

export * from './index.js';
export { init, type WasmModule, type WasmSource } from './init.js';
