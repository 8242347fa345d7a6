// Tests the adapter for MCP servers with both versions of the official SDK, each as server and as client.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as next from '@modelcontextprotocol/server';
import { Client as NextClient, StreamableHTTPClientTransport } from 'mcp-client';
import { checkTools } from 'toolwire';
import { toolwireHandlers, toolwireServer } from 'toolwire/mcp';
import * as z from 'zod';
import * as z3 from 'zod/v3';

import { files } from '../dist/mcp-server.js';
import { served, TOOLS } from '../fake/server.js';

/** The call that the tool's server expects. */
const EXPECTED = { name: 'files.read', input: { path: 'README.md', $ref: 'main' } };
const MOONSHOT = { dialect: 'moonshot', repair: true };

/** Sets the handlers of a server without `McpServer`, whose schemas are ordinary JSON Schema, on several pages. */
const SERVERS = {
  'version 1': (list, call) => {
    const server = new Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
    return [
      server,
      () => server.setRequestHandler(ListToolsRequestSchema, list),
      () => server.setRequestHandler(CallToolRequestSchema, call),
    ];
  },
  'version 2': (list, call) => {
    const server = new next.Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
    return [
      server,
      () => server.setRequestHandler('tools/list', list),
      () => server.setRequestHandler('tools/call', call),
    ];
  },
  'version 2, with schemas': (list, call) => {
    const server = new next.Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
    const schemas = { params: z.looseObject({}), result: z.looseObject({}) };
    return [
      server,
      () => server.setRequestHandler('tools/list', schemas, (params, context) => list({ params }, context)),
      () => server.setRequestHandler('tools/call', schemas, (params, context) => call({ params }, context)),
    ];
  },
};

/** Returns a client that is connected to the server. */
async function connected(t, server, client = new Client({ name: 'agent', version: '1.0.0' })) {
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  t.after(() => client.close());
  return client;
}

/** Returns a handler of `tools/list` that lists one tool on each page. */
const paged = (tools) => (request) => {
  const at = Number(request?.params?.cursor ?? 0);
  return { tools: [tools[at]], ...(at + 1 < tools.length ? { nextCursor: `${at + 1}` } : {}) };
};

const PAGES = [...TOOLS, { name: 'files-read', inputSchema: { type: 'object' } }];

for (const [version, made] of Object.entries(SERVERS)) {
  for (const early of [true, false]) {
    test(`toolwireServer, ${version}, wrapped ${early ? 'before' : 'after'} its handlers are set`, async (t) => {
      const calls = [];
      const judged = [];
      const reports = [];
      const call = ({ params }) => ({
        content: [{ type: 'text', text: served(calls, params.name, params.arguments) }],
      });
      const [server, list, run] = made(paged(PAGES), call);
      const options = {
        ...MOONSHOT,
        onRepair: ({ name, valid, repairs }) => judged.push([name, valid, repairs.length]),
        onReport: ({ changes, tools }) => reports.push([changes.length > 0, tools.length]),
      };
      if (early) toolwireServer(server, options);
      for (const set of [list, run]) set();
      if (!early) assert.equal(toolwireServer(server, options), server);
      const client = await connected(t, server);
      // A client that already knows the list.
      const first = await client.callTool({
        name: 'files_read',
        arguments: { path: 'README.md', dollar_ref_: 'main' },
      });
      assert.equal(first.content[0].text, 'Any tool schema, any model.');
      const { tools, nextCursor } = await client.listTools();
      assert.equal(nextCursor, undefined);
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['files_read', 'files-read'],
      );
      assert.deepEqual(checkTools(tools, { dialects: ['moonshot'] }), []);
      await client.callTool({ name: 'files_read', arguments: { path: ['README.md'], dollar_ref_: 'main' } });
      const { isError, content } = await client.callTool({ name: 'files_read', arguments: { dollar_ref_: 'main' } });
      assert.equal(isError, true);
      assert.match(content[0].text, /expected the member `path`/);
      assert.deepEqual(calls, [EXPECTED, EXPECTED]);
      assert.deepEqual(judged, [
        ['files.read', true, 0],
        ['files.read', true, 1],
        ['files.read', false, 0],
      ]);
      assert.deepEqual(reports, [[true, 2]]);
    });
  }
}

for (const [version, made] of Object.entries({
  'version 1': () => new McpServer({ name: 'files', version: '1.0.0' }),
  'version 2': () => new next.McpServer({ name: 'files', version: '1.0.0' }),
  'version 2, with declared tools': () =>
    new next.McpServer({ name: 'files', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } }),
})) {
  test(`toolwireServer, a McpServer of ${version}`, async (t) => {
    const calls = [];
    const server = toolwireServer(made(), { dialect: 'openai-strict', repair: true });
    const inputSchema = z.object({ ids: z.array(z.int()), tags: z.record(z.string(), z.string()).optional() });
    server.registerTool('issues.close', { inputSchema, annotations: { readOnlyHint: true } }, (input) => {
      calls.push(input);
      return { content: [{ type: 'text', text: 'closed' }] };
    });
    const client = await connected(t, server);
    const { tools } = await client.listTools();
    assert.deepEqual(checkTools(tools, { dialects: ['openai-strict'] }), []);
    assert.deepEqual([tools[0].name, tools[0].annotations], ['issues_close', { readOnlyHint: true }]);
    const close = (input) => client.callTool({ name: 'issues_close', arguments: input });
    await close({ ids: '[1, 2]', tags: [{ key: 'a', value: 'b' }] });
    await close({ ids: [3], tags: null });
    assert.deepEqual(calls, [{ ids: [1, 2], tags: { a: 'b' } }, { ids: [3] }]);
    assert.equal((await close({ ids: ['x'] })).isError, true);
    assert.equal(calls.length, 2);
  });
}

test('mcp-server.ts, over HTTP with protocol 2026-07-28', async (t) => {
  const calls = [];
  const handler = next.createMcpHandler(() =>
    files((path, lines) => {
      calls.push([path, lines]);
      return 'text';
    }),
  );
  const url = 'http://127.0.0.1/mcp';
  const versions = [];
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: (to, init) => {
      versions.push(new Headers(init?.headers).get('mcp-protocol-version'));
      return handler.fetch(new Request(to, init));
    },
  });
  const client = new NextClient(
    { name: 'agent', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(transport);
  t.after(() => client.close());
  const { tools } = await client.listTools();
  const found = checkTools(tools, { dialects: ['portable'] });
  assert.deepEqual(
    found.filter(({ severity }) => severity !== 'ignored'),
    [],
  );
  const [{ name }] = tools;
  const result = await client.callTool({ name, arguments: { path: 'a', lines: '[1, 2]' } });
  assert.deepEqual(result.structuredContent, { text: 'text' }, JSON.stringify(result));
  assert.deepEqual(calls, [['a', [1, 2]]]);
  assert.equal(versions.at(-1), '2026-07-28');
});

test('toolwireHandlers: results are checked', async () => {
  const outputSchema = { type: 'object', properties: { rate: { type: 'number' } }, required: ['rate'] };
  const list = () => ({ tools: [{ name: 'rate', inputSchema: { type: 'object' }, outputSchema }] });
  const results = {
    right: { content: [{ type: 'text', text: '1.5' }], structuredContent: { rate: 1.5 } },
    wrong: { content: [{ type: 'text', text: 'none' }], structuredContent: { rate: 'secret' } },
    failed: { content: [], isError: true },
  };
  for (const refuse of [false, true]) {
    const found = [];
    const handlers = toolwireHandlers(
      { list, call: ({ params }) => results[params.arguments?.which ?? 'right'] },
      { dialect: 'portable', results: refuse ? 'refuse' : 'pass', onResult: (result) => found.push(result) },
    );
    const call = (which) =>
      handlers.call({ method: 'tools/call', params: { name: 'rate', ...(which ? { arguments: { which } } : {}) } }, {});
    assert.deepEqual(await call(), results.right);
    assert.deepEqual(await call('failed'), results.failed);
    assert.deepEqual(found, []);
    const wrong = await call('wrong');
    assert.equal(found[0].tool, 'rate');
    assert.equal(found[0].errors[0].pointer, '/structuredContent/rate');
    if (!refuse) assert.deepEqual(wrong, results.wrong);
    else
      assert.match(wrong.content[0].text, /^The result of `rate` does not match .*expected a number, found a string/);
    assert.equal(refuse, wrong.isError === true);
    assert.doesNotMatch(JSON.stringify(found), /secret/);
  }
});

test('toolwireHandlers: results are fitted', async () => {
  const outputSchema = { type: 'object', properties: { rate: { type: 'number' } }, required: ['rate'] };
  const list = () => ({ tools: [{ name: 'rate', inputSchema: { type: 'object' }, outputSchema }] });
  const text = (text) => ({ type: 'text', text });
  const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
  const cycle = {};
  cycle.cycle = cycle;
  const called = async (result, options) => {
    const handlers = toolwireHandlers({ list, call: () => result }, { dialect: 'portable', ...options });
    return handlers.call({ method: 'tools/call', params: { name: 'rate', arguments: {} } }, {});
  };
  const failed = { isError: true, content: [text('no rate')], _meta: { a: 7n } };
  assert.deepEqual(await called({ ...failed, structuredContent: { error: 'x' } }), failed);
  assert.deepEqual(await called({ ...failed, structuredContent: cycle }), failed);
  assert.deepEqual(await called({ ...failed, structuredContent: cycle }, { results: 'refuse' }), failed);
  const filled = { content: [image, text('{"rate":1}')] };
  assert.deepEqual(await called(filled), { ...filled, structuredContent: { rate: 1 } });
  const only = { structuredContent: { rate: 1 } };
  assert.deepEqual(await called(only), { ...only, content: [text('{"rate":1}')] });
  assert.equal(await called(only, { structuredText: 'never' }), only);
  const summary = { content: [text('a rate')], structuredContent: { rate: 1 } };
  assert.equal(await called(summary), summary);
  assert.deepEqual((await called(summary, { structuredText: 'missing' })).content, [
    text('a rate'),
    text('{"rate":1}'),
  ]);
  const drop = { results: 'drop' };
  assert.deepEqual(await called({ ...summary, structuredContent: { rate: 'x' } }, drop), { content: summary.content });
  assert.deepEqual(await called({ ...summary, structuredContent: cycle }, drop), { content: summary.content });
  const handlers = toolwireHandlers({ list, call: () => summary }, { dialect: 'portable', ...drop });
  const { tools } = await handlers.list({ method: 'tools/list' }, {});
  assert.ok(tools.every((tool) => !('outputSchema' in tool)));
});

test('toolwireHandlers: results without content, and results that are not JSON', async (t) => {
  const warn = mock.method(console, 'warn', () => {});
  t.after(() => warn.mock.restore());
  const outputSchema = { type: 'object', properties: { rate: { type: 'number' } }, required: ['rate'] };
  const list = () => ({ tools: [{ name: 'rate', inputSchema: { type: 'object' }, outputSchema }] });
  const found = [];
  const handlers = (results, result, onResult = (checked) => found.push(checked)) =>
    toolwireHandlers({ list, call: () => result }, { dialect: 'portable', results, onResult, structuredText: 'never' });
  const called = (adapted) => adapted.call({ method: 'tools/call', params: { name: 'rate', arguments: {} } }, {});
  const cycle = {};
  cycle.cycle = cycle;
  const wrong = [
    [{ structuredContent: { rate: 'secret' } }, '/structuredContent/rate', 'expected a number, found a string'],
    [{ content: 'x', structuredContent: {} }, '/structuredContent', 'expected the member `rate`'],
    [{}, '', 'expected the member `structuredContent`'],
    [undefined, '', 'expected the member `structuredContent`'],
    [{ content: [], structuredContent: { rate: 7777n } }, '/structuredContent/rate', 'expected a JSON value'],
    [{ content: [], structuredContent: { rate: Number.NaN } }, '/structuredContent/rate', 'expected a JSON value'],
    [{ content: [], structuredContent: cycle }, '/structuredContent/cycle', 'expected a JSON value'],
  ];
  for (const [result, pointer, message] of wrong) {
    assert.equal(await called(handlers('pass', result)), result);
    assert.equal(await called(handlers('pass', result, () => assert.fail())), result);
    assert.equal(await called(handlers('pass', result, () => Promise.reject(new Error('late')))), result);
    const [{ tool, errors }] = found.splice(0);
    assert.deepEqual([tool, errors[0].pointer], ['rate', pointer]);
    assert.ok(errors[0].message.startsWith(message), errors[0].message);
    const { isError, content } = await called(handlers('refuse', result));
    assert.equal(isError, true);
    const at = pointer === '' ? '' : `\`${pointer}\`: `;
    assert.ok(content[0].text.startsWith(`The result of \`rate\` does not match its output schema: ${at}${message}`));
    assert.doesNotMatch(JSON.stringify([errors, content]), /secret|7777/);
    found.splice(0);
  }
  assert.equal(warn.mock.callCount(), 2 * wrong.length);
  // The client receives null for the number, which says nothing about the structured content.
  const priority = { type: 'text', text: 'hi', annotations: { priority: Number.NaN } };
  const others = [
    { task: { taskId: '1' } },
    { resultType: 'task', taskId: '1', status: 'working' },
    { resultType: 'input_required', inputRequests: {} },
    { isError: true },
    { content: [priority], structuredContent: { rate: 1 } },
  ];
  for (const result of others) assert.equal(await called(handlers('refuse', result)), result);
  assert.deepEqual(found, []);
});

test('toolwireServer: tools that cannot be listed are set aside', async (t) => {
  const tools = [{ name: 'a', inputSchema: { type: 'string' } }, ...TOOLS];
  const warn = mock.method(console, 'warn', () => {});
  t.after(() => warn.mock.restore());
  const aside = [];
  for (const onSetAside of [undefined, (found) => aside.push(...found.map(({ name }) => name))]) {
    const server = new next.Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
    toolwireServer(server, { dialect: 'moonshot', onSetAside });
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', () => ({ content: [] }));
    const client = await connected(t, server);
    for (const _ of [1, 2]) assert.equal((await client.listTools()).tools.length, 1);
  }
  assert.equal(warn.mock.callCount(), 1);
  assert.match(warn.mock.calls[0].arguments[0], /`a`/);
  assert.deepEqual(aside, ['a']);
});

for (const [version, schema] of Object.entries({
  'zod 3': z3.object({
    method: z3.literal('tools/call'),
    params: z3.object({ name: z3.literal('files.read'), arguments: z3.object({ path: z3.string() }).passthrough() }),
  }),
  'zod 4': z.object({
    method: z.literal('tools/call'),
    params: z.object({ name: z.literal('files.read'), arguments: z.looseObject({ path: z.string() }) }),
  }),
})) {
  test(`toolwireServer, a handler with a stricter schema of ${version}`, async (t) => {
    const calls = [];
    const server = new Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
    toolwireServer(server, MOONSHOT);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
    server.setRequestHandler(schema, ({ params }) => ({
      content: [{ type: 'text', text: served(calls, params.name, params.arguments) }],
    }));
    const client = await connected(t, server);
    await client.callTool({ name: 'files_read', arguments: { path: 'README.md', dollar_ref_: 'main' } });
    assert.deepEqual(calls, [EXPECTED]);
  });
}

for (const version of ['version 1', 'version 2']) {
  test(`toolwireServer, ${version}: each request for a page is parsed, and keeps the client's parameters`, async (t) => {
    const params = z.looseObject({ size: z.int().default(1) });
    const asked = [];
    const list = (given) => {
      const { _meta, ...rest } = given;
      asked.push(rest);
      return paged(PAGES)({ params: given });
    };
    const call = () => ({ content: [] });
    const [server] = SERVERS[version]();
    toolwireServer(server, MOONSHOT);
    if (version === 'version 1') {
      const schema = z.object({ method: z.literal('tools/list'), params });
      server.setRequestHandler(schema, (request) => list(request.params));
      server.setRequestHandler(CallToolRequestSchema, call);
    } else {
      server.setRequestHandler('tools/list', { params, result: z.looseObject({}) }, list);
      server.setRequestHandler('tools/call', call);
    }
    const client = await connected(t, server);
    const request = { method: 'tools/list', params: { kind: 'file', cursor: 'of another list' } };
    assert.equal((await client.request(request, ListToolsResultSchema)).tools.length, 2);
    await client.callTool({ name: 'files_read', arguments: { path: 'README.md' } });
    assert.deepEqual(asked, [
      { size: 1, kind: 'file' },
      { size: 1, kind: 'file', cursor: '1' },
      { size: 1 },
      { size: 1, cursor: '1' },
    ]);
  });
}

for (const [version, made] of Object.entries(SERVERS)) {
  test(`toolwireServer, ${version}: a cancelled call does not run`, async (t) => {
    const controller = new AbortController();
    const done = [];
    const list = async (_, context) => {
      const { signal } = context.mcpReq ?? context;
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      done.push('list');
      controller.abort('enough');
      await aborted;
      return { tools: TOOLS };
    };
    const [server, setList, setCall] = made(list, () => done.push('call'));
    toolwireServer(server, MOONSHOT);
    setList();
    setCall();
    const client = await connected(t, server);
    const call = { name: 'files_read', arguments: { path: 'README.md' } };
    await assert.rejects(client.callTool(call, undefined, { signal: controller.signal }), /enough/);
    // The server answers later requests only after it has handled the cancelled one.
    await client.ping();
    assert.deepEqual(done, ['list']);
  });
}

test('toolwireHandlers: a cancelled request ends between two pages', async () => {
  for (const context of [({ signal }) => ({ signal }), ({ signal }) => ({ mcpReq: { signal } })]) {
    const controller = new AbortController();
    let pages = 0;
    const list = () => {
      pages += 1;
      if (pages === 2) controller.abort();
      return { tools: [], nextCursor: `${pages}` };
    };
    const handlers = toolwireHandlers({ list, call: () => assert.fail() }, MOONSHOT);
    await assert.rejects(handlers.list({ method: 'tools/list' }, context(controller)), { name: 'AbortError' });
    assert.equal(pages, 2);
  }
});

test('toolwireHandlers: the end of a list, and lists without an end', async () => {
  const listed = async (page) => {
    let pages = 0;
    const list = ({ params }) => {
      pages += 1;
      return page(params.cursor);
    };
    const handlers = toolwireHandlers({ list, call: () => assert.fail() }, MOONSHOT);
    const result = await handlers.list({ method: 'tools/list' }, {}).catch(({ message }) => message);
    return [typeof result === 'string' ? result : Object.keys(result), pages];
  };
  for (const nextCursor of [null, '', undefined])
    assert.deepEqual(await listed(() => ({ tools: TOOLS, nextCursor })), [['tools'], 1]);
  assert.deepEqual(await listed((cursor) => ({ tools: [], nextCursor: cursor === 'a' ? 'b' : 'a' })), [
    'toolwire: expected a new cursor on each page of tools, found a repeated one',
    3,
  ]);
  // Each character has two bytes.
  const description = 'é'.repeat(1 << 22);
  const large = (cursor = '0') => ({ tools: [{ ...TOOLS[0], description }], nextCursor: `${Number(cursor) + 1}` });
  assert.deepEqual(await listed(large), ['toolwire: expected at most 64 MiB of tools, found more', 8]);
  assert.deepEqual(await listed(() => undefined), [
    'toolwire: expected the result of `tools/list` to have a list `tools`, found none',
    1,
  ]);
});

test('toolwireHandlers: a list that is changed afterwards does not affect others', async () => {
  const onReport = ({ tools }) => tools.splice(0);
  const handlers = toolwireHandlers(
    { list: () => ({ tools: TOOLS }), call: () => ({ content: [] }) },
    { ...MOONSHOT, onReport },
  );
  const list = () => handlers.list({ method: 'tools/list' }, {});
  const first = await list();
  const expected = structuredClone(first);
  assert.equal(first.tools.length, 1);
  first.tools[0].inputSchema.properties = {};
  first.tools.push({ name: 'other' });
  assert.deepEqual(await list(), expected);
});

test('toolwireHandlers: a call by the own name of a renamed tool is restored and repaired', async () => {
  const calls = [];
  const tools = [...TOOLS, { name: 'files_read', inputSchema: { type: 'object' } }, { name: 'a', inputSchema: false }];
  const handlers = toolwireHandlers(
    {
      list: () => ({ tools }),
      call: ({ params }) => {
        calls.push([params.name, params.arguments]);
        return { content: [] };
      },
    },
    { ...MOONSHOT, onSetAside: () => {} },
  );
  const call = (name, input) => handlers.call({ method: 'tools/call', params: { name, arguments: input } }, {});
  assert.doesNotMatch(JSON.stringify(await handlers.list({ method: 'tools/list' }, {})), /files\.read/);
  await call('files.read', { path: ['README.md'], dollar_ref_: 'main' });
  assert.equal((await call('files.read', { dollar_ref_: 'main' })).isError, true);
  // A listed name belongs to the tool that has it in the list.
  await call('files_read', { dollar_ref_: 'main' });
  // Tools that are not listed are the server's own matter.
  await call('a', { path: [] });
  assert.deepEqual(calls, [
    ['files.read', { path: 'README.md', $ref: 'main' }],
    ['files_read', { dollar_ref_: 'main' }],
    ['a', { path: [] }],
  ]);
});

test('toolwireServer: wrong options and other objects are errors', () => {
  const server = () => new McpServer({ name: 'files', version: '1.0.0' });
  const refused = (options, code, pointer, made = server()) =>
    assert.throws(
      () => toolwireServer(made, options),
      (error) => error.code === code && error.pointer === pointer,
      code,
    );
  refused({ dialect: 'moonshoot' }, 'unknown-dialect', '/dialect');
  refused({ dialect: 'moonshot', format: 'anthropic' }, 'unknown-option', '/format');
  refused({ dialect: 'moonshot', results: 'strip' }, 'invalid-option', '/results');
  refused({ dialect: 'moonshot', structuredText: 'always' }, 'invalid-option', '/structuredText');
  refused({ dialect: 'moonshot', onRepair: true }, 'invalid-option', '/onRepair');
  refused({ dialect: 'moonshot', surprise: 1 }, 'unknown-option', '/surprise');
  refused({ dialect: 'moonshot' }, 'invalid-value', '', {});
});
