// Fakes of APIs. Each fake refuses requests that the real API has refused, in its words. Otherwise, its model calls the tool for the weather
// once, with a number as text in the arguments.

import { createServer } from 'node:http';

const ARGUMENTS = { city: 'Rome', days: '3' };

/** The error message of a 400. */
class Refusal extends Error {}

/** Yields every schema below a schema. */
function* schemas(schema) {
  if (typeof schema !== 'object' || schema === null) return;
  yield schema;
  for (const key of ['anyOf', 'oneOf', 'allOf']) for (const one of schema[key] ?? []) yield* schemas(one);
  for (const key of ['properties', '$defs']) for (const one of Object.values(schema[key] ?? {})) yield* schemas(one);
  for (const key of ['items', 'additionalProperties']) yield* schemas(schema[key]);
}

const events = (response, list) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const [name, data] of list) {
    response.write(
      `${name === '' ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    );
  }
  response.end();
};

/** Anthropic Messages as Moonshot AI serves them. */
export const kimi = {
  path: '/v1/messages',
  check({ tools = [], messages }) {
    for (const { name, input_schema: schema, defer_loading: isDeferred } of tools) {
      if (isDeferred) throw new Refusal(`tools.${name}.defer_loading: Extra inputs are not permitted`);
      checkForKimi(schema);
    }
    if (JSON.stringify(messages).includes('"tool_reference"')) {
      throw new Refusal('messages: tool_reference: Input should be one of text, image, tool_use, tool_result');
    }
  },
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  answer({ model, messages, tools = [] }, response) {
    const history = JSON.stringify(messages);
    const tool = tools.find(({ name }) => name.includes('weather'));
    const search = tools.find(({ name }) => name === 'ToolSearch');
    let call;
    if (tool && !history.includes('Sunny.')) call = [tool.name, ARGUMENTS];
    else if (search && !tool) call = ['ToolSearch', { query: 'select:mcp__weather__weather_of', max_results: 3 }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage };
    const block = call
      ? { type: 'tool_use', id: `toolu_${history.length}`, name: call[0], input: {} }
      : { type: 'text', text: '' };
    const delta = call
      ? { type: 'input_json_delta', partial_json: JSON.stringify(call[1]) }
      : { type: 'text_delta', text: 'It is sunny.' };
    const all = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ];
    events(
      response,
      all.map((data) => [data.type, data]),
    );
  },
};

/** Refuses tools that are not functions, in the words of an API. */
const functionsOnly =
  (words, kinds = ['function']) =>
  ({ tools = [] }) => {
    const at = tools.findIndex(({ type }) => !kinds.includes(type));
    if (at >= 0) throw new Refusal(words.replace('#', at).replace('?', tools[at].type));
  };

/** Refuses a schema that has `type` next to `anyOf`, in the words of MoonshotAI/walle, the validator of Kimi's API. */
function checkForKimi(schema) {
  for (const one of schemas(schema)) {
    if (one.anyOf && one.type) {
      throw new Refusal('when using anyOf, type should be defined in anyOf items instead of the parent schema');
    }
  }
}

/** Refuses schemas without a type, in DeepSeek's words. */
function checkForDeepSeek(name, schema) {
  for (const one of schemas(schema)) {
    if (one.type || one.anyOf || one.$ref) continue;
    throw new Refusal(
      `Invalid tool parameters schema : field \`${name}\`: one of \`type\`, \`anyOf\`, \`$ref\` field is required`,
    );
  }
}

/** OpenAI Responses, with the requests that an API refuses. */
const responses = (check) => ({
  path: '/responses',
  check,
  error: (message) => ({ error: { message, type: 'invalid_request_error' } }),
  answer({ model, input, tools = [] }, response) {
    const all = tools.flatMap((tool) => tool.tools?.map((one) => ({ ...one, namespace: tool.name })) ?? [tool]);
    const tool = all.find(({ name, namespace = '' }) => `${namespace} ${name}`.includes('weather'));
    const isCall = tool !== undefined && !JSON.stringify(input).includes('Sunny.');
    const content = [{ type: 'output_text', text: 'It is sunny.', annotations: [] }];
    const item = isCall
      ? {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: tool.name,
          namespace: tool.namespace,
          arguments: JSON.stringify(ARGUMENTS),
          status: 'completed',
        }
      : { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
    const usage = {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2,
    };
    const whole = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model,
      output: [item],
      usage,
    };
    const list = [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ];
    events(
      response,
      list.map((data, at) => [data.type, { ...data, sequence_number: at }]),
    );
  },
});

/** APIs that support Responses, by their names on the page of Codex. */
export const RESPONSES = {
  // 49 recorded requests have these answers: docs/dialects/groq.md.
  Groq: responses(functionsOnly('tools[#].type must be one of [function, mcp]', ['function', 'mcp'])),
  // The API was made for Codex; no request that it refuses is known.
  DeepSeek: responses(() => {}),
  Kimi: responses(({ tools = [] }) => {
    for (const { tools: inner, parameters } of tools) {
      for (const tool of inner ?? [{ parameters }]) checkForKimi(tool.parameters);
    }
  }),
  // vllm-project/vllm#49493
  vLLM: responses(functionsOnly('tool type ? not supported')),
  // ggml-org/llama.cpp#20156
  'llama.cpp': responses(functionsOnly("'type' of tool must be 'function'")),
};
export const groq = RESPONSES.Groq;

/** Chat Completions as DeepSeek serves them. */
export const deepseek = {
  // With `/v1` in front of it, and without.
  path: '/chat/completions',
  check({ tools = [] }) {
    for (const { function: tool } of tools) checkForDeepSeek(tool.name, tool.parameters);
  },
  error: (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' },
  }),
  answer({ model, messages, tools = [] }, response) {
    const tool = tools.find(({ function: { name } }) => name.includes('weather'));
    const isCall = tool !== undefined && !JSON.stringify(messages).includes('Sunny.');
    const called = { name: tool?.function.name, arguments: JSON.stringify(ARGUMENTS) };
    const delta = isCall
      ? { role: 'assistant', tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: called }] }
      : { role: 'assistant', content: 'It is sunny.' };
    const chunk = (choice) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, ...choice }],
    });
    events(response, [
      ['', chunk({ delta, finish_reason: null })],
      ['', chunk({ delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' })],
      ['', '[DONE]'],
    ]);
  },
};

/** Gemini as Google serves it, without keys. */
export const gemini = {
  path: ':streamGenerateContent',
  check({ tools = [] }) {
    for (const { functionDeclarations = [] } of tools) {
      for (const [at, { parameters }] of functionDeclarations.entries()) {
        for (const one of schemas(parameters)) {
          const place = `GenerateContentRequest.tools[0].function_declarations[${at}].parameters`;
          if (!one.type && !one.anyOf) {
            throw new Refusal(`* ${place}: must be specified when not using one_of, any_of or all_of fields\n`);
          }
          if (one.format && !['enum', 'date-time'].includes(one.format)) {
            throw new Refusal(`* ${place}.format: only 'enum' and 'date-time' are supported for STRING type\n`);
          }
        }
      }
    }
  },
  error: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  answer({ contents, tools = [] }, response) {
    const tool = tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .find(({ name }) => name.includes('weather'));
    const isCall = tool !== undefined && !JSON.stringify(contents).includes('Sunny.');
    const part = isCall ? { functionCall: { name: tool.name, args: ARGUMENTS } } : { text: 'It is sunny.' };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }];
    events(response, [['', { candidates, usageMetadata }]]);
  },
};

/** Serves an API. `refusals` collects the refusals, and `hosts` the host names of the requests. */
export async function served(api) {
  const refusals = [];
  const hosts = new Set();
  const server = createServer(async (request, response) => {
    hosts.add(request.headers.host);
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const [path] = request.url.split('?');
    if (!path.endsWith(api.path)) {
      response.writeHead(404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(api.error('Not found')));
      return;
    }
    try {
      const body = JSON.parse(Buffer.concat(pieces));
      api.check(body);
      api.answer(body, response);
    } catch (error) {
      refusals.push(error.message);
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(api.error(error.message)));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, refusals, hosts, close };
}
