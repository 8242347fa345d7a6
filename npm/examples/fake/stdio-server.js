// Replaces `npx -y @modelcontextprotocol/server-everything` in the tests of the README: a server over stdio with one of its tools.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const inputSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' }, unit: { type: 'string' } },
  required: ['a', 'b'],
  additionalProperties: false,
};
const server = new Server({ name: 'everything', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: 'get-sum', description: 'Adds', inputSchema }],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: given } }) => {
  // A null that strict mode made the model write must have been removed.
  if (Object.keys(given).join() !== 'a,b') throw new Error(`expected a and b, found ${JSON.stringify(given)}`);
  return { content: [{ type: 'text', text: `${name}: ${given.a + given.b}` }] };
});
await server.connect(new StdioServerTransport());
