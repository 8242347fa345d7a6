/**
 * Everything that `toolwire/search` has, without the WebAssembly: {@link init} is given that first.
 *
 * @packageDocumentation
 */

export { init, type WasmModule, type WasmSource } from './init.js';
export * from './search.js';
