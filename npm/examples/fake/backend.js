// A local fake of a model API that refuses what the real API would, records the requests, and replies with given turns: Anthropic
// Messages, OpenAI Chat Completions and Responses, Gemini; whole or streamed.

import { createServer } from 'node:http';
import { checkTools } from 'toolwire';

/** The members that each API accepts, by the end of its path. Any other member is refused with status 400. */
const APIS = {
  '/messages': {
    takes: 'model max_tokens messages tools tool_choice stream system temperature metadata',
    blocks: (body) => body.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content)),
    known: ['text', 'tool_use', 'tool_result'],
    reply: anthropic,
  },
  '/chat/completions': {
    takes:
      'model messages tools tool_choice parallel_tool_calls stream stream_options temperature n max_tokens max_completion_tokens stop response_format',
    blocks: (body) => body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])),
    known: ['text', 'image_url'],
    reply: chat,
  },
  '/responses': {
    takes: 'model input tools tool_choice stream instructions',
    blocks: () => [],
    known: [],
    reply: responses,
  },
  ':generateContent': {
    takes: 'contents tools toolConfig generationConfig',
    blocks: () => [],
    known: [],
    reply: gemini,
  },
};

/** Returns the error message with which the API would refuse a request. */
function refusal(api, dialect, body, headers) {
  const unknown = Object.keys(body).find((name) => !api.takes.split(' ').includes(name));
  if (unknown !== undefined) return `unknown parameter ${unknown}`;
  if (headers['anthropic-beta']?.includes('tool')) return `unknown beta ${headers['anthropic-beta']}`;
  for (const tool of body.tools ?? []) {
    for (const name of ['defer_loading', 'tool_search']) {
      if (JSON.stringify(tool).includes(`"${name}":`)) return `unknown parameter ${name} of a tool`;
    }
    if (/^tool_search/.test(tool.type)) return `unknown tool type ${tool.type}`;
  }
  const block = api.blocks(body).find(({ type }) => !api.known.includes(type));
  if (block !== undefined) return `unknown content type ${block.type}`;
  if (dialect === 'deepseek' && body.response_format?.type === 'json_schema') {
    return 'This response_format type is unavailable now';
  }
  if (api === APIS['/chat/completions']) {
    const unpaired = unpairedCall(body.messages);
    if (unpaired !== undefined) return unpaired;
  }
  const wrong = checkTools(body.tools ?? [], { dialects: [dialect] }).find(({ severity }) => severity === 'refused');
  return wrong === undefined ? undefined : `${wrong.tool}: ${wrong.message} (${wrong.pointer})`;
}

/** Returns why Chat Completions would refuse calls in the history: an illegal name, a missing result, or a result without a call. */
function unpairedCall(messages) {
  let open = [];
  for (const { role, content, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === 'tool') {
      if (!open.includes(id))
        return `messages with role 'tool' must be a response to a preceding message with 'tool_calls': ${id}`;
      if (typeof content !== 'string') return `unknown content of a result: ${JSON.stringify(content)}`;
      open = open.filter((call) => call !== id);
      continue;
    }
    if (open.length > 0) return `an assistant message with 'tool_calls' must be followed by tool messages: ${open}`;
    open = calls.map((call) => call.id);
    if (new Set(open).size < open.length) return `duplicate ids of calls: ${open}`;
    const long = open.find((call) => call.length > 40);
    if (long !== undefined) return `string too long: expected an id with maximum length 40, got ${long}`;
    const bad = calls.find((call) => !/^[\w-]{1,64}$/.test(call.function.name));
    if (bad !== undefined) return `invalid name of a call: ${bad.function.name}`;
  }
  return open.length > 0
    ? `an assistant message with 'tool_calls' must be followed by tool messages: ${open}`
    : undefined;
}

/**
 * Starts the fake. `script` has the model's turns, one for each request: `{ text }`, or a call `{ name, input }`. For
 * Chat Completions, `input` may also be the text of the arguments, exactly as the model wrote it. `got` contains the
 * bodies that the fake accepted. Turns of Chat Completions may also have `reasoning`, a text and several `calls` with
 * ids, which are streamed interleaved; `finish`; a `status` for a refusal; and `cut` for streams that end in the middle
 * (`"end"`) or lose their connection (`"reset"`).
 */
export async function backend(t, dialect, script) {
  const got = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = request.url.split('?')[0];
    const api = Object.entries(APIS).find(([end]) => path.endsWith(end))?.[1];
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const wrong = api === undefined ? `no such path: ${path}` : refusal(api, dialect, body, request.headers);
    if (wrong !== undefined) {
      const error = { type: 'invalid_request_error', message: wrong };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
      return;
    }
    got.push(body);
    const turn = script[got.length - 1] ?? { text: 'nothing more to say' };
    if (turn.status !== undefined) {
      const error = { message: turn.message, type: 'refused', code: null };
      response.writeHead(turn.status, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end(JSON.stringify({ error }));
      return;
    }
    const { whole, events } = api.reply(turn, `id_${got.length}`);
    if (!body.stream) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) {
      response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
    }
    if (turn.cut === 'reset') setTimeout(() => response.destroy(), 20);
    else response.end(api.reply === chat && turn.cut === undefined ? 'data: [DONE]\n\n' : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, got };
}

function anthropic({ text, name, input }, id) {
  const block = text === undefined ? { type: 'tool_use', id: `toolu_${id}`, name, input } : { type: 'text', text };
  const end = { stop_reason: text === undefined ? 'tool_use' : 'end_turn', stop_sequence: null };
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'm' };
  const [start, delta] =
    text === undefined
      ? [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(input) },
        ]
      : [
          { type: 'text', text: '' },
          { type: 'text_delta', text },
        ];
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: end, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
  return { whole: { ...message, content: [block], ...end, usage }, events };
}

function chat(
  { text, refusal, name, input, reasoning, calls = name === undefined ? [] : [{ name, input }], finish, cut },
  id,
) {
  const finish_reason = finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const tool_calls = calls.map(({ name, input, id: own }, index) => {
    const written = typeof input === 'string' ? input : JSON.stringify(input);
    return {
      id: own ?? (index === 0 ? `call_${id}` : `call_${id}.${index}`),
      type: 'function',
      function: { name, arguments: written },
    };
  });
  const message = { role: 'assistant', content: text ?? null };
  if (refusal !== undefined) message.refusal = refusal;
  if (reasoning !== undefined) message.reasoning_content = reasoning;
  const base = { id, created: 0, model: 'm' };
  const chunk = (delta, finish_reason = null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  });
  // All calls begin before the first one ends.
  const begun = tool_calls.map((call, index) => ({ ...call, index, function: { ...call.function, arguments: '' } }));
  const half = (at) =>
    tool_calls.map(({ function: { arguments: written } }, index) => {
      const middle = Math.floor(written.length / 2);
      return { index, function: { arguments: at === 0 ? written.slice(0, middle) : written.slice(middle) } };
    });
  const calling = [...begun, ...half(0), ...half(1)].map((call) => chunk({ tool_calls: [call] }));
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4 },
  };
  const events = [chunk({ ...message }), ...calling, chunk({}, finish_reason), { ...chunk({}), choices: [], usage }];
  if (tool_calls.length > 0) message.tool_calls = tool_calls;
  return {
    whole: {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message: { ...message }, finish_reason }],
      usage,
    },
    events: cut === undefined ? events : events.slice(0, -3),
  };
}

function responses({ text, name, input }, id) {
  const call = { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name, arguments: JSON.stringify(input) };
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] };
  return { whole: { id, object: 'response', output: [text === undefined ? call : message] }, events: [] };
}

function gemini({ text, name, input }) {
  const part = text === undefined ? { functionCall: { name, args: input } } : { text };
  return { whole: { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] }, events: [] };
}
