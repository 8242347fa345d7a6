const { readFileSync } = require('node:fs');

const { init, sanitize } = require('toolwire/slim');

init(readFileSync(require.resolve('toolwire/toolwire.wasm')));
console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema));
