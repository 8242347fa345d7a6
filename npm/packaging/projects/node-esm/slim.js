import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { init, sanitize } from 'toolwire/slim';

init(readFileSync(createRequire(import.meta.url).resolve('toolwire/toolwire.wasm')));
console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema));
