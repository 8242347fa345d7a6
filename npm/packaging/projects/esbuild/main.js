import { sanitize } from 'toolwire';

console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema));
