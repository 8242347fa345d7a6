/** The core's command line, in a separate WebAssembly instance. */

import { newGlue } from 'wasm:glue';
import { compiledModule } from 'wasm:source';

const glue = newGlue();
glue.initSync({ module: compiledModule() });

/**
 * `CommandLine` is a running command: it reports what it needs, receives it, advances step by step, and returns its
 * output. `ProxyConnection` is a connection of `toolwire proxy`, `ProxyListener` its sessions over HTTP, and
 * `RelayState` the state of `toolwire relay`: they receive messages, and return the actions to perform.
 */
export const { CommandLine, ProxyConnection, ProxyListener, RelayState } = glue;
