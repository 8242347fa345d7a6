// Fake of the OpenAI APIs' request validation, limited to what deferred loading could violate, based on the API
// reference: https://platform.openai.com/docs/api-reference. python/tests/refuse.py is its twin.

const SHARED = ['model', 'stream', 'temperature', 'top_p', 'metadata', 'tools', 'tool_choice', 'parallel_tool_calls'];
const MEMBERS = {
  'openai-responses': [...SHARED, 'input', 'instructions', 'max_output_tokens'],
  'openai-chat': [...SHARED, 'messages', 'max_completion_tokens', 'stop'],
};
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** An error that the API would return with status 400. */
export class Refusal extends Error {}

function demand(condition, message) {
  if (!condition) throw new Refusal(message);
}

/** Throws a refusal for a body that the API would refuse. */
export function validate(api, body) {
  only(body, MEMBERS[api], 'the request');
  const names = tools(api, body);
  choice(body, names);
  if (api === 'openai-responses') items(body.input);
  else messages(body.messages);
}

function tools(api, { tools }) {
  if (tools === undefined) return [];
  demand(Array.isArray(tools), 'tools: expected a list');
  demand(api === 'openai-responses' || tools.length > 0, 'tools: [] is too short');
  const names = tools.map((tool) => {
    demand(tool.type === 'function', `tools: unknown type ${tool.type}`);
    if (api === 'openai-chat') only(tool, ['type', 'function'], 'a tool');
    const definition = api === 'openai-chat' ? tool.function : tool;
    only(definition, ['type', 'name', 'description', 'parameters', 'strict'], 'a function');
    demand(NAME.test(definition.name), `tools: bad name ${definition.name}`);
    demand(definition.parameters?.type === 'object', `tools: ${definition.name} needs parameters of type object`);
    return definition.name;
  });
  demand(new Set(names).size === names.length, 'tools: names are not unique');
  return names;
}

function choice({ tools, tool_choice: choice, parallel_tool_calls: parallel, input }, names) {
  const needless = input !== undefined || tools !== undefined;
  demand(
    needless || (choice === undefined && parallel === undefined),
    'tool_choice: only allowed when tools are given',
  );
  if (typeof choice !== 'object') {
    demand([undefined, 'auto', 'none', 'required'].includes(choice), `tool_choice: unknown ${choice}`);
    return;
  }
  demand(names.includes(choice.name ?? choice.function?.name), 'tool_choice: not found in tools');
}

function items(input) {
  demand(Array.isArray(input) && input.length > 0, 'input: expected items');
  const open = new Set();
  const seen = new Set();
  for (const item of input) {
    switch (item.type ?? 'message') {
      case 'message': {
        only(item, ['type', 'role', 'content'], 'a message');
        demand(['user', 'assistant', 'system', 'developer'].includes(item.role), `input: unknown role ${item.role}`);
        parts(item.content, item.role === 'assistant' ? ['output_text'] : ['input_text', 'input_image']);
        break;
      }
      case 'function_call':
        only(item, ['type', 'id', 'call_id', 'name', 'arguments', 'status'], 'a call');
        argumentsAsText(item.arguments);
        open.add(item.call_id);
        seen.add(item.call_id);
        break;
      case 'function_call_output':
        only(item, ['type', 'id', 'call_id', 'output', 'status'], 'an output');
        demand(seen.has(item.call_id), `input: no tool call found for function call output ${item.call_id}`);
        parts(item.output, ['input_text', 'input_image']);
        open.delete(item.call_id);
        break;
      default:
        demand(false, `input: unknown item ${item.type}`);
    }
  }
  demand(open.size === 0, `input: no tool output found for function call ${[...open]}`);
}

function messages(list) {
  demand(Array.isArray(list) && list.length > 0, 'messages: expected some');
  let open = new Set();
  for (const message of list) {
    const { role, content, tool_calls: calls, tool_call_id: id } = message;
    demand(['user', 'assistant', 'system', 'developer', 'tool'].includes(role), `messages: unknown role ${role}`);
    only(
      message,
      ['role', 'content', ...({ assistant: ['tool_calls'], tool: ['tool_call_id'] }[role] ?? [])],
      'a message',
    );
    demand(role === 'tool' || open.size === 0, `messages: tool_calls ${[...open]} must be followed by tool messages`);
    demand(content !== null || calls !== undefined, 'messages: content must not be null');
    if (content !== null) parts(content, role === 'user' ? ['text', 'image_url'] : ['text']);
    if (role === 'tool') demand(open.delete(id), `messages: no tool_call ${id} before this tool message`);
    for (const call of calls ?? []) argumentsAsText(call.function.arguments);
    if (calls !== undefined) open = new Set(calls.map((call) => call.id));
  }
  demand(open.size === 0, `messages: tool_calls ${[...open]} must be followed by tool messages`);
}

function parts(content, types) {
  if (typeof content === 'string') return;
  demand(Array.isArray(content) && content.length > 0, 'content: expected a string or parts');
  for (const part of content) demand(types.includes(part.type), `content: unknown content type ${part.type}`);
}

function argumentsAsText(text) {
  demand(typeof text === 'string', 'arguments: expected a string');
  JSON.parse(text);
}

function only(object, members, what) {
  const unknown = Object.keys(object).find((name) => !members.includes(name));
  demand(unknown === undefined, `unknown parameter ${unknown} in ${what}`);
}
