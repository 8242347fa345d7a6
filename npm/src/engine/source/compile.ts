/** Compiles WebAssembly, and reports the reason if the host does not allow it. */

import { ToolwireError } from '../../error.js';

/** An empty module: a host that refuses it refuses every module. */
const EMPTY = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/**
 * Compiles a module.
 *
 * @throws {@link ToolwireError} `no-webassembly` if the host compiles no WebAssembly at all; otherwise the engine's own error.
 */
export function compile(bytes: BufferSource): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (compilesEmpty()) throw error;
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new ToolwireError(
      'no-webassembly',
      '',
      "expected that WebAssembly may be compiled here, found that it may not: a page needs `script-src 'wasm-unsafe-eval'` " +
        `in its Content-Security-Policy, some other hosts compile none at all (${reason})`,
      undefined,
      { cause: error },
    );
  }
}

/** Tries an empty module, because engines word a refusal differently. */
function compilesEmpty(): boolean {
  try {
    new WebAssembly.Module(EMPTY);
    return true;
  } catch {
    return false;
  }
}
