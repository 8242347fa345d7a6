// worker-fetch.ts: requests, streams, aborts and errors through a thread.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { workerFetch } from '../dist/worker-fetch.js';

const TOOL = { name: 'book.room', input_schema: { type: 'object', properties: {} } };
const BODY = { model: 'm', messages: [{ role: 'user', content: 'a room' }], tools: [TOOL] };
const CALL = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'tool_use', id: 't', name: 'book_room', input: {} }],
  stop_reason: 'tool_use',
};

/** Starts a server, and a `fetch` in a thread. */
async function started(t, answer) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    answer(JSON.parse(Buffer.concat(chunks).toString() || 'null'), response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { fetch, close } = workerFetch({ dialect: 'anthropic' });
  t.after(async () => {
    await close();
    server.closeAllConnections();
    server.close();
  });
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${server.address().port}/v1/messages`;
  const post = (body, init) => fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...init });
  return { fetch, post };
}

test('whole replies are restored, in any order', async (t) => {
  const waiting = [];
  const { post } = await started(t, (body, response) => {
    assert.equal(body.tools[0].name, 'book_room');
    waiting.push(() =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...CALL, id: body.model })),
    );
    // The last request is answered first.
    if (waiting.length === 3) for (const answer of waiting.reverse()) answer();
  });
  const replies = await Promise.all(['a', 'b', 'c'].map(async (model) => (await post({ ...BODY, model })).json()));
  assert.deepEqual(
    replies.map(({ id, content }) => [id, content[0].name]),
    ['a', 'b', 'c'].map((id) => [id, 'book.room']),
  );
});

test('a large request arrives', async (t) => {
  const { post } = await started(t, (body, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...CALL, id: body.messages.length })),
  );
  const messages = Array.from({ length: 2000 }, () => ({ role: 'user', content: 'x'.repeat(5000) }));
  assert.equal((await (await post({ ...BODY, messages })).json()).id, 2000);
});

test('streams are passed on as they come, and a reader that stops ends the request', async (t) => {
  let ended;
  const closed = new Promise((resolve) => {
    ended = resolve;
  });
  const { post } = await started(t, (_, response) => {
    response.on('close', ended);
    response.setHeader('content-type', 'text/event-stream');
    const block = { type: 'content_block_start', index: 0, content_block: { ...CALL.content[0] } };
    response.write(`event: content_block_start\ndata: ${JSON.stringify(block)}\n\n`);
  });
  const response = await post(BODY);
  const reader = response.body.getReader();
  const { value } = await reader.read();
  assert.match(new TextDecoder().decode(value), /book\.room/);
  await reader.cancel();
  await closed;
});

test('an abort ends the request, and errors arrive', async (t) => {
  const controller = new AbortController();
  let ended;
  const closed = new Promise((resolve) => {
    ended = resolve;
  });
  const { fetch, post } = await started(t, (_, response) => {
    response.on('close', ended);
    controller.abort();
  });
  await assert.rejects(post(BODY, { signal: controller.signal }), { name: 'AbortError' });
  await closed;
  await assert.rejects(post(BODY, { signal: controller.signal }), { name: 'AbortError' });
  await assert.rejects(fetch('http://127.0.0.1:1/v1/messages', { method: 'POST' }), { message: 'fetch failed' });
  const refused = await post({ ...BODY, tools: 3 });
  assert.equal(refused.status, 400);
});
