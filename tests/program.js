// The native program.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
const NAME = process.platform === 'win32' ? 'toolwire.exe' : 'toolwire';

/** For tests: `scripts/build.sh` builds it, without optimization. */
export const PROGRAM = join(TARGET, 'debug', NAME);
