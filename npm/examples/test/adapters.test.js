// Tests the adapters, each with its real framework, against the fake API.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import { AIMessage, createAgent, DynamicStructuredTool, ToolMessage } from 'langchain';
import { toolwireMiddleware } from 'toolwire/ai';
import { toolwireMiddleware as toolwireLangchain } from 'toolwire/langchain';

import * as langchain from '../dist/langchain-middleware.js';
import * as vercel from '../dist/vercel-ai-middleware.js';
import { backend } from '../fake/backend.js';
import { served, TOOLS } from '../fake/server.js';

/** The model's call to the tool in a dialect that renames `$ref`. */
const ENCODED = { name: 'files_read', input: { path: 'README.md', dollar_ref_: 'main' } };
/** The call that the tool's server expects. */
const EXPECTED = [{ name: 'files.read', input: { path: 'README.md', $ref: 'main' } }];
const DONE = { text: 'It says: any model.' };

/** Returns the AI SDK's tools, without an adapter. */
function plain(published, call) {
  return Object.fromEntries(
    published.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute: (input) => call(name, input) }),
    ]),
  );
}

for (const streams of [false, true]) {
  const how = streams ? 'streamed' : 'whole';

  test(`vercel-ai-middleware.ts, ${how}`, async (t) => {
    const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
    const calls = [];
    const reports = [];
    const onReport = (report, sent) => reports.push([report.dialect, sent.model, sent.tools.map(({ name }) => name)]);
    const ask = vercel.ask(url, TOOLS, async (name, input) => served(calls, name, input), streams, { onReport });
    assert.equal(await ask, DONE.text);
    assert.deepEqual(calls, EXPECTED);
    assert.equal(got.length, 2);
    // The history has the name that was sent.
    assert.equal(got[1].messages[1].tool_calls[0].function.name, 'files_read');
    assert.deepEqual(reports, Array(2).fill(['moonshot', 'kimi-k2', ['files_read']]));
  });

  test(`toolwire/ai: the API refuses the tools without toolwire, ${how}`, async (t) => {
    const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
    const model = createOpenAICompatible({ name: 'moonshot', baseURL: url })('kimi-k2');
    const request = { model, prompt: 'Read.', tools: plain(TOOLS, () => ''), onError: () => {} };
    const text = streams ? streamText(request).text : generateText(request);
    await assert.rejects(text, streams ? /No output generated/ : /files.read/);
    assert.equal(got.length, 0);
  });

  test(`toolwire/ai: arguments are repaired, or the model reads the error, ${how}`, async (t) => {
    const script = [
      { name: 'files_read', input: '{"path": ["README.md"], "dollar_ref_": "main"' },
      { name: 'files_read', input: '{"path": 7, "dollar_ref_": "main",}' },
      DONE,
    ];
    const { url, got } = await backend(t, 'moonshot', script);
    const calls = [];
    const repaired = [];
    const onRepair = (found) => repaired.push(...found.map(({ name, valid }) => [name, valid]));
    const call = async (name, input) => served(calls, name, input);
    assert.equal(await vercel.ask(url, TOOLS, call, streams, { onRepair }), DONE.text);
    assert.deepEqual(calls, [{ name: 'files.read', input: { path: '7', $ref: 'main' } }]);
    assert.deepEqual(repaired, [
      ['files.read', false],
      ['files.read', true],
    ]);
    const { content } = got[1].messages.find(({ role }) => role === 'tool');
    assert.match(content, /The arguments of `files_read`/);
  });

  test(`toolwire/ai: values that cannot be repaired do not reach the tool, ${how}`, async (t) => {
    const wrong = { name: 'files_read', input: { dollar_ref_: 'main' } };
    const { url, got } = await backend(t, 'moonshot', [wrong, DONE]);
    const calls = [];
    await vercel.ask(url, TOOLS, async (name, input) => served(calls, name, input), streams);
    assert.deepEqual(calls, []);
    assert.match(got[1].messages.find(({ role }) => role === 'tool').content, /expected the member `path`/);
  });
}

test('toolwire/ai: pieces of calls that need no repair and no decoding pass at once', async (t) => {
  const { url } = await backend(t, 'moonshot', [{ name: 'look_up', input: { word: 'oslo' } }, DONE]);
  const look = {
    name: 'look.up',
    description: 'd',
    inputSchema: { type: 'object', properties: { word: { type: 'string' } } },
  };
  const model = wrapLanguageModel({
    model: createOpenAICompatible({ name: 'moonshot', baseURL: url })('kimi-k2'),
    middleware: toolwireMiddleware({ dialect: 'moonshot' }),
  });
  const pieces = [];
  const { stream } = streamText({
    model,
    prompt: 'Look.',
    tools: plain([look], () => 'a city'),
    stopWhen: isStepCount(2),
  });
  for await (const part of stream)
    if (part.type.startsWith('tool-input')) pieces.push(part.toolName ?? part.delta ?? '');
  assert.deepEqual(pieces, ['look.up', '{"word"', ':"oslo"}', '']);
});

test('toolwire/ai: choices and past calls are renamed, and a tool that is set aside cannot be forced', async (t) => {
  const { url, got } = await backend(t, 'moonshot', [ENCODED]);
  const broken = { name: 'count', description: 'd', inputSchema: { type: 'integer' } };
  const aside = [];
  const onSetAside = (tools, { dialect }) => aside.push([dialect, ...tools.map(({ name }) => name)]);
  const model = wrapLanguageModel({
    model: createOpenAICompatible({ name: 'moonshot', baseURL: url })('kimi-k2'),
    middleware: toolwireMiddleware({ dialect: 'moonshot', onSetAside }),
  });
  const messages = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'old.tool', input: {} }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'old.tool', output: { type: 'text', value: 'x' } }],
    },
  ];
  const tools = plain([...TOOLS, broken], () => '');
  await generateText({ model, messages, tools, toolChoice: { type: 'tool', toolName: 'files.read' } });
  assert.deepEqual(got[0].tool_choice, { type: 'function', function: { name: 'files_read' } });
  assert.match(got[0].messages[1].tool_calls[0].function.name, /^old_tool/);
  assert.deepEqual(
    got[0].tools.map((tool) => tool.function.name),
    ['files_read'],
  );
  assert.deepEqual(aside, [['moonshot', 'count']]);
  const forced = generateText({ model, prompt: 'Go.', tools, toolChoice: { type: 'tool', toolName: 'count' } });
  await assert.rejects(forced, { code: 'invalid-request' });
});

test('toolwire/ai: a tool is forced for a thinking model unless its settings forbid it', async (t) => {
  const { url, got } = await backend(t, 'moonshot', [ENCODED]);
  const model = wrapLanguageModel({
    model: createOpenAICompatible({ name: 'moonshot', baseURL: url })('kimi-k2.6'),
    middleware: toolwireMiddleware({ dialect: 'moonshot' }),
  });
  const toolChoice = { type: 'tool', toolName: 'files.read' };
  await generateText({ model, prompt: 'Go.', tools: plain(TOOLS, () => ''), toolChoice });
  assert.equal(got[0].tool_choice.function.name, 'files_read');
});

test('toolwire/ai: tools that are set aside are named by console.warn', async (t) => {
  const { url } = await backend(t, 'moonshot', [{ text: 'done' }]);
  const warn = mock.method(console, 'warn', () => {});
  const model = wrapLanguageModel({
    model: createOpenAICompatible({ name: 'moonshot', baseURL: url })('kimi-k2'),
    middleware: toolwireMiddleware({ dialect: 'moonshot' }),
  });
  const broken = { name: 'number', description: 'd', inputSchema: { type: 'integer' } };
  await generateText({ model, prompt: 'Go.', tools: plain([...TOOLS, broken], () => '') });
  warn.mock.restore();
  assert.ok(warn.mock.calls.some(({ arguments: [text] }) => /`number`/.test(text)));
});

test('toolwire/ai: wrong options and an older AI SDK are errors', async () => {
  assert.throws(() => toolwireMiddleware({ dialect: 'moonshot', repairs: true }), { code: 'unknown-option' });
  assert.throws(() => toolwireMiddleware({ dialect: 'moonshine' }), { code: 'unknown-dialect' });
  const { transformParams } = toolwireMiddleware({ dialect: 'moonshot' });
  const old = transformParams({ type: 'generate', params: { prompt: [] }, model: { specificationVersion: 'v3' } });
  await assert.rejects(old, /npm install ai@7/);
});

for (const streams of [false, true]) {
  const how = streams ? 'streamed' : 'whole';

  test(`langchain-middleware.ts, ${how}`, async (t) => {
    const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
    const calls = [];
    const reports = [];
    const onReport = (report, sent) => reports.push([report.dialect, sent.model, sent.tools.map(({ name }) => name)]);
    const call = async (name, input) => served(calls, name, input);
    assert.equal(await langchain.ask(url, TOOLS, call, streams, { onReport }), DONE.text);
    assert.deepEqual(calls, EXPECTED);
    assert.deepEqual(
      got.map(({ stream }) => stream ?? false),
      [streams, streams],
    );
    assert.equal(got[1].messages[1].tool_calls[0].function.name, 'files_read');
    assert.deepEqual(reports, Array(2).fill(['moonshot', 'kimi-k2', ['files_read']]));
  });

  test(`toolwire/langchain: arguments are repaired, or the model reads the error, ${how}`, async (t) => {
    const script = [
      { name: 'files_read', input: 'path=README.md' },
      { name: 'files_read', input: '{"dollar_ref_": "main"}' },
      { name: 'files_read', input: '{"path": 7, "dollar_ref_": "main"}' },
      DONE,
    ];
    const { url, got } = await backend(t, 'moonshot', script);
    const calls = [];
    const repaired = [];
    const onRepair = (found) => repaired.push(...found.map(({ valid }) => valid));
    const call = async (name, input) => served(calls, name, input);
    assert.equal(await langchain.ask(url, TOOLS, call, streams, { onRepair }), DONE.text);
    assert.deepEqual(calls, [{ name: 'files.read', input: { path: '7', $ref: 'main' } }]);
    assert.deepEqual(repaired, [false, false, true]);
    assert.match(got[1].messages.at(-1).content, /The arguments of `files_read`/);
    assert.match(got[2].messages.at(-1).content, /expected the member `path`/);
  });
}

test('toolwire/langchain: the API refuses the tools without toolwire', async (t) => {
  const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
  const schema = { type: 'object', properties: {} };
  const tools = [new DynamicStructuredTool({ name: 'files.read', description: 'd', schema, func: () => '' })];
  const model = new ChatOpenAI({ model: 'kimi-k2', apiKey: 'none', configuration: { baseURL: url } });
  await assert.rejects(
    createAgent({ model, tools }).invoke({ messages: [{ role: 'user', content: 'Go.' }] }),
    /files.read/,
  );
  assert.equal(got.length, 0);
});

test('toolwire/langchain: a call to a removed tool is renamed, and a tool that is set aside is reported', async (t) => {
  const { url, got } = await backend(t, 'moonshot', [DONE]);
  const aside = [];
  const onSetAside = (tools) => aside.push(...tools.map(({ name }) => name));
  const schema = { type: 'object', properties: { word: { type: 'string' } } };
  const tools = [
    new DynamicStructuredTool({ name: 'look.up', description: 'd', schema, func: () => '' }),
    new DynamicStructuredTool({ name: 'count', description: 'd', schema: { type: 'integer' }, func: () => '' }),
  ];
  const model = new ChatOpenAI({ model: 'kimi-k2', apiKey: 'none', configuration: { baseURL: url } });
  const middleware = [toolwireLangchain({ dialect: 'moonshot', onSetAside })];
  const messages = [
    { role: 'user', content: 'Go.' },
    new AIMessage({ content: '', tool_calls: [{ id: 'a', name: 'old.tool', args: {} }] }),
    new ToolMessage({ content: 'x', tool_call_id: 'a', name: 'old.tool' }),
  ];
  await createAgent({ model, tools, middleware }).invoke({ messages });
  assert.match(got[0].messages[1].tool_calls[0].function.name, /^old_tool/);
  assert.deepEqual(
    got[0].tools.map((tool) => tool.function.name),
    ['look_up'],
  );
  assert.deepEqual(aside, ['count']);
});
