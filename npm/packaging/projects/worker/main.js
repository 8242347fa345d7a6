import { sanitize, ToolwireError } from 'toolwire';
import * as search from 'toolwire/search';

const EXPECTED = '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}';

export default {
  test() {
    const schema = sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' });
    expect(JSON.stringify(schema), EXPECTED);
    expect(JSON.stringify(search.searchTools([{ name: 'send_mail' }], 'mail')), '["send_mail"]');
    expect(new search.ToolwireError('invalid-json', '', 'message') instanceof ToolwireError, true);
  },
};

function expect(found, expected) {
  if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
}
