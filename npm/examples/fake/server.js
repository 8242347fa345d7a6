// An MCP server in this process, whose tools are ordinary JSON Schema that no model API takes as it is. It refuses arguments that
// are not what it published, and remembers the calls.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** A name with a dot, a property that is called like a keyword, a constant without a type. */
export const TOOLS = [
  {
    name: 'files.read',
    description: 'Reads a file of a commit',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        $ref: { type: 'string', description: 'A Git reference' },
        encoding: { const: 'utf-8' },
      },
      required: ['path'],
      additionalProperties: false,
    },
  },
];

/** What the tool's own server gets for a call, if that is as it was published. */
export function served(calls, name, input) {
  const { properties } = TOOLS.find((tool) => tool.name === name)?.inputSchema ?? {};
  const strange = properties === undefined ? name : Object.keys(input).find((key) => !(key in properties));
  if (strange !== undefined) throw new Error(`no such tool, or argument: ${strange}`);
  calls.push({ name, input });
  return 'Any tool schema, any model.';
}

/** A client that is connected to it. */
export async function connected(t, calls) {
  const server = new Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: served(calls, params.name, params.arguments) }],
  }));
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  t.after(() => client.close());
  return client;
}
