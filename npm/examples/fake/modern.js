// A server of MCP 2026-07-28, and with `both` also of earlier versions, over stdio or HTTP.
import { createServer } from 'node:http';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const [transport, era = 'only'] = process.argv.slice(2);
const text = (said) => ({ content: [{ type: 'text', text: said }] });

function create() {
  const capabilities = { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, prompts: {} };
  const server = new McpServer({ name: 'modern', version: '1.0.0' }, { capabilities, instructions: 'Be brief.' });
  const inputSchema = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }), lines: z.array(z.int()) });
  server.registerTool('files.read', { inputSchema }, (input) => text(JSON.stringify(input)));
  server.registerTool('ask', { inputSchema: z.object({}) }, (_, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.name;
    if (answer) return text(`${answer.action} ${answer.content?.name}`);
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who?', requestedSchema }) } });
  });
  server.registerResource('one', 'test://one', {}, () => ({ contents: [{ uri: 'test://one', text: 'first' }] }));
  server.registerPrompt('greet', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
  }));
  return server;
}

if (transport === 'stdio') {
  serveStdio(create, { legacy: era === 'both' ? 'serve' : 'reject' });
} else {
  const handler = createMcpHandler(create, { legacy: era === 'both' ? 'stateless' : 'reject' });
  const http = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const url = `http://${request.headers.host}${request.url}`;
    const body = pieces.length > 0 ? Buffer.concat(pieces) : undefined;
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const { method, headers } = request;
    const answer = await handler.fetch(new Request(url, { method, headers, body, signal: gone.signal }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  });
  http.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}/mcp`));
}
