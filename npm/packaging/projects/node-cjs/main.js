const { sanitize } = require('toolwire');

console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' })));
