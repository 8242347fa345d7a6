import { init, sanitize } from 'toolwire/slim';
import bytes from 'toolwire/toolwire.wasm';

init(bytes);
console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema));
