// A model that calls every tool of the server with faults once, in three formats. The verdict depends on the tools and results that it sees.

import { sample } from './tools.js';

const MARK = /\[(mark-[\w-]+)\]/;
let counter = 0;

/** The tools in the requests to a model, by their marks, and the texts of their results. */
export class Seen {
  tools = new Map();
  /** Marks by the ids of calls, and the texts of results by mark. */
  calls = new Map();
  results = new Map();

  /** Records tools, `{ name, description, schema }`, and returns the calls that are still to be made. */
  next(tools) {
    const found = tools
      .map((tool) => ({ ...tool, mark: MARK.exec(tool.description ?? '')?.[1] }))
      .filter(({ mark }) => mark);
    for (const tool of found) if (!this.tools.has(tool.mark)) this.tools.set(tool.mark, tool);
    const called = new Set(this.calls.values());
    return found
      .filter(({ mark }) => !called.has(mark))
      .filter(
        ({ name, namespace }, at, all) =>
          all.findIndex((one) => one.name === name && one.namespace === namespace) === at,
      )
      .map((tool) => {
        counter += 1;
        const id = `call_${String(counter).padStart(6, '0')}`;
        this.calls.set(id, tool.mark);
        return { ...tool, id, input: sample(tool.schema) };
      });
  }

  result(id, text) {
    const mark = this.calls.get(id);
    if (mark) this.results.set(mark, text);
  }

  /** Marks of the tools whose result the model has received. */
  succeeded() {
    return [...this.results].filter(([mark, text]) => text.includes(mark)).map(([mark]) => mark);
  }
}

const textOf = (content) => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));
const usage = { input_tokens: 100, output_tokens: 5 };

/** Anthropic Messages. */
export function messages(body, seen) {
  for (const { content } of body.messages ?? [])
    for (const block of Array.isArray(content) ? content : [])
      if (block.type === 'tool_result') seen.result(block.tool_use_id, textOf(block.content));
  const tools = (body.tools ?? []).map(({ name, description, input_schema: schema }) => ({
    name,
    description,
    schema,
  }));
  const calls = seen.next(tools);
  const blocks = calls.map(({ id, name, input }) => [
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  ]);
  if (calls.length === 0)
    blocks.push([
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Done.' },
    ]);
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    usage,
  };
  const stop = { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null };
  return [
    { type: 'message_start', message },
    ...blocks.flatMap(([block, delta], index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: stop, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

/** OpenAI Responses. */
export function responses(body, seen) {
  for (const item of Array.isArray(body.input) ? body.input : [])
    if (item.type === 'function_call_output') seen.result(item.call_id, textOf(item.output));
  const tools = (body.tools ?? []).flatMap((tool) =>
    (tool.tools ?? [tool]).map(({ name, description, parameters: schema }) => ({
      name,
      description,
      schema,
      namespace: tool.tools && tool.name,
    })),
  );
  const calls = seen.next(tools);
  const output = calls.map(({ id, name, namespace, input }) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    ...(namespace ? { namespace } : {}),
    arguments: JSON.stringify(input),
    status: 'completed',
  }));
  if (calls.length === 0) {
    const content = [{ type: 'output_text', text: 'Done.', annotations: [] }];
    output.push({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content });
  }
  const counts = { ...usage, total_tokens: 105, input_tokens_details: { cached_tokens: 0 } };
  const response = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: body.model, output };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...output.flatMap((item, at) => [
      { type: 'response.output_item.added', output_index: at, item },
      { type: 'response.output_item.done', output_index: at, item },
    ]),
    { type: 'response.completed', response: { ...response, usage: counts } },
  ];
}

/** Chat Completions. */
export function chat(body, seen) {
  for (const { role, tool_call_id: id, content } of body.messages ?? [])
    if (role === 'tool') seen.result(id, textOf(content));
  const tools = (body.tools ?? []).map(({ function: tool = {} }) => ({ ...tool, schema: tool.parameters }));
  const calls = seen.next(tools);
  const delta =
    calls.length > 0
      ? {
          tool_calls: calls.map(({ id, name, input }, index) => ({
            index,
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
        }
      : { content: 'Done.' };
  const chunk = (choice, more = {}) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: body.model,
    choices: [{ index: 0, finish_reason: null, ...choice }],
    ...more,
  });
  return [
    chunk({ delta: { role: 'assistant' } }),
    chunk({ delta }),
    chunk(
      { delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' },
      { usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 } },
    ),
  ];
}
