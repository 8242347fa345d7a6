import { init, sanitize } from 'toolwire/slim';
import module from 'toolwire/toolwire.wasm';

init(module);

export default {
  test() {
    const found = JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema);
    const expected = '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}';
    if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
  },
};
