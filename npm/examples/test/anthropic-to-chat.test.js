// Tests the gateway with Anthropic's SDK and a fake Chat Completions backend: the requests to the backend, and the client's messages.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import Anthropic, { BadRequestError, NotFoundError, RateLimitError } from '@anthropic-ai/sdk';

import { gateway } from '../dist/anthropic-to-chat.js';
import { backend } from '../fake/backend.js';

const DONE = { text: 'Done.' };
const USER = { role: 'user', content: 'A room in Oslo, and its plan.' };
const TOOLS = [
  {
    name: 'files.read',
    description: 'Reads a file',
    input_schema: { type: 'object', properties: { path: { type: 'string' }, $ref: { type: 'string' } } },
  },
  {
    name: 'book.room',
    description: 'Books a meeting room',
    input_schema: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
  },
];
const DEFERRED = [
  { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
  TOOLS[0],
  { ...TOOLS[1], defer_loading: true },
];
const READ = { name: 'files_read', input: { path: 'plan.txt', $ref: 'main' } };
const BOOK = { name: 'book_room', input: { room: 'Oslo' } };
const SEARCH = { name: 'tool_search', input: { query: 'meeting room' } };

/** Returns a client of a gateway, whose backend replies by `script`. */
async function setUp(t, script, options = {}) {
  const { dialect = 'openai-chat' } = options;
  const { url, got } = await backend(t, dialect, script);
  const server = gateway(`${options.at ?? url}/v1`, { dialect, ...options });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const baseURL = `http://127.0.0.1:${server.address().port}`;
  const client = new Anthropic({ baseURL, apiKey: 'k', maxRetries: 0 });
  /** Sends a request, whole or streamed. Asserts that each block of a stream ends before the next one starts. */
  const ask = async (streams, messages, more = {}) => {
    const request = { model: 'claude', max_tokens: 1000, metadata: { user_id: 'u' }, messages, tools: TOOLS, ...more };
    if (!streams) return client.messages.create(request);
    const stream = client.messages.stream(request);
    let open;
    stream.on('streamEvent', ({ type, index }) => {
      if (!type.startsWith('content_block_')) return;
      assert.equal(open, type === 'content_block_start' ? undefined : index, type);
      open = type === 'content_block_stop' ? undefined : index;
    });
    const blocks = [];
    stream.on('contentBlock', (block) => blocks.push(block));
    const message = await stream.finalMessage();
    assert.deepEqual(blocks, message.content);
    return message;
  };
  return { client, ask, got };
}

/** Returns the tools' results for the calls of a message. */
function results({ content }, answer) {
  const calls = content.filter(({ type }) => type === 'tool_use');
  const blocks = calls.map(({ id, name }) => ({ type: 'tool_result', tool_use_id: id, ...answer(name) }));
  return { role: 'user', content: blocks };
}

const toolsOf = ({ tools }) => tools.map((tool) => tool.function.name);
const callsOf = ({ content }) =>
  content.filter(({ type }) => type === 'tool_use').map(({ name, input }) => [name, input]);
const typesOf = ({ content }) => content.map(({ type }) => type);

for (const streams of [false, true]) {
  const how = streams ? 'streamed' : 'whole';

  test(`text is translated, ${how}`, async (t) => {
    const { ask, got } = await setUp(t, [DONE], { model: 'gpt-5' });
    const system = [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }];
    const message = await ask(streams, [USER], { system });
    assert.deepEqual(message.content, [{ type: 'text', text: 'Done.' }]);
    assert.deepEqual([message.stop_reason, message.model, message.role], ['end_turn', 'claude', 'assistant']);
    assert.deepEqual(message.usage, { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 5 });
    const [{ model, messages, stream }] = got;
    assert.deepEqual([model, stream ?? false], ['gpt-5', streams]);
    assert.deepEqual(messages, [{ role: 'system', content: 'Be kind.' }, USER]);
  });

  test(`text, parallel calls and the turn after their results are translated, ${how}`, async (t) => {
    const script = [{ text: 'I look.', calls: [READ, BOOK, { ...READ, input: '' }] }, BOOK, DONE];
    const { ask, got } = await setUp(t, script);
    const first = await ask(streams, [USER]);
    assert.deepEqual(typesOf(first), ['text', 'tool_use', 'tool_use', 'tool_use']);
    assert.deepEqual(callsOf(first), [
      ['files.read', READ.input],
      ['book.room', BOOK.input],
      ['files.read', {}],
    ]);
    assert.equal(first.stop_reason, 'tool_use');
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
    const answers = results(first, (name) => {
      return name === 'book.room' ? { content: 'no such room', is_error: true } : { content: [image] };
    });
    const history = [USER, { role: 'assistant', content: first.content }, answers];
    const second = await ask(streams, history);
    assert.deepEqual(callsOf(second), [['book.room', BOOK.input]]);
    history.push(
      { role: 'assistant', content: second.content },
      results(second, () => ({ content: 'booked' })),
    );
    assert.equal((await ask(streams, history)).stop_reason, 'end_turn');
    assert.deepEqual(
      got[2].messages.map(({ role, tool_calls }) => [role, tool_calls?.map((call) => call.function.name)]),
      [
        ['user', undefined],
        ['assistant', ['files_read', 'book_room', 'files_read']],
        ['tool', undefined],
        ['tool', undefined],
        ['tool', undefined],
        ['user', undefined],
        ['assistant', ['book_room']],
        ['tool', undefined],
      ],
    );
    assert.deepEqual(got[2].messages.slice(0, got[1].messages.length), got[1].messages);
  });

  test(`arguments that a dialect encodes are restored, ${how}`, async (t) => {
    const encoded = { name: 'files_read', input: { path: 'plan.txt', dollar_ref_: 'main' } };
    const { ask } = await setUp(t, [{ calls: [encoded, BOOK] }], { dialect: 'moonshot' });
    assert.deepEqual(callsOf(await ask(streams, [USER])), [
      ['files.read', READ.input],
      ['book.room', BOOK.input],
    ]);
  });

  test(`arguments that are not JSON are repaired, ${how}`, async (t) => {
    const wrong = { name: 'book_room', input: "{'room': 'Oslo',}" };
    const { ask } = await setUp(t, [{ calls: [wrong, READ] }], { repair: true });
    assert.deepEqual(callsOf(await ask(streams, [USER])), [
      ['book.room', BOOK.input],
      ['files.read', READ.input],
    ]);
  });

  test(`a hosted search and the turn after it are translated, ${how}`, async (t) => {
    const script = [{ text: 'I search.', ...SEARCH }, { text: 'Found.', calls: [BOOK, READ] }, DONE];
    const { ask, got } = await setUp(t, script);
    const first = await ask(streams, [USER], { tools: DEFERRED });
    assert.deepEqual(first.content.slice(0, 4), [
      { type: 'text', text: 'I search.' },
      { type: 'server_tool_use', id: 'srvtoolu_call_id_1', name: 'tool_search_tool_bm25', input: SEARCH.input },
      {
        type: 'tool_search_tool_result',
        tool_use_id: 'srvtoolu_call_id_1',
        content: {
          type: 'tool_search_tool_search_result',
          tool_references: [{ type: 'tool_reference', tool_name: 'book.room' }],
        },
      },
      { type: 'text', text: 'Found.' },
    ]);
    assert.deepEqual(callsOf(first), [
      ['book.room', BOOK.input],
      ['files.read', READ.input],
    ]);
    assert.deepEqual([first.stop_reason, first.usage.output_tokens], ['tool_use', 10]);
    const history = [USER, { role: 'assistant', content: first.content }, results(first, () => ({ content: 'ok' }))];
    assert.deepEqual((await ask(streams, history, { tools: DEFERRED })).content, [{ type: 'text', text: 'Done.' }]);
    assert.deepEqual(got.map(toolsOf), [
      ['tool_search', 'files_read'],
      ['tool_search', 'files_read', 'book_room'],
      ['tool_search', 'files_read', 'book_room'],
    ]);
    // The model reads the same history after its search and in the next turn, so a prompt cache stays valid.
    assert.deepEqual(got[2].messages.slice(0, got[1].messages.length), got[1].messages);
    assert.match(got[1].messages.at(-1).content, /'book_room' is now available/);
  });

  test(`a search next to a call waits for the result of the call, ${how}`, async (t) => {
    const { ask, got } = await setUp(t, [{ calls: [READ, SEARCH] }, BOOK]);
    const first = await ask(streams, [USER], { tools: DEFERRED });
    assert.deepEqual(typesOf(first), ['tool_use', 'server_tool_use', 'tool_search_tool_result']);
    assert.deepEqual([first.stop_reason, first.content[1].id], ['tool_use', 'srvtoolu_call_id_1_1']);
    const history = [USER, { role: 'assistant', content: first.content }, results(first, () => ({ content: 'ok' }))];
    const second = await ask(streams, history, { tools: DEFERRED });
    assert.deepEqual(callsOf(second), [['book.room', BOOK.input]]);
    assert.equal(got.length, 2);
  });

  test(`ids that the backend gives to several calls are made unique, ${how}`, async (t) => {
    const [search, read, book] = [SEARCH, READ, BOOK].map((call) => ({ ...call, id: 'call_0' }));
    const script = [{ calls: [search] }, { calls: [search] }, { calls: [read, book] }, { calls: [book] }, DONE];
    const { ask, got } = await setUp(t, script);
    const history = [USER];
    for (let turn = 0; turn < 2; turn += 1) {
      const message = await ask(streams, history, { tools: DEFERRED });
      history.push(
        { role: 'assistant', content: message.content },
        results(message, () => ({ content: 'ok' })),
      );
    }
    await ask(streams, history, { tools: DEFERRED });
    const ids = got.at(-1).messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    assert.equal(new Set(ids).size, 5);
    assert.equal(ids[0], 'srvtoolu_call_0');
    const roles = got.at(-1).messages.map(({ role }) => role);
    assert.equal(roles.join(), 'user,assistant,tool,assistant,tool,assistant,tool,tool,assistant,tool');
  });

  test(`searches without results or query are answered, and too many pause the turn, ${how}`, async (t) => {
    const script = [{ ...SEARCH, input: { query: 'zebra' } }, { ...SEARCH, input: '{"que' }, SEARCH, DONE];
    const { ask } = await setUp(t, script, { maxRounds: 3 });
    const first = await ask(streams, [USER], { tools: DEFERRED });
    const found = first.content.filter(({ type }) => type === 'tool_search_tool_result').map(({ content }) => content);
    assert.deepEqual(found, [
      { type: 'tool_search_tool_search_result', tool_references: [] },
      { type: 'tool_search_tool_result_error', error_code: 'invalid_tool_input' },
      {
        type: 'tool_search_tool_search_result',
        tool_references: [{ type: 'tool_reference', tool_name: 'book.room' }],
      },
    ]);
    assert.equal(first.stop_reason, 'pause_turn');
    // A client continues by sending the message back.
    const history = [USER, { role: 'assistant', content: first.content }];
    assert.equal((await ask(streams, history, { tools: DEFERRED })).stop_reason, 'end_turn');
  });

  test(`reasoning becomes thinking and is sent back, or is omitted, ${how}`, async (t) => {
    const script = [{ ...SEARCH, reasoning: 'Hm.' }, { ...BOOK, reasoning: 'Aha.' }, DONE];
    const { ask, got } = await setUp(t, script, { reasoning: 'content' });
    const first = await ask(streams, [USER], { tools: DEFERRED });
    const types = ['thinking', 'server_tool_use', 'tool_search_tool_result', 'thinking', 'tool_use'];
    assert.deepEqual(typesOf(first), types);
    assert.deepEqual(first.content[0], { type: 'thinking', thinking: 'Hm.', signature: '' });
    const history = [USER, { role: 'assistant', content: first.content }, results(first, () => ({ content: 'ok' }))];
    await ask(streams, history, { tools: DEFERRED });
    const thoughts = got[2].messages.map(({ reasoning_content }) => reasoning_content).filter(Boolean);
    assert.deepEqual(thoughts, ['Hm.', 'Aha.']);
    const without = await setUp(t, [{ ...BOOK, reasoning: 'Hm.' }]);
    assert.deepEqual(typesOf(await without.ask(streams, [USER])), ['tool_use']);
  });

  test(`stop reasons are translated, ${how}`, async (t) => {
    const script = ['length', 'content_filter', 'stop'].map((finish) => ({ text: 'So', finish }));
    // Some backends end calls with the reason `stop`.
    const { ask } = await setUp(t, [...script, { ...BOOK, finish: 'stop' }, { refusal: 'I will not.' }]);
    const reasons = [];
    for (let turn = 0; turn < 4; turn += 1) reasons.push((await ask(streams, [USER])).stop_reason);
    assert.deepEqual(reasons, ['max_tokens', 'refusal', 'end_turn', 'tool_use']);
    assert.deepEqual((await ask(streams, [USER])).content, [{ type: 'text', text: 'I will not.' }]);
  });

  test(`a call truncated by the token limit does not break the next turn, ${how}`, async (t) => {
    const { ask, got } = await setUp(t, [{ name: 'book_room', input: '{"room": "Os', finish: 'length' }, DONE]);
    const first = await ask(streams, [USER]);
    assert.deepEqual([first.stop_reason, first.content[0].name], ['max_tokens', 'book.room']);
    const answers = results(first, () => ({ content: 'expected JSON', is_error: true }));
    await ask(streams, [USER, { role: 'assistant', content: first.content }, answers]);
    assert.equal(typeof JSON.parse(got[1].messages[1].tool_calls[0].function.arguments), 'object');
  });

  test(`errors of the backend and the gateway have Anthropic's format, ${how}`, async (t) => {
    const script = [
      { status: 400, message: 'no such thing' },
      { status: 429, message: 'slowly' },
      { status: 503, message: 'overloaded' },
    ];
    const { ask, got } = await setUp(t, script);
    const refused = (kind, status, type, message) => (error) => {
      assert.ok(error instanceof kind, error);
      assert.equal(error.status, status);
      assert.equal(error.error.type, 'error');
      assert.equal(error.error.error.type, type);
      assert.match(error.error.error.message, message);
      return true;
    };
    await assert.rejects(
      ask(streams, [USER]),
      refused(BadRequestError, 400, 'invalid_request_error', /^no such thing$/),
    );
    await assert.rejects(ask(streams, [USER]), (error) => {
      assert.equal(error.headers.get('retry-after'), '7');
      return refused(RateLimitError, 429, 'rate_limit_error', /^slowly$/)(error);
    });
    await assert.rejects(ask(streams, [USER]), refused(Anthropic.APIError, 503, 'api_error', /^overloaded$/));
    const bad = [{ type: 'text' }];
    await assert.rejects(
      ask(streams, 'none', { tools: bad }),
      refused(BadRequestError, 400, 'invalid_request_error', /messages/),
    );
    assert.equal(got.length, 3);
  });
}

for (const cut of ['end', 'reset']) {
  test(`a stream that breaks off in a call (${cut}) ends with an error`, async (t) => {
    const { client } = await setUp(t, [{ text: 'I look.', ...READ, cut }]);
    const stream = client.messages.stream({ model: 'claude', max_tokens: 9, messages: [USER], tools: TOOLS });
    const types = [];
    stream.on('streamEvent', ({ type }) => types.push(type));
    await assert.rejects(stream.finalMessage(), (error) => {
      assert.ok(error instanceof Anthropic.APIError, error);
      assert.equal(error.error.error.type, 'api_error');
      return true;
    });
    assert.equal(types.at(-1), 'content_block_delta');
    assert.ok(types.includes('content_block_stop') && !types.includes('message_stop'));
  });
}

test('other paths of the API are unknown', async (t) => {
  const { client } = await setUp(t, []);
  await assert.rejects(client.messages.countTokens({ model: 'claude', messages: [USER] }), NotFoundError);
});

test('a redirect is not followed, and the key is passed on', async (t) => {
  const seen = [];
  const redirecting = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  await new Promise((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
  t.after(() => redirecting.close());
  const { ask } = await setUp(t, [], { at: `http://127.0.0.1:${redirecting.address().port}` });
  await assert.rejects(ask(false, [USER]), (error) => error.status === 502);
  assert.deepEqual(seen, ['Bearer k']);
});

test('a client that disconnects ends the request to the backend', { timeout: 10_000 }, async (t) => {
  let end;
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  const endless = createServer((_, response) => {
    response.on('close', end);
    const chunk = { id: '1', choices: [{ index: 0, delta: { content: 'So' }, finish_reason: null }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  await new Promise((done) => endless.listen(0, '127.0.0.1', done));
  t.after(() => endless.close());
  const { client } = await setUp(t, [], { at: `http://127.0.0.1:${endless.address().port}` });
  const stream = client.messages.stream({ model: 'claude', max_tokens: 9, messages: [USER] });
  stream.on('text', () => stream.abort());
  await assert.rejects(stream.finalMessage(), Anthropic.APIUserAbortError);
  await ended;
});
