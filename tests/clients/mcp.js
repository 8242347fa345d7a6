// An MCP server with one tool, whose schema some APIs refuse. It writes the calls that it receives to the file that its argument names.

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const inputSchema = {
  type: 'object',
  properties: {
    city: { $ref: '#/$defs/city' },
    days: { type: 'integer' },
    // Moonshot refuses a schema that has `type` next to `anyOf`, DeepSeek requires one next to `enum`.
    when: { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] },
    detail: { enum: ['brief', 'full'] },
  },
  required: ['city'],
  $defs: { city: { type: 'string', minLength: 1 } },
};
const tools = [{ name: 'weather.of', description: 'Tells the weather of a city.', inputSchema }];

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'weather', version: '1' },
    }),
    'tools/list': () => ({ tools }),
    'tools/call': () => {
      appendFileSync(process.argv[2], `${JSON.stringify({ name: params.name, arguments: params.arguments })}\n`);
      return { content: [{ type: 'text', text: 'Sunny.' }] };
    },
  };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: (results[method] ?? (() => ({})))() })}\n`);
});
