// A made-up MCP server with two tools, without dependencies, for the example of a report.
import { createInterface } from 'node:readline';

const tools = [
  {
    name: 'find_page',
    description: 'Finds pages by their words.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string' }, kind: { enum: ['note', 'task'] } },
      required: ['query'],
    },
  },
  { name: 'ping', description: 'Answers.', inputSchema: { type: 'object' } },
];

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const results = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'made-up', version: '1.0.0' },
    },
    'tools/list': { tools },
    ping: {},
  };
  const result = results[method];
  const error = { code: -32601, message: `unknown method ${method}` };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }));
}
