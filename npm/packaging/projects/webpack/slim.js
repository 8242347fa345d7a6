import { init, sanitize } from 'toolwire/slim';

fetch(new URL('toolwire/toolwire.wasm', import.meta.url))
  .then((response) => response.arrayBuffer())
  .then((bytes) => {
    init(bytes);
    console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema));
  });
