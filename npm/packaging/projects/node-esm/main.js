import { sanitize, searchTools } from 'toolwire';

console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema));
console.log(JSON.stringify(searchTools([{ name: 'send_mail' }], 'mail')));
