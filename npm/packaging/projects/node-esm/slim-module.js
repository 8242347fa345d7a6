import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { init, searchTools } from 'toolwire/slim';

init(await WebAssembly.compile(readFileSync(createRequire(import.meta.url).resolve('toolwire/toolwire.wasm'))));
console.log(JSON.stringify(searchTools([{ name: 'send_mail' }], 'mail')));
