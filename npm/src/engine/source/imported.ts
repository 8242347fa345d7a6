/**
 * The WebAssembly as a separate module next to this file, compiled at deployment, because Workers do not compile
 * WebAssembly at run time.
 */

import module from 'wasm:module';

/** Returns the WebAssembly, which was compiled before this file ran. */
export function compiledModule(): WebAssembly.Module {
  return module;
}
