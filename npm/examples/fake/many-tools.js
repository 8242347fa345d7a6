// A server over stdio with 120 tools, for the page about Cursor.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const NOUNS = ['account', 'contact', 'deal', 'invoice', 'lead', 'note', 'offer', 'order', 'task', 'ticket'];
const VERBS = 'archive assign close comment create delete export find list merge reopen update'.split(' ');
const inputSchema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
const tools = NOUNS.flatMap((noun) =>
  VERBS.map((verb) => ({ name: `${noun}_${verb}`, description: `Can ${verb} one ${noun}.`, inputSchema })),
);
const server = new Server({ name: 'many', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: 'text', text: JSON.stringify(params) }],
}));
await server.connect(new StdioServerTransport());
