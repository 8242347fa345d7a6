import { init, sanitize } from 'toolwire/slim';
import url from 'toolwire/toolwire.wasm?url';

fetch(url)
  .then((response) => response.arrayBuffer())
  .then((bytes) => {
    init(bytes);
    console.log(JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema));
  });
