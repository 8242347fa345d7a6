// A local backend with Anthropic's protocol, and the requests and replies for it.

import { createServer } from 'node:http';

export const SEARCH = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };
export const ROOM = {
  name: 'book.room',
  description: 'Books a meeting room',
  input_schema: { type: 'object', properties: {} },
  defer_loading: true,
};
export const ASKED = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'a room' }],
  tools: [SEARCH, ROOM],
});
/** The tool is loaded from the beginning, so nothing is searched. */
export const LOADED = ASKED.replace(',"defer_loading":true', '');
export const SEARCHES = message('tool_use', [
  { type: 'tool_use', id: 't1', name: 'tool_search', input: { query: 'meeting room' } },
]);
export const CALLS = message('tool_use', [{ type: 'tool_use', id: 't2', name: 'book_room', input: {} }]);
/** Types of the blocks in the client's message after a search. */
export const TYPES = ['server_tool_use', 'tool_search_tool_result', 'tool_use'];
export const JSON_TYPE = { 'content-type': 'application/json' };
export const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };

export function message(stop_reason, content) {
  return { id: 'msg_1', type: 'message', role: 'assistant', content, stop_reason, stop_sequence: null };
}

/** Returns a message as the text of a stream. */
export function streamOf({ content, stop_reason, ...rest }) {
  const events = [{ type: 'message_start', message: { ...rest, content: [], stop_reason: null } }];
  for (const [index, block] of content.entries()) {
    events.push({ type: 'content_block_start', index, content_block: { ...block, input: {} } });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    events.push({ type: 'content_block_delta', index, delta }, { type: 'content_block_stop', index });
  }
  events.push({ type: 'message_delta', delta: { stop_reason } }, { type: 'message_stop' });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

export const eventsOf = (text) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
export const blocksOf = (events) =>
  events.filter(({ type }) => type === 'content_block_start').map((e) => e.content_block.type);

/** Starts a backend with given replies `[status, headers, body]`. A body that is a function writes itself. */
export async function backend(t, ...answers) {
  const got = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    got.push({
      method: request.method,
      path: request.url,
      headers: request.headers,
      bytes: Buffer.concat(chunks),
      body: Buffer.concat(chunks).toString(),
    });
    const [status, headers, body] = answers[got.length - 1] ?? [500, {}, 'nothing more to say'];
    response.writeHead(status, headers);
    if (typeof body === 'function') body(response);
    else response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}/v1/messages`, got };
}

export const post = (body, more) => ({ method: 'POST', headers: JSON_TYPE, body, ...more });
