// An in-process MCP server with tools in ordinary JSON Schema, which every model API would refuse or misread. It refuses arguments that
// do not match its published schemas, and records the calls.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** Tools with a dot in a name, a property named like a keyword, and a constant without a type. */
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

/** Runs a call as the tool's own server would. Throws if the tool or one of the arguments was not published. */
export function served(calls, name, input) {
  const { properties } = TOOLS.find((tool) => tool.name === name)?.inputSchema ?? {};
  const strange = properties === undefined ? name : Object.keys(input).find((key) => !(key in properties));
  if (strange !== undefined) throw new Error(`no such tool, or argument: ${strange}`);
  calls.push({ name, input });
  return 'Any tool schema, any model.';
}

/** Returns a client that is connected to the server. */
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
