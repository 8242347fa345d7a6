import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { init, searchTools } from 'toolwire/search/slim';

init(await WebAssembly.compile(readFileSync(createRequire(import.meta.url).resolve('toolwire/search.wasm'))));
console.log(JSON.stringify(searchTools([{ name: 'send_mail' }], 'mail')));
