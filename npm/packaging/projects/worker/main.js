import { sanitize, searchTools, ToolwireError } from 'toolwire';
import { toolwireFetch } from 'toolwire/fetch';

const EXPECTED = '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}';

export default {
  async test() {
    const schema = sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema;
    expect(JSON.stringify(schema), EXPECTED);
    expect(JSON.stringify(searchTools([{ name: 'send_mail' }], 'mail')), '["send_mail"]');
    const fetch = toolwireFetch({ dialect: 'codex', fetch: async (_, { body }) => new Response(body) });
    const tools = [{ name: 'a', input_schema: { properties: { unit: { const: 'celsius' } } } }];
    const body = JSON.stringify({ model: 'm', messages: [], tools });
    const echo = await (await fetch('http://localhost/v1/messages', { method: 'POST', body })).text();
    expect(JSON.stringify(JSON.parse(echo).tools[0].input_schema), EXPECTED);
    expect(new ToolwireError('invalid-json', '', 'message') instanceof ToolwireError, true);
  },
};

function expect(found, expected) {
  if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
}
