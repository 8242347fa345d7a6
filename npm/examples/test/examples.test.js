// Runs every example against the fake of its API, and compares the requests to the API, the calls to the tool's server, and the result.

import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { mock, test } from 'node:test';

import Anthropic, { BadRequestError as AnthropicRefused } from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI, { BadRequestError as OpenaiRefused } from 'openai';
import { toolwireFetch } from 'toolwire/fetch';

import * as anthropic from '../dist/anthropic.js';
import { book } from '../dist/anthropic-deferred.js';
import * as anthropicFormats from '../dist/anthropic-formats.js';
import { answered } from '../dist/codex-to-chat.js';
import { gateway } from '../dist/gateway.js';
import * as google from '../dist/google.js';
import * as langchain from '../dist/langchain.js';
import * as formats from '../dist/openai-formats.js';
import * as mcp from '../dist/openai-mcp.js';
import { forecast } from '../dist/openai-responses.js';
import * as vercel from '../dist/vercel-ai.js';
import * as vercelFormats from '../dist/vercel-ai-formats.js';
import { clean } from '../dist/vercel-ai-repair.js';
import { backend } from '../fake/backend.js';
import { connected, served, TOOLS } from '../fake/server.js';

/** The model's call in a dialect that renames `$ref`. */
const ENCODED = { name: 'files_read', input: { path: 'README.md', dollar_ref_: 'main' } };
/** The model's call in a dialect that does not rename it. */
const PLAIN = { name: 'files_read', input: { path: 'README.md', $ref: 'main' } };
/** The call that the tool's server expects. */
const EXPECTED = [{ name: 'files.read', input: { path: 'README.md', $ref: 'main' } }];
const DONE = { text: 'It says: any model.' };

/** Returns the names and schemas of the tools in a request. */
function toolsOf({ tools }) {
  const list = tools.flatMap((tool) => tool.functionDeclarations ?? [tool.function ?? tool]);
  return list.map((tool) => [
    tool.name,
    Object.keys((tool.parametersJsonSchema ?? tool.parameters ?? tool.input_schema).properties),
  ]);
}

test('APIs refuse the published schemas if they are not rewritten', async (t) => {
  for (const dialect of ['anthropic', 'moonshot', 'gemini', 'openai-chat']) {
    const { url, got } = await backend(t, dialect, []);
    const tools = TOOLS.map(({ inputSchema, ...tool }) => ({ ...tool, input_schema: inputSchema }));
    const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [], tools });
    assert.equal((await fetch(`${url}/v1/messages`, { method: 'POST', body })).status, 400, dialect);
    assert.equal(got.length, 0);
  }
});

test('anthropic.ts', async (t) => {
  const { url, got } = await backend(t, 'anthropic', [PLAIN, DONE]);
  const calls = [];
  const content = await anthropic.ask(
    url,
    TOOLS.map(({ inputSchema, ...tool }) => ({ ...tool, input_schema: inputSchema })),
    async (name, input) => served(calls, name, input),
  );
  assert.deepEqual(calls, EXPECTED);
  assert.equal(content[0].text, DONE.text);
  assert.equal(got.length, 2);
  assert.equal(toolsOf(got[0])[0][0], 'files_read');
});

for (const streams of [false, true]) {
  test(`anthropic-deferred.ts, ${streams ? 'streamed' : 'whole'}`, async (t) => {
    const search = { name: 'tool_search', input: { query: 'meeting room' } };
    const script = [search, { name: 'book_room', input: { room: 'Oslo' } }, DONE];
    const { url, got } = await backend(t, 'moonshot', script);
    const calls = [];
    const messages = await book(url, streams, (name, input) => {
      calls.push({ name, input });
      return 'booked';
    });
    assert.deepEqual(calls, [{ name: 'book.room', input: { room: 'Oslo' } }]);
    // The agent sent two requests, and the backend received three; found tools remain loaded.
    const names = got.map((body) => toolsOf(body).map(([name]) => name));
    assert.deepEqual(names, [['tool_search'], ['tool_search', 'book_room'], ['tool_search', 'book_room']]);
    assert.deepEqual(
      messages.map(({ content }) => (typeof content === 'string' ? ['text'] : content.map(({ type }) => type))),
      [['text'], ['server_tool_use', 'tool_search_tool_result', 'tool_use'], ['tool_result'], ['text']],
    );
    // The model reads the same history before and after its call, so the prompt cache stays valid.
    assert.deepEqual(got[2].messages.slice(0, got[1].messages.length), got[1].messages);
    if (streams) assert.ok(got.every(({ stream }) => stream));
  });
}

test('openai-mcp.ts', async (t) => {
  const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
  const calls = [];
  assert.equal(await mcp.ask(url, await connected(t, calls), 'moonshot'), DONE.text);
  assert.deepEqual(calls, EXPECTED);
  assert.deepEqual(toolsOf(got[0]), [['files_read', ['path', 'dollar_ref_', 'encoding']]]);
});

test('openai-responses.ts', async (t) => {
  const { url, got } = await backend(t, 'openai-strict', [{ name: 'forecast', input: { city: 'Oslo', days: null } }]);
  assert.deepEqual(await forecast(url), { city: 'Oslo' });
  assert.deepEqual(got[0].tools[0].parameters.required, ['city', 'days']);
  assert.equal(got[0].tools[0].strict, true);
});

for (const streams of [false, true]) {
  test(`openai-formats.ts, ${streams ? 'streamed' : 'whole'}`, async (t) => {
    const answer = { name: 'give_answer', input: { response: ['Oslo', 'Bergen'] } };
    const { url, got } = await backend(t, 'deepseek', [answer]);
    const client = new OpenAI({ baseURL: url, apiKey: 'none' });
    const messages = [{ role: 'user', content: 'The two largest cities of Norway?' }];
    const refused = client.chat.completions.create({
      model: 'deepseek-chat',
      messages,
      response_format: formats.format,
    });
    await assert.rejects(refused, /This response_format type is unavailable now/);
    assert.deepEqual(await formats.cities(url, streams), ['Oslo', 'Bergen']);
    assert.deepEqual(got[0].tool_choice, { type: 'function', function: { name: 'give_answer' } });
  });
}

for (const streams of [false, true]) {
  test(`anthropic-formats.ts, ${streams ? 'streamed' : 'whole'}`, async (t) => {
    const answer = { name: 'give_answer', input: { response: ['Oslo', 'Bergen'] } };
    const { url, got } = await backend(t, 'anthropic', [answer]);
    assert.deepEqual(await anthropicFormats.cities(url, streams), ['Oslo', 'Bergen']);
    assert.equal(got[0].output_config, undefined);
  });

  test(`vercel-ai-formats.ts, ${streams ? 'streamed' : 'whole'}`, async (t) => {
    const { url } = await backend(t, 'deepseek', [{ name: 'give_answer', input: { city: 'Rome' } }]);
    if (!streams) {
      await assert.rejects(vercelFormats.place(url, streams, fetch), /This response_format type is unavailable now/);
    }
    assert.deepEqual(await vercelFormats.place(url, streams), { city: 'Rome' });
  });
}

test('google.ts', async (t) => {
  const { url, got } = await backend(t, 'gemini-json-schema', [{ ...PLAIN, name: 'files.read' }]);
  assert.deepEqual(await google.ask(url, TOOLS), [{ name: 'files.read', arguments: EXPECTED[0].input }]);
  assert.deepEqual(toolsOf(got[0]), [['files.read', ['path', '$ref', 'encoding']]]);
});

for (const streams of [false, true]) {
  test(`vercel-ai.ts, ${streams ? 'streamed' : 'whole'}`, async (t) => {
    const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
    const calls = [];
    const call = async (name, input) => served(calls, name, input);
    assert.equal(await vercel.ask(url, TOOLS, call, streams), DONE.text);
    assert.deepEqual(calls, EXPECTED);
    assert.deepEqual(toolsOf(got[0]), [['files_read', ['path', 'dollar_ref_', 'encoding']]]);
    assert.equal(got[1].messages.find(({ tool_calls }) => tool_calls).tool_calls[0].function.name, 'files_read');
  });
}

test('vercel-ai-repair.ts', async (t) => {
  const answers = [
    // Not JSON; a list in a string and a misspelled name; an error that cannot be repaired; truncated text; finally, valid arguments.
    "{'paths': ['a.txt',],}",
    { paths: '["a.txt", "b.txt"]', dryRun: 'true' },
    { path: 'a.txt' },
    '{"paths": ["a.txt", "b.t',
    { paths: ['b.txt'] },
  ];
  const script = [...answers.map((input) => ({ name: 'delete_files', input })), DONE];
  const { url, got } = await backend(t, 'openai-chat', script);
  const calls = [];
  assert.equal(await clean(`${url}/v1`, (input) => `deleted ${calls.push(input)}`), DONE.text);
  assert.deepEqual(calls, [{ paths: ['a.txt'] }, { paths: ['a.txt', 'b.txt'], dry_run: true }, { paths: ['b.txt'] }]);
  const results = got
    .at(-1)
    .messages.filter(({ role }) => role === 'tool')
    .map(({ content }) => content);
  assert.deepEqual([results[0], results[1], results[4]], ['deleted 1', 'deleted 2', 'deleted 3']);
  assert.match(
    results[2],
    /the arguments of `delete_files` do not match.*expected the member `paths`.*call the tool again/is,
  );
  assert.match(results[3], /the tool was not run: expected JSON, found truncated text \(truncated/i);
});

test('codex-to-chat.ts', async (t) => {
  const script = [
    { name: 'exec', input: { input: 'text(1)' } },
    { name: 'crew__spawn_agent', input: { task: 'tests' } },
    DONE,
  ];
  const { url, got } = await backend(t, 'openai-chat', script);
  const fetch = async (_, { body }) => Response.json(await answered(url, JSON.parse(body)));
  const codex = new OpenAI({ baseURL: 'http://gateway.test', apiKey: 'none', fetch });
  const parameters = { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] };
  const lite = {
    type: 'additional_tools',
    role: 'developer',
    tools: [
      {
        type: 'namespace',
        name: 'functions',
        tools: [{ type: 'custom', name: 'exec', description: 'Runs JavaScript' }],
      },
      {
        type: 'namespace',
        name: 'crew',
        tools: [{ type: 'function', name: 'spawn_agent', strict: false, parameters }],
      },
    ],
  };
  const input = [lite, { role: 'developer', content: 'You are Codex.' }, { role: 'user', content: 'Run the tests.' }];
  const body = { model: 'm', parallel_tool_calls: false, store: false, include: ['reasoning.encrypted_content'] };
  const turns = [];
  for (const _ of script) {
    const { output } = await codex.responses.create({ ...body, input });
    const [item] = output;
    turns.push(item);
    input.push(item);
    const { call_id } = item;
    if (item.type === 'custom_tool_call') input.push({ type: 'custom_tool_call_output', call_id, output: '1' });
    if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id, output: 'spawned' });
  }
  assert.deepEqual(turns.slice(0, 2), [
    { type: 'custom_tool_call', call_id: 'call_id_1', name: 'exec', input: 'text(1)' },
    {
      type: 'function_call',
      call_id: 'call_id_2',
      name: 'spawn_agent',
      namespace: 'crew',
      arguments: '{"task":"tests"}',
    },
  ]);
  assert.equal(turns[2].content[0].text, DONE.text);
  // The backend received no namespaces, and each request has the previous one as a prefix.
  const names = got.map((body) => toolsOf(body).map(([name]) => name));
  assert.deepEqual(names, Array(3).fill(['exec', 'crew__spawn_agent']));
  assert.deepEqual(got[2].messages.slice(0, got[1].messages.length), got[1].messages);
  assert.deepEqual(
    got[2].messages.map(({ role, tool_calls }) => [role, tool_calls?.[0].function.name]),
    [
      ['system', undefined],
      ['user', undefined],
      ['assistant', 'exec'],
      ['tool', undefined],
      ['assistant', 'crew__spawn_agent'],
      ['tool', undefined],
    ],
  );
});

test('langchain.ts', async (t) => {
  const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
  const calls = [];
  assert.equal(await langchain.ask(url, TOOLS, async (name, input) => served(calls, name, input)), DONE.text);
  assert.deepEqual(calls, EXPECTED);
  assert.deepEqual(toolsOf(got[0]), [['files_read', ['path', 'dollar_ref_', 'encoding']]]);
});

test('gateway.ts', async (t) => {
  const search = { name: 'tool_search', input: { query: 'meeting room' } };
  const { url, got } = await backend(t, 'anthropic', [search, { name: 'book_room', input: {} }]);
  const server = gateway(url, { dialect: 'anthropic' });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const tools = [
    { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    { name: 'book.room', description: 'Books a meeting room', input_schema: { type: 'object' }, defer_loading: true },
  ];
  const post = (body) =>
    fetch(`http://127.0.0.1:${server.address().port}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-beta': 'tool-search-tool-2025-10-19' },
      body: JSON.stringify(body),
    });
  const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'a room' }], tools };
  const events = await (await post({ ...body, stream: true })).text();
  assert.match(events, /"type":"server_tool_use".*"type":"tool_search_tool_result".*"name":"book\.room"/s);
  assert.equal(got.length, 2);
  const refused = await post({ ...body, unheard_of: 1 });
  assert.deepEqual([refused.status, (await refused.json()).error.message], [400, 'unknown parameter unheard_of']);
});

test('gateway.ts sends nothing to other hosts, and its status shows where an error occurred', async (t) => {
  const seen = [];
  const fake = async (url, { headers }) => {
    seen.push([String(url), Object.fromEntries(new Headers(headers))]);
    throw new TypeError('fetch failed');
  };
  const server = gateway('http://backend.test', { dialect: 'anthropic', fetch: fake });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const post = (path, body) =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'accept-encoding': 'zstd', 'x-api-key': 'k' };
      const { port } = server.address();
      const sent = request({ port, host: '127.0.0.1', method: 'POST', path, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      sent.on('error', reject).end(body);
    });
  const statuses = [];
  for (const path of [
    '//elsewhere.test/v1/messages?a=1',
    'http://elsewhere.test/v1/messages',
    '/v1/messages?beta=true',
  ]) {
    statuses.push(await post(path, '{"model":"m","messages":[]}'));
  }
  statuses.push(await post('/v1/messages', '{"model":'));
  assert.deepEqual(statuses, [502, 502, 502, 400]);
  assert.deepEqual(
    seen.map(([url]) => new URL(url).host),
    ['backend.test', 'backend.test', 'backend.test'],
  );
  assert.equal(seen[2][0], 'http://backend.test/v1/messages?beta=true');
  assert.deepEqual(Object.keys(seen[2][1]).sort(), ['content-type', 'x-api-key']);
});

test('gateway.ts reads no more than its limit, and follows no redirect', async (t) => {
  const requests = [];
  const listening = async (server) => {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    return `http://127.0.0.1:${server.address().port}`;
  };
  const elsewhere = await listening(
    createServer((request, response) => {
      requests.push(request.headers);
      response.end('{}');
    }),
  );
  const backend = await listening(
    createServer((request, response) => {
      request.resume();
      response.writeHead(307, { location: `${elsewhere}/v1/messages` }).end();
    }),
  );
  const url = await listening(gateway(backend, { dialect: 'anthropic' }, 1000));
  const post = (body) => fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'k' }, body });
  const large = await post('{"model":"m","messages":[]}'.padEnd(1001));
  assert.deepEqual(
    [large.status, (await large.json()).error.message],
    [413, 'expected a body of at most 1000 bytes, found more'],
  );
  assert.equal((await post('{"model":"m","messages":[]}')).status, 502);
  assert.deepEqual(requests, []);
});

test('the SDKs treat a request that cannot be adapted as a bad request, and do not retry', async () => {
  const requests = [];
  const fetch = async (url) => {
    requests.push(String(url));
    return new Response('{}', { status: 500 });
  };
  const adapting = toolwireFetch({ fetch, onSetAside: 'error' });
  let calls = 0;
  const counted = (...given) => {
    calls += 1;
    return adapting(...given);
  };
  const parameters = { type: 'string' };
  const messages = [{ role: 'user', content: 'go' }];

  const anthropic = new Anthropic({ apiKey: 'none', fetch: counted });
  const tool = { name: 'bad', input_schema: parameters };
  await assert.rejects(
    anthropic.messages.create({ model: 'claude', max_tokens: 1, messages, tools: [tool] }),
    (error) => {
      assert.ok(error instanceof AnthropicRefused, error);
      assert.match(error.message, /`bad` at `\/tools\/0\/input_schema` for `anthropic`/);
      assert.equal(error.error.error.code, 'not-representable');
      return true;
    },
  );
  assert.equal(calls, 1);

  const openai = new OpenAI({ apiKey: 'none', fetch: counted });
  const tools = [{ type: 'function', function: { name: 'bad', parameters } }];
  await assert.rejects(openai.chat.completions.create({ model: 'gpt-5', messages, tools }), (error) => {
    assert.ok(error instanceof OpenaiRefused, error);
    assert.equal(error.code, 'not-representable');
    assert.equal(error.param, '/tools/0/function/parameters');
    return true;
  });
  assert.equal(calls, 2);
  const named = { type: 'function', name: 'bad', parameters, strict: false };
  await assert.rejects(openai.responses.create({ model: 'gpt-5', input: 'go', tools: [named] }), OpenaiRefused);
  assert.equal(calls, 3);

  // Google's SDK has no `fetch` option.
  const its = mock.method(globalThis, 'fetch', counted);
  const google = new GoogleGenAI({ apiKey: 'none' });
  const config = { tools: [{ functionDeclarations: [{ name: 'bad', parametersJsonSchema: parameters }] }] };
  await assert.rejects(google.models.generateContent({ model: 'gemini-3-pro', contents: 'go', config }), (error) => {
    assert.ok(error instanceof ApiError, error);
    assert.deepEqual([error.status, /not-representable/.test(error.message)], [400, true]);
    return true;
  });
  its.mock.restore();
  assert.deepEqual([calls, requests], [4, []]);
});
