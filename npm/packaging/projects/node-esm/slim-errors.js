// Errors of the slim entry point: without WebAssembly, with something else, or with that of another build.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { init, sanitize } from 'toolwire/slim';

const { resolve } = createRequire(import.meta.url);
const messageOf = (call) => {
  try {
    return call();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
console.log(messageOf(() => sanitize({}, { dialect: 'codex' }).schema));
console.log(messageOf(() => init(fetch)));
console.log(messageOf(() => init(Promise.resolve())));
console.log(messageOf(() => init(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))));
// The file ends with the name and a digest of its build.
const other = readFileSync(resolve('toolwire/toolwire.wasm'));
other[other.length - 1] ^= 1;
console.log(messageOf(() => init(other)));
