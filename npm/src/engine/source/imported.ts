/**
 * The WebAssembly as a module of its own beside the file, which whoever deploys it has compiled: Workers refuse to compile
 * WebAssembly at run time.
 */

import module from 'wasm:module';

/** The WebAssembly, compiled before this file ran. */
export function compiledModule(): WebAssembly.Module {
  return module;
}
