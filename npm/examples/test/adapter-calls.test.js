// Tests the adapters of frameworks with unusual calls and lists: equal ids, names of hosted tools, other formats of tools.
// The models are scripted, because a real API does not send such replies on request.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from 'ai';
import {
  AIMessage,
  createAgent,
  createMiddleware,
  DynamicStructuredTool,
  HumanMessage,
  ToolMessage,
  toolStrategy,
} from 'langchain';
import { toolwireMiddleware } from 'toolwire/ai';
import { toolwireMiddleware as toolwireLangchain } from 'toolwire/langchain';

const EMPTY = { type: 'object', properties: {} };
const REF = { type: 'object', properties: { $ref: { type: 'string' } }, required: ['$ref'] };
const PAY = {
  type: 'object',
  properties: { account: { type: 'string' }, amount: { type: 'number' } },
  required: ['account', 'amount'],
};
const WRONG = { account: 'alice' };
const RIGHT = { account: 'bob', amount: 1 };
/** An id in Kimi's form, numbered within each reply. */
const ID = 'functions.pay:0';

/** A gate that is closed until `open` is called. `wait` waits at it, and `reached` resolves when the first caller waits. */
function gated() {
  let open;
  let reach;
  const promise = new Promise((resolve) => (open = resolve));
  const reached = new Promise((resolve) => (reach = resolve));
  const wait = () => {
    reach();
    return promise;
  };
  return { wait, reached, open };
}

/** A model of the AI SDK that replies with one list of parts for each request, and records the requests. */
function scripted(...replies) {
  return ending('stop', ...replies);
}

/** Like {@link scripted}, with the reason why each reply ends. */
function ending(unified, ...replies) {
  const got = [];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const finish = { unified, raw: undefined };
  const next = (params) => {
    got.push(params);
    return replies.shift() ?? [{ type: 'text', text: 'done' }];
  };
  return {
    got,
    specificationVersion: 'v4',
    provider: 'p',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: async (params) => ({ content: next(params), finishReason: finish, usage, warnings: [] }),
    async doStream(params) {
      const parts = next(params);
      async function* events() {
        yield { type: 'stream-start', warnings: [] };
        for (const part of parts) {
          if (typeof part === 'function') await part();
          else if (part.type !== 'text') yield part;
        }
        yield { type: 'finish', finishReason: finish, usage };
      }
      return { stream: ReadableStream.from(events()) };
    },
  };
}

const called = (input, toolCallId = ID) => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'pay',
  input: JSON.stringify(input),
});

/** Runs a streamed request with a model of the AI SDK. `runs` collects the arguments that reach the tool. */
async function pays(toolwire, model, runs, inputSchema = jsonSchema(PAY)) {
  const tools = { pay: tool({ inputSchema, execute: (input) => void runs.push(input) }) };
  const { steps } = streamText({
    model: wrapLanguageModel({ model, middleware: toolwire }),
    prompt: 'Pay.',
    tools: toolwire.guarded(tools),
    repairToolCall: toolwire.repairToolCall,
    stopWhen: isStepCount(2),
  });
  return JSON.stringify(await steps, (_, value) => (value instanceof Error ? value.message : value));
}

for (const [slow, fast] of [
  [WRONG, RIGHT],
  [RIGHT, WRONG],
]) {
  test(`toolwire/ai: equal ids in two conversations do not clash while ${JSON.stringify(slow)} waits`, async () => {
    const toolwire = toolwireMiddleware({ dialect: 'moonshot', repair: true });
    const gate = gated();
    const runs = { slow: [], fast: [] };
    const first = pays(toolwire, scripted([called(slow), gate.wait]), runs.slow);
    await gate.reached;
    const second = await pays(toolwire, scripted([called(fast)]), runs.fast);
    gate.open();
    const ran = (given) => (given === RIGHT ? [RIGHT] : []);
    const slowText = await first;
    assert.deepEqual(runs, { slow: ran(slow), fast: ran(fast) });
    for (const [given, text] of [
      [slow, slowText],
      [fast, second],
    ])
      assert.equal(/The arguments of `pay`/.test(text), given === WRONG);
  });
}

test('toolwire/ai: two calls with the same id in a reply are validated separately', async () => {
  for (const id of [ID, '']) {
    const toolwire = toolwireMiddleware({ dialect: 'moonshot', repair: true });
    const runs = [];
    await pays(toolwire, scripted([called(WRONG, id), called(RIGHT, id)]), runs);
    assert.deepEqual(runs, [RIGHT]);
  }
});

test('toolwire/ai: a refused call does not run with arguments that its own schema transformed', async () => {
  const lenient = jsonSchema(PAY, { validate: () => ({ success: true, value: RIGHT }) });
  const toolwire = toolwireMiddleware({ dialect: 'moonshot', repair: true });
  const runs = [];
  const text = await pays(toolwire, scripted([called(WRONG)]), runs, lenient);
  assert.deepEqual(runs, []);
  assert.match(text, /The arguments of `pay`/);
});

test("toolwire/ai: no tool is sent with the name of a provider's tool", async () => {
  for (const dialect of ['moonshot', 'xai', 'mistral']) {
    const model = scripted();
    const hosted = { type: 'provider', id: 'p.web_search', name: 'web_search', args: {} };
    const reports = [];
    const middleware = toolwireMiddleware({
      dialect,
      onSetAside: 'error',
      onReport: (_, { tools }) => reports.push(tools),
    });
    await wrapLanguageModel({ model, middleware }).doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }],
      tools: [{ type: 'function', name: 'web.search', inputSchema: EMPTY }, hosted],
    });
    const [{ tools }] = model.got;
    assert.deepEqual(tools[1], hosted);
    assert.match(tools[0].name, /^web_search_/);
    assert.deepEqual(
      reports.map((sent) => sent.map(({ name }) => name)),
      [[tools[0].name]],
    );
  }
});

test('toolwire/ai: a call to another tool in the history does not take the name of a listed one', async () => {
  const begun = { type: 'tool-input-start', id: ID, toolName: 'files_read' };
  const model = scripted([begun, { ...called({ path: 'x' }), toolName: 'files_read' }]);
  const middleware = toolwireMiddleware({ dialect: 'moonshot' });
  const stream = await wrapLanguageModel({ model, middleware }).doStream({
    prompt: [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'files_read', input: {} }],
      },
    ],
    tools: [{ type: 'function', name: 'files.read', inputSchema: EMPTY }],
  });
  const parts = [];
  for await (const part of stream.stream) parts.push(part);
  const names = parts.flatMap(({ toolName }) => toolName ?? []);
  assert.deepEqual(names, ['files.read', 'files.read']);
});

const LIST = { type: 'object', properties: { ids: { type: 'array', items: { type: 'string' } } } };

for (const streams of [false, true]) {
  const how = streams ? 'streamed' : 'whole';

  test(`toolwire/ai: a truncated call is not closed and does not run, ${how}`, async () => {
    for (const [input, unified, valid, ran] of [
      ['{"ids": ["a"', 'length', false, []],
      ['{"ids": ["a"', 'stop', !streams, streams ? [] : [{ ids: ['a'] }]],
      // The AI SDK itself does not run the calls of such a reply.
      ['', 'length', false, []],
      ['{"ids": ["a"]}', 'length', true, []],
      ['', 'stop', true, [{}]],
    ]) {
      const judged = [];
      const onRepair = (calls) => judged.push(...calls.map((call) => call.valid));
      const toolwire = toolwireMiddleware({ dialect: 'moonshot', repair: { truncated: 'close' }, onRepair });
      const runs = [];
      const pay = tool({ inputSchema: jsonSchema(LIST), execute: (found) => void runs.push(found) });
      const request = {
        model: wrapLanguageModel({ model: ending(unified, [{ ...called({}), input }]), middleware: toolwire }),
        prompt: 'Pay.',
        tools: toolwire.guarded({ pay }),
        repairToolCall: toolwire.repairToolCall,
      };
      await (streams ? streamText(request).steps : generateText(request));
      assert.deepEqual([judged, runs], [[valid], ran], `${unified} ${input}`);
    }
  });
}

test('toolwire/ai: arguments in the history that are not an object are sent as one', async () => {
  const model = scripted();
  const past = (input) => ({ type: 'tool-call', toolCallId: 'a', toolName: 'files.read', input });
  const inputs = [{ $ref: 'x' }, '{"$ref": "y"', '{"$ref": "z"}', ['a'], 'pwd', null];
  await wrapLanguageModel({ model, middleware: toolwireMiddleware({ dialect: 'moonshot' }) }).doGenerate({
    prompt: [{ role: 'assistant', content: inputs.map(past) }],
    tools: [{ type: 'function', name: 'files.read', inputSchema: REF }],
  });
  const [{ content }] = model.got[0].prompt;
  assert.deepEqual(
    content.map(({ toolName, input }) => [toolName, input]),
    [{ $ref: 'x' }, { $ref: 'y' }, { $ref: 'z' }, {}, {}, {}].map((input) => ['files_read', input]),
  );
});

test('toolwire/ai: only examples that match the sent schema are sent', async () => {
  const model = scripted();
  const examples = (...inputs) => inputs.map((input) => ({ input }));
  await wrapLanguageModel({ model, middleware: toolwireMiddleware({ dialect: 'moonshot' }) }).doGenerate({
    prompt: [],
    tools: [
      { type: 'function', name: 'files.read', inputSchema: REF, inputExamples: examples({ $ref: 'x' }) },
      { type: 'function', name: 'pay', inputSchema: PAY, inputExamples: examples(RIGHT, WRONG) },
    ],
  });
  assert.deepEqual(
    model.got[0].tools.map(({ inputExamples }) => inputExamples),
    [undefined, examples(RIGHT)],
  );
});

test("toolwire/ai: a tool that is a class instance keeps its class's members", async () => {
  class Counter {
    count = 1;
    inputSchema = jsonSchema(EMPTY);
    execute() {
      return this.count;
    }
  }
  const toolwire = toolwireMiddleware({ dialect: 'moonshot' });
  const { counter } = toolwire.guarded({ counter: new Counter() });
  assert.equal(counter.execute({}, { toolCallId: 'a' }), 1);
  const model = wrapLanguageModel({
    model: scripted([{ ...called({}), toolName: 'counter' }]),
    middleware: toolwire,
  });
  const { toolResults } = await generateText({ model, prompt: 'Go.', tools: { counter } });
  assert.deepEqual(
    toolResults.map(({ output }) => output),
    [1],
  );
});

test('the adapters refuse wrong options when they are created', () => {
  for (const adapter of [toolwireMiddleware, toolwireLangchain]) {
    for (const name of ['onSetAside', 'onReport', 'onRepair'])
      assert.throws(() => adapter({ dialect: 'moonshot', [name]: 5 }), { code: 'invalid-option', pointer: `/${name}` });
    assert.throws(() => adapter({ dialect: 'moonshot', format: 'anthropic' }), { code: 'unknown-option' });
  }
});

/** A model of LangChain that replies with one message for each request, and records the requests. */
class Scripted extends BaseChatModel {
  got = [];

  constructor(...replies) {
    super({});
    this.replies = replies;
    this.model = 'm';
  }

  _llmType() {
    return 'scripted';
  }

  bindTools(tools, options) {
    Object.assign(this, { given: tools, options });
    return this;
  }

  async _generate(messages) {
    this.got.push({ messages, tools: this.given, options: this.options });
    const message = this.replies.shift() ?? new AIMessage('done');
    return { generations: [{ text: '', message }] };
  }
}

/** A tool of LangChain. `runs` collects the arguments that reach it. */
function listed(name, schema, runs = [], more = {}) {
  const func = (input) => {
    runs.push(input);
    return 'ok';
  };
  return Object.assign(new DynamicStructuredTool({ name, description: 'd', schema, func }), more);
}

const calling = (...calls) =>
  new AIMessage({
    content: '',
    tool_calls: calls.map(([name, args, id = ID]) => ({ type: 'tool_call', name, args, id })),
  });
const ofTools = (messages) =>
  messages.filter((one) => ToolMessage.isInstance(one)).map(({ name, status }) => [name, status ?? 'success']);

test('toolwire/langchain: equal ids in two conversations do not clash', async () => {
  for (const [slow, fast] of [
    [WRONG, RIGHT],
    [RIGHT, WRONG],
  ]) {
    const toolwire = toolwireLangchain({ dialect: 'moonshot', repair: true });
    const gate = gated();
    const waits = createMiddleware({
      name: 'Waits',
      async wrapToolCall(request, handler) {
        if (request.toolCall.args.account === slow.account) await gate.wait();
        return handler(request);
      },
    });
    const runs = { slow: [], fast: [] };
    const ask = (args, ran) =>
      createAgent({
        model: new Scripted(calling(['pay', args])),
        tools: [listed('pay', PAY, ran)],
        middleware: [waits, toolwire],
      }).invoke({ messages: 'Pay.' });
    const first = ask(slow, runs.slow);
    await gate.reached;
    await ask(fast, runs.fast);
    gate.open();
    await first;
    assert.deepEqual(runs, {
      slow: [slow].filter((one) => one === RIGHT),
      fast: [fast].filter((one) => one === RIGHT),
    });
  }
});

test('toolwire/langchain: two calls with the same id in a reply are validated separately', async () => {
  for (const id of [ID, '', null]) {
    const runs = [];
    const agent = createAgent({
      model: new Scripted(calling(['pay', WRONG, id], ['pay', RIGHT, id])),
      tools: [listed('pay', PAY, runs)],
      middleware: [toolwireLangchain({ dialect: 'moonshot', repair: true })],
    });
    const { messages } = await agent.invoke({ messages: 'Pay.' });
    assert.deepEqual(runs, [RIGHT]);
    const texts = messages.filter((one) => ToolMessage.isInstance(one)).map(({ text }) => text);
    assert.match(texts[0], /^The arguments of `pay`/);
    assert.equal(texts[1], 'ok');
  }
});

test('toolwire/langchain: a call that a person has edited runs', async () => {
  const runs = [];
  // Edits a call as `humanInTheLoopMiddleware` does, but without a pause: the call keeps its id.
  const person = createMiddleware({
    name: 'Person',
    afterModel({ messages }) {
      const { id, tool_calls: [call] = [] } = messages.at(-1);
      const edited = [{ ...call, args: RIGHT }];
      return call && { messages: [new AIMessage({ id, content: '', tool_calls: edited })] };
    },
  });
  const agent = createAgent({
    model: new Scripted(calling(['pay', WRONG])),
    tools: [listed('pay', PAY, runs)],
    middleware: [person, toolwireLangchain({ dialect: 'moonshot', repair: true })],
  });
  await agent.invoke({ messages: 'Pay.' });
  assert.deepEqual(runs, [RIGHT]);
});

test('toolwire/langchain: messages that repeat their calls in `content` have each call once', async () => {
  const content = [
    { type: 'text', text: 'I read.' },
    { type: 'tool_call', id: 'a', name: 'files_read', args: { dollar_ref_: 'x' } },
  ];
  const message = new AIMessage({ content, response_metadata: { output_version: 'v1' } });
  const before = JSON.stringify(message);
  const model = new Scripted(message);
  const runs = [];
  const agent = createAgent({
    model,
    tools: [listed('files.read', REF, runs)],
    middleware: [toolwireLangchain({ dialect: 'moonshot' })],
  });
  const { messages } = await agent.invoke({ messages: 'Read.' });
  assert.deepEqual(runs, [{ $ref: 'x' }]);
  assert.deepEqual(ofTools(messages), [['files.read', 'success']]);
  assert.deepEqual(messages[1].tool_calls, [{ type: 'tool_call', id: 'a', name: 'files.read', args: { $ref: 'x' } }]);
  assert.deepEqual(messages[1].content[1], { type: 'tool_call', id: 'a', name: 'files.read', args: { $ref: 'x' } });
  const [, history] = model.got[1].messages;
  assert.deepEqual(
    [history.content.map(({ name }) => name), history.tool_calls.map(({ name }) => name)],
    [[undefined, 'files_read'], ['files_read']],
  );
  // The model's own message is not changed.
  assert.equal(JSON.stringify(message), before);
  assert.deepEqual(
    JSON.parse(JSON.stringify(messages[1])).kwargs.tool_calls.map(({ name }) => name),
    ['files.read'],
  );
});

test('toolwire/langchain: a result has the name of its call', async () => {
  const model = new Scripted(calling(['files_read', {}]));
  const middleware = [toolwireLangchain({ dialect: 'moonshot' })];
  const { messages } = await createAgent({ model, tools: [listed('files.read', EMPTY)], middleware }).invoke({
    messages: 'Read.',
  });
  assert.deepEqual(model.got[1].messages.map(({ name }) => name).at(-1), 'files_read');
  assert.deepEqual(ofTools(messages), [['files.read', 'success']]);
});

/** Returns the tools and options that a model receives. */
async function sent(tools, request = {}, messages = [new HumanMessage('Go.')], options = {}) {
  const model = new Scripted();
  const changes = createMiddleware({ name: 'Changes', wrapModelCall: (given, next) => next({ ...given, ...request }) });
  const middleware = [changes, toolwireLangchain({ dialect: 'moonshot', onSetAside: 'error', ...options })];
  await createAgent({ model, tools, middleware }).invoke({ messages });
  return model.got[0];
}

test('toolwire/langchain: tools in the forms of other APIs are adapted and keep their form', async () => {
  const adapted = { type: 'object', properties: { dollar_ref_: { type: 'string' } }, required: ['dollar_ref_'] };
  const more = { cache_control: { type: 'ephemeral' } };
  const { tools } = await sent([
    { type: 'function', name: 'a.a', description: 'd', parameters: REF },
    { name: 'b.b', description: 'd', input_schema: REF, ...more },
    { type: 'custom', name: 'c.c', input_schema: REF },
    { type: 'function', function: { name: 'd.d', parameters: REF } },
  ]);
  assert.deepEqual(tools, [
    { type: 'function', name: 'a_a', description: 'd', parameters: adapted, strict: true },
    { name: 'b_b', description: 'd', input_schema: adapted, strict: true, ...more },
    { type: 'custom', name: 'c_c', input_schema: adapted, strict: true },
    { type: 'function', function: { name: 'd_d', parameters: adapted, strict: true } },
  ]);
});

test("toolwire/langchain: `extras`, a provider's definition and the names of hosted tools are kept", async () => {
  const shell = listed('shell', EMPTY, [], {
    extras: { providerToolDefinition: { type: 'bash_20250124', name: 'bash' } },
  });
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const { tools } = await sent([
    listed('files.read', REF, [], { extras: { defer_loading: true } }),
    listed('web.search', EMPTY),
    shell,
    search,
  ]);
  assert.equal(tools[0].name, 'files_read');
  assert.deepEqual(tools[0].extras, { defer_loading: true });
  assert.deepEqual(Object.keys(tools[0].schema.properties), ['dollar_ref_']);
  assert.match(tools[1].function.name, /^web_search_/);
  assert.equal(tools[2], shell);
  assert.deepEqual(tools[3], search);
});

test('toolwire/langchain: a chosen tool has its sent name, and other choices do not change', async () => {
  const named = (name) => ({ type: 'function', function: { name } });
  for (const [given, expected] of [
    ['any', 'any'],
    ['required', 'required'],
    ['none', 'none'],
    [named('files.read'), named('files_read')],
    [named('nope'), named('nope')],
    [{ type: 'web_search_preview' }, { type: 'web_search_preview' }],
  ]) {
    const { options } = await sent([listed('files.read', EMPTY)], { toolChoice: given });
    assert.deepEqual(options.tool_choice, expected);
  }
});

test("toolwire/langchain: the message with a structured answer has the tools' own names", async () => {
  const answer = { title: 'answer', type: 'object', properties: { x: { type: 'string' } }, required: ['x'] };
  const agent = createAgent({
    model: new Scripted(calling(['look_up', {}, 'a'], ['answer', { x: 'y' }, 'b'])),
    responseFormat: toolStrategy(answer),
    tools: [listed('look.up', EMPTY)],
    middleware: [toolwireLangchain({ dialect: 'moonshot' })],
  });
  const { messages, structuredResponse } = await agent.invoke({ messages: 'Go.' });
  assert.deepEqual(structuredResponse, { x: 'y' });
  const { tool_calls } = messages.find((one) => AIMessage.isInstance(one));
  assert.equal(tool_calls[0].name, 'look.up');
});

/** The same model, streamed: LangChain reads the calls from the pieces. */
class Streaming extends Scripted {
  constructor(reason, ...calls) {
    super();
    this.reason = reason;
    this.calls = calls;
  }

  async *_streamResponseChunks() {
    const calls = this.calls.splice(0);
    for (const [index, args] of calls.entries()) {
      for (const piece of [args.slice(0, 3), args.slice(3)]) {
        const chunk = { type: 'tool_call_chunk', index, id: `${index}`, name: piece === args.slice(0, 3) ? 'pay' : '' };
        const message = new AIMessageChunk({ content: '', tool_call_chunks: [{ ...chunk, args: piece }] });
        yield new ChatGenerationChunk({ text: '', message });
      }
    }
    const response_metadata = { finish_reason: calls.length === 0 ? 'stop' : this.reason };
    yield new ChatGenerationChunk({
      text: '',
      message: new AIMessageChunk({ content: calls.length === 0 ? 'done' : '', response_metadata }),
    });
  }
}

test('toolwire/langchain: a truncated call does not run', async () => {
  for (const repair of [false, true, { truncated: 'close' }]) {
    for (const [reason, text, expected] of [
      ['length', '{"ids": ["a"', []],
      ['stop', '{"ids": ["a"', []],
      ['model_length', '{"ids": ["a"', []],
      ['length', '{"ids": ["a"]}', [{ ids: ['a'] }]],
      ['stop', '{"ids": ["a"]}', [{ ids: ['a'] }]],
    ]) {
      const runs = [];
      const agent = createAgent({
        model: new Streaming(reason, text),
        tools: [listed('pay', LIST, runs)],
        middleware: [toolwireLangchain({ dialect: 'moonshot', repair })],
      });
      let messages;
      for await (const state of await agent.stream({ messages: 'Pay.' }, { streamMode: ['values', 'messages'] }))
        if (state[0] === 'values') messages = state[1].messages;
      assert.deepEqual(runs, expected, `${reason} ${text}`);
      const refused = messages.filter((one) => ToolMessage.isInstance(one)).map(({ text: message }) => message);
      if (repair && expected.length === 0) assert.match(refused[0], /truncated text/);
    }
  }
});

test('toolwire/langchain: of several calls, only the truncated one does not run', async () => {
  const whole = ['a', '{"ids": ["a"]}'];
  for (const repair of [false, true]) {
    for (const [title, calls, more, ran] of [
      ['calls with the same id', [whole, ['a', '{"ids": ["b"']], [], 1],
      [
        'after a call with the same id that cannot be parsed',
        [
          ['a', '{"ids": nope}'],
          ['a', '{"ids": ["b"'],
        ],
        [],
        0,
      ],
      // The pieces do not match the calls, so the last call is refused.
      ['unknown pieces', [whole, ['b', '{"ids": ["b"']], [{ type: 'tool_call_chunk', id: 'c', args: '{}' }], 1],
    ]) {
      const pieces = calls.map(([id, args], index) => ({ type: 'tool_call_chunk', index, id, name: 'pay', args }));
      const message = new AIMessageChunk({
        content: '',
        tool_call_chunks: pieces,
        response_metadata: { finish_reason: 'length' },
      });
      message.tool_call_chunks.push(...more);
      const runs = [];
      const middleware = toolwireLangchain({ dialect: 'moonshot', repair });
      const request = { tools: [listed('pay', LIST, [])], messages: [], model: {} };
      const { tool_calls } = await middleware.wrapModelCall(request, async () => message);
      for (const toolCall of tool_calls)
        await middleware.wrapToolCall({ toolCall }, async () => runs.push(toolCall.args));
      assert.deepEqual(runs, ran === 0 ? [] : [{ ids: ['a'] }], `${title} ${repair}`);
    }
  }
});

test('toolwire/langchain: past arguments become objects, and only matching examples are sent', async () => {
  const past = new AIMessage({ content: '', tool_calls: [] });
  past.tool_calls = ['pwd', [1], { $ref: 'x' }].map((args) => ({
    type: 'tool_call',
    name: 'files.read',
    args,
    id: 'a',
  }));
  past.invalid_tool_calls = [{ type: 'invalid_tool_call', name: 'files.read', args: '{"$ref": "y"', id: 'b' }];
  const { messages, tools } = await sent(
    [
      { name: 'files.read', input_schema: REF, input_examples: [{ $ref: 'x' }] },
      { name: 'pay', input_schema: PAY, input_examples: [RIGHT, WRONG] },
      listed('pay.more', PAY, [], { extras: { input_examples: [WRONG, RIGHT] } }),
    ],
    {},
    [past, new HumanMessage('Go.')],
  );
  const calls = [...messages[0].tool_calls, ...messages[0].invalid_tool_calls];
  assert.deepEqual(
    calls.map(({ name, args }) => [name, args]),
    [{}, {}, { $ref: 'x' }, '{"$ref":"y"}'].map((args) => ['files_read', args]),
  );
  assert.deepEqual(
    tools.map(({ input_examples, extras }) => input_examples ?? extras?.input_examples),
    [undefined, [RIGHT], [RIGHT]],
  );
});
