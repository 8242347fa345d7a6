/** The core's command line, in an instance of its own. */

import { newGlue } from 'wasm:glue';
import { compiledModule } from 'wasm:source';

const glue = newGlue();
glue.initSync({ module: compiledModule() });

/**
 * A command line that is being carried out: says what it needs, is given that, does its steps, and gives what to print. And a connection
 * of `toolwire proxy`, its sessions over HTTP, and the state of `toolwire relay`: they take messages, and say what there is to do.
 */
export const { CommandLine, ProxyConnection, ProxyListener, RelayState } = glue;
