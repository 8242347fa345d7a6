// The model behind the fakes, in each format: it thinks, calls the tool for the weather once for each question about the weather, searches
// for the tool if it is deferred, and otherwise answers with text.

import { crc32 } from 'node:zlib';

const ARGUMENTS = { city: 'Rome', days: '3' };
const QUESTION = /What is the weather in \w+/;
const ANSWER = 'It is sunny.';
const THOUGHT = 'The user asks for the weather.';

/** Returns the next action of the model, `search`, `call` or `answer`, by the texts after the last message of the user. */
function step({ asked, answered, tools, isLoaded }) {
  if (!QUESTION.test(asked) || answered) return { kind: 'answer' };
  const tool = tools.find(({ name }) => /weather/.test(name));
  if (tool && isLoaded(tool)) return { kind: 'call', name: tool.name, namespace: tool.namespace };
  const search = tools.find(({ name }) => name === 'ToolSearch' || name === 'tool_search');
  return search ? { kind: 'search', name: search.name } : { kind: 'answer' };
}

const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');

let counter = 0;
const next = (prefix) => `${prefix}${String(++counter).padStart(8, '0')}`;

/** Anthropic Messages, as the events of a stream. */
export function messages({ model, body, used }) {
  const turns = (body.messages ?? []).filter(({ role }) => role === 'user' || role === 'assistant');
  const last = turns.findLastIndex(
    ({ role, content }) =>
      role === 'user' && (typeof content === 'string' || !content.some(({ type }) => type === 'tool_result')),
  );
  const after = JSON.stringify(turns.slice(last));
  const { kind, name } = step({
    asked: textOf(turns[last]?.content),
    answered: after.includes('Sunny.'),
    tools: body.tools ?? [],
    isLoaded: (tool) => tool.defer_loading !== true || JSON.stringify(turns).includes('tool_reference'),
  });
  const blocks = [];
  if (body.thinking && body.thinking.type !== 'disabled') {
    blocks.push([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: THOUGHT },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ]);
  }
  const input = kind === 'search' ? { query: 'select:mcp__weather__weather_of', max_results: 3 } : ARGUMENTS;
  blocks.push(
    kind === 'answer'
      ? [
          { type: 'text', text: '' },
          { type: 'text_delta', text: ANSWER },
        ]
      : [
          { type: 'tool_use', id: next('toolu_'), name, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(input) },
        ],
  );
  const usage = { input_tokens: used, output_tokens: 1 };
  const message = {
    id: next('msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    usage,
  };
  return [
    { type: 'message_start', message },
    ...blocks.flatMap(([block, ...deltas], index) => [
      { type: 'content_block_start', index, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: kind === 'answer' ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ];
}

/** Returns the whole message of events. */
export function whole(events) {
  const [{ message }] = events;
  const content = events
    .filter(({ type }) => type === 'content_block_start')
    .map(({ index, content_block: block }) => {
      const one = { ...block };
      for (const { delta } of events.filter((event) => event.type === 'content_block_delta' && event.index === index)) {
        if (delta.partial_json !== undefined) one.input = JSON.parse(delta.partial_json);
        for (const key of ['text', 'thinking', 'signature']) if (delta[key] !== undefined) one[key] = delta[key];
      }
      return one;
    });
  const { delta } = events.at(-2);
  return { ...message, content, ...delta };
}

/** Chat Completions. `reasoning` is the member of reasoning. */
export function chat({ model, body, used }, reasoning) {
  const turns = body.messages ?? [];
  const last = turns.findLastIndex(({ role }) => role === 'user');
  const { kind, name } = step({
    asked: textOf(turns[last]?.content),
    answered: JSON.stringify(turns.slice(last)).includes('Sunny.'),
    tools: (body.tools ?? []).map((tool) => tool.function ?? {}),
    isLoaded: () => true,
  });
  const called = { name, arguments: JSON.stringify(ARGUMENTS) };
  const delta =
    kind === 'call'
      ? { tool_calls: [{ index: 0, id: next('c'), type: 'function', function: called }] }
      : { content: ANSWER };
  const chunk = (choice) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [choice] });
  return [
    chunk({ index: 0, delta: { role: 'assistant', [reasoning]: THOUGHT }, finish_reason: null }),
    chunk({ index: 0, delta, finish_reason: null }),
    {
      ...chunk({ index: 0, delta: {}, finish_reason: kind === 'call' ? 'tool_calls' : 'stop' }),
      usage: { prompt_tokens: used, completion_tokens: 5, total_tokens: used + 5 },
    },
  ];
}

/** OpenAI Responses, as the events of a stream. */
export function responses({ model, body, used }) {
  const items = Array.isArray(body.input) ? body.input : [];
  const last = items.findLastIndex(({ role, type = 'message' }) => type === 'message' && role === 'user');
  const tools = (body.tools ?? []).flatMap(
    (tool) => tool.tools?.map((one) => ({ ...one, name: one.name, namespace: tool.name })) ?? [{ name: '', ...tool }],
  );
  const named = tools.map((tool) => (tool.namespace ? { ...tool, name: tool.name, is: tool.namespace } : tool));
  const { kind, name, namespace } = step({
    asked: textOf(items[last]?.content),
    answered: JSON.stringify(items.slice(last)).includes('Sunny.'),
    tools: named.map((tool) => (/weather/.test(`${tool.is}`) ? { ...tool, name: tool.name } : tool)),
    isLoaded: () => true,
  });
  const output = [
    {
      type: 'reasoning',
      id: next('rs_'),
      summary: [{ type: 'summary_text', text: THOUGHT }],
      encrypted_content: 'ZW5jcnlwdGVk',
    },
    kind === 'call'
      ? {
          type: 'function_call',
          id: next('fc_'),
          call_id: next('call_'),
          name,
          ...(namespace ? { namespace } : {}),
          arguments: JSON.stringify(ARGUMENTS),
          status: 'completed',
        }
      : {
          type: 'message',
          id: next('msg_'),
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: ANSWER, annotations: [] }],
        },
  ];
  const usage = {
    input_tokens: used,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: used + 5,
  };
  const response = { id: next('resp_'), object: 'response', created_at: 1, status: 'completed', model, output, usage };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...output.flatMap((item, at) => [
      { type: 'response.output_item.added', output_index: at, item },
      { type: 'response.output_item.done', output_index: at, item },
    ]),
    { type: 'response.completed', response },
  ].map((event, at) => ({ ...event, sequence_number: at }));
}

/** Gemini's `generateContent`. */
export function gemini({ body, used }) {
  const turns = body.contents ?? [];
  const isQuestion = ({ role, parts = [] }) => role === 'user' && !parts.some((part) => part.functionResponse);
  const last = turns.findLastIndex(isQuestion);
  const { kind, name } = step({
    asked: textOf(turns[last]?.parts),
    answered: JSON.stringify(turns.slice(last)).includes('Sunny.'),
    tools: (body.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    isLoaded: () => true,
  });
  const part = kind === 'call' ? { functionCall: { name, args: ARGUMENTS } } : { text: ANSWER };
  const parts = [
    { text: THOUGHT, thought: true },
    { ...part, thoughtSignature: 'c2lnbmVk' },
  ];
  const usageMetadata = { promptTokenCount: used, candidatesTokenCount: 5, totalTokenCount: used + 5 };
  return [{ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], usageMetadata }];
}

/** Returns a frame of a binary event stream of Amazon Bedrock. */
export function frame(event) {
  const header = (name, value) =>
    Buffer.concat([[name.length], name, [7, 0, value.length], value].map((part) => Buffer.from(part)));
  const headers = Buffer.concat([
    header(':event-type', 'chunk'),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const payload = Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') }));
  const bytes = Buffer.alloc(16 + headers.length + payload.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(headers.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  headers.copy(bytes, 12);
  payload.copy(bytes, 12 + headers.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
  return bytes;
}
