// Tests the processor for Mastra's agents with Mastra itself and a fake API.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { jsonSchema, tool, wrapLanguageModel } from 'ai';
import { toolwireMiddleware } from 'toolwire/ai';
import { toolwireProcessor } from 'toolwire/mastra';
import { z } from 'zod';

import { ask } from '../dist/mastra-processor.js';
import { backend } from '../fake/backend.js';
import { served, TOOLS } from '../fake/server.js';

/** The model's call to the tool in a dialect that renames `$ref`. */
const ENCODED = { name: 'files_read', input: { path: 'README.md', dollar_ref_: 'main' } };
/** The call that the tool's server expects. */
const EXPECTED = [{ name: 'files.read', input: { path: 'README.md', $ref: 'main' } }];
const DONE = { text: 'It says: any model.' };

const MODELS = {
  'the AI SDK': (url) => createOpenAICompatible({ name: 'moonshot', baseURL: url })('kimi-k2'),
  "Mastra's router": (url) => ({ id: 'moonshot/kimi-k2', url, apiKey: 'none' }),
};

for (const streams of [false, true]) {
  for (const [kind, model] of Object.entries(MODELS)) {
    const how = `${streams ? 'streamed' : 'whole'}, a model of ${kind}`;

    test(`mastra-processor.ts, ${how}`, async (t) => {
      const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
      const calls = [];
      const reports = [];
      const onReport = (report, { model, tools }) =>
        reports.push([report.dialect, model, tools.map(({ name }) => name)]);
      const call = async (name, input) => served(calls, name, input);
      assert.equal(await ask(model(url), TOOLS, call, streams, { onReport }), DONE.text);
      assert.deepEqual(calls, EXPECTED);
      assert.equal(got.length, 2);
      // The history has the name that was sent.
      const [sent] = got[1].messages.flatMap(({ tool_calls: found }) => found ?? []);
      assert.equal(sent.function.name, 'files_read');
      assert.deepEqual(reports, Array(2).fill(['moonshot', 'kimi-k2', ['files_read']]));
    });

    test(`toolwire/mastra: arguments are repaired, or the model reads the error, ${how}`, async (t) => {
      const script = [
        { name: 'files_read', input: '{"path": ["README.md"], "dollar_ref_": "main"' },
        { name: 'files_read', input: { dollar_ref_: 'main' } },
        { name: 'files_read', input: '{"path": 7, "dollar_ref_": "main",}' },
        DONE,
      ];
      const { url, got } = await backend(t, 'moonshot', script);
      const calls = [];
      const judged = [];
      const onRepair = (found) => judged.push(...found.map(({ valid }) => valid));
      const call = async (name, input) => served(calls, name, input);
      assert.equal(await ask(model(url), TOOLS, call, streams, { onRepair }), DONE.text);
      assert.deepEqual(calls, [{ name: 'files.read', input: { path: '7', $ref: 'main' } }]);
      assert.deepEqual(judged, [false, false, true]);
      const results = got[3].messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      assert.match(results[0], /truncated text/);
      assert.match(results[1], /expected the member `path`/);
    });
  }
}

/** Returns an agent with these tools. */
function agent(url, tools, inputProcessors, model = MODELS['the AI SDK'](url)) {
  return new Agent({ id: 'a', name: 'a', instructions: 'Go.', model, tools, inputProcessors });
}

test('toolwire/mastra: the API refuses the tools without toolwire', async (t) => {
  const { url, got } = await backend(t, 'moonshot', [ENCODED, DONE]);
  const [{ name, description, inputSchema }] = TOOLS;
  const read = tool({ description, inputSchema: jsonSchema(inputSchema), execute: async () => '' });
  await assert.rejects(
    agent(url, { [name]: read }).generate('Read.', { modelSettings: { maxRetries: 0 } }),
    /files.read/,
  );
  assert.equal(got.length, 0);
});

test("toolwire/mastra: calls to Mastra's own tools are repaired, and an unusable tool is set aside", async (t) => {
  const { url, got } = await backend(t, 'moonshot', [
    { name: 'look_up', input: { word: 7 } },
    { name: 'look_up', input: {} },
    { name: 'look_up', input: { word: 'oslo' } },
    DONE,
  ]);
  const runs = [];
  const lookUp = createTool({
    id: 'look.up',
    description: 'd',
    inputSchema: z.object({ word: z.string() }),
    execute: async ({ word }) => {
      runs.push(word);
      return 'a city';
    },
  });
  const count = tool({ description: 'd', inputSchema: jsonSchema({ type: 'integer' }), execute: async () => '' });
  const aside = [];
  const onSetAside = (tools) => aside.push(...tools.map(({ name }) => name));
  const processor = toolwireProcessor({ dialect: 'moonshot', repair: true, onSetAside });
  const { text } = await agent(url, { 'look.up': lookUp, count }, [processor]).generate('Look.');
  assert.equal(text, DONE.text);
  assert.deepEqual(runs, ['7', 'oslo']);
  assert.deepEqual(
    got.map(({ tools }) => tools.map((one) => one.function.name)),
    Array(4).fill(['look_up']),
  );
  assert.deepEqual(new Set(aside), new Set(['count']));
});

test('toolwire/ai: calls are restored for a model of the AI SDK in Mastra', async (t) => {
  const { url } = await backend(t, 'moonshot', [ENCODED, DONE]);
  const [{ name, description, inputSchema }] = TOOLS;
  const calls = [];
  const execute = async (input) => served(calls, name, input);
  const middleware = toolwireMiddleware({ dialect: 'moonshot' });
  const model = wrapLanguageModel({ model: MODELS['the AI SDK'](url), middleware });
  await agent(
    url,
    { [name]: tool({ description, inputSchema: jsonSchema(inputSchema), execute }) },
    [],
    model,
  ).generate('Read.');
  assert.deepEqual(calls, EXPECTED);
});

for (const streams of [false, true]) {
  for (const [adapter, adapt] of Object.entries({
    'toolwire/mastra': (options) => [toolwireProcessor(options), undefined],
    'toolwire/ai': (options) => [undefined, toolwireMiddleware(options)],
  })) {
    // Without an adapter, Mastra runs a call with `{}` if it cannot parse the arguments.
    test(`${adapter}: truncated calls do not run in Mastra, ${streams ? 'streamed' : 'whole'}`, async (t) => {
      for (const repair of [false, true]) {
        for (const [input, finish, expected] of [
          ['{"path": "x', 'length', []],
          ['{"path": "x"', 'length', []],
          ['{"pa', 'tool_calls', []],
          ['', 'length', []],
          ['', 'tool_calls', [{}]],
          ['{"path": "x"}', 'length', [{ path: 'x' }]],
        ]) {
          // Truncated arguments may be repaired if the reply is whole and did not end at a limit.
          if (repair && finish === 'tool_calls' && input !== '') continue;
          const { url } = await backend(t, 'moonshot', [{ name: 'read', input, finish }, DONE]);
          const runs = [];
          const read = createTool({
            id: 'read',
            description: 'd',
            inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
            execute: async (found) => runs.push(found),
          });
          const [processor, middleware] = adapt({ dialect: 'moonshot', repair });
          const tools = { read };
          const model = middleware && wrapLanguageModel({ model: MODELS['the AI SDK'](url), middleware });
          const one = agent(url, middleware?.guarded(tools) ?? tools, processor ? [processor] : [], model);
          await (streams ? (await one.stream('Read.')).text : one.generate('Read.'));
          assert.deepEqual(runs, expected, `${repair} ${finish} ${input}`);
        }
      }
    });
  }
}

test('toolwire/mastra: a frozen model is adapted and keeps its class', async () => {
  class Model {
    specificationVersion = 'v2';
    modelId = 'kimi-k2';
    doStream = async (params) => {
      const [{ name: toolName }] = params.tools;
      const call = { type: 'tool-call', toolCallId: 'a', toolName, input: '{}' };
      return { stream: ReadableStream.from([call, { type: 'finish', finishReason: 'tool-calls' }]) };
    };
  }
  const own = Object.freeze(new Model());
  const { model } = toolwireProcessor({ dialect: 'moonshot' }).processInputStep({ model: own });
  assert.ok(model instanceof Model);
  assert.equal(model.constructor, Model);
  assert.equal({ ...model }.modelId, 'kimi-k2');
  const tools = [{ type: 'function', name: 'files.read', inputSchema: { type: 'object', properties: {} } }];
  const { stream } = await model.doStream({ prompt: [], tools });
  const names = [];
  for await (const { toolName } of stream) names.push(toolName);
  assert.deepEqual(names, ['files.read', undefined]);
});

test('toolwire/mastra: wrong options and an older Mastra are errors', () => {
  assert.throws(() => toolwireProcessor({ dialect: 'moonshine' }), { code: 'unknown-dialect' });
  const { processInputStep } = toolwireProcessor({ dialect: 'moonshot' });
  assert.throws(() => processInputStep({ model: { specificationVersion: 'v1' } }), /npm install @mastra\/core@1/);
});
