// The rules of the fakes, written independently of toolwire's tables, so that they reveal wrong facts in these tables. The sources are answers
// of APIs and the vendors' types (confidence A and B). Each rule returns the refused location, or nothing.

const list = (value) => (Array.isArray(value) ? value : []);
const flags = ({ headers, body }) =>
  [...(headers['anthropic-beta'] ?? '').split(','), ...list(body.anthropic_beta)].map((one) => one.trim());

/** Yields every content block, with its location. */
function* blocks({ messages = [], system }) {
  for (const [at, { content }] of messages.entries()) {
    for (const [index, block] of list(content).entries()) yield [`messages.${at}.content.${index}`, block];
  }
  for (const [index, block] of list(system).entries()) yield [`system.${index}`, block];
}

/** Yields every schema below a schema. */
function* schemas(schema, at = '') {
  if (typeof schema !== 'object' || schema === null) return;
  yield [at, schema];
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    for (const [index, one] of list(schema[key]).entries()) yield* schemas(one, `${at}/${key}/${index}`);
  }
  for (const key of ['properties', '$defs']) {
    for (const [name, one] of Object.entries(schema[key] ?? {})) yield* schemas(one, `${at}/${key}/${name}`);
  }
  for (const key of ['items', 'additionalProperties']) yield* schemas(schema[key], `${at}/${key}`);
}

function* toolSchemas({ tools = [] }) {
  for (const [at, tool] of list(tools).entries()) {
    const inner = tool.tools ?? tool.functionDeclarations ?? tool.function_declarations ?? [tool];
    for (const { input_schema, parameters, function: called } of inner) {
      yield* schemas(input_schema ?? parameters ?? called?.parameters, `tools.${at}`);
    }
  }
}

const first = (items, is) => {
  for (const [at, one] of items) if (is(one, at)) return at;
  return undefined;
};
const rule = (words, confidence, source, at) => ({ words, confidence, source, at });

/** Returns the rule that refuses a member of the request. */
const member = (name, confidence, source, when = () => true) =>
  rule(`${name}: Extra inputs are not permitted`, confidence, source, (request) =>
    request.body[name] !== undefined && when(request) ? name : undefined,
  );
/** Returns the rule that refuses a member of tools. */
const ofTools = (name, confidence, source, when = () => true) =>
  rule(`tools.#.custom.${name}: Extra inputs are not permitted`, confidence, source, (request) =>
    when(request) ? first(list(request.body.tools).entries(), (tool) => tool[name] !== undefined) : undefined,
  );
/** Returns the rule that refuses a beta flag. */
const flag = (name, confidence, source) =>
  rule(`Unexpected value(s) \`${name}\` for the \`anthropic-beta\` header`, confidence, source, (request) =>
    flags(request).includes(name) ? 'anthropic-beta' : undefined,
  );
/** Returns the rule that refuses a member of the model's messages. */
const ofModel = (name, words, confidence, source) =>
  rule(words, confidence, source, ({ body }) =>
    first(list(body.messages).entries(), (message) => message.role === 'assistant' && message[name] !== undefined),
  );

const thinks = ({ body }) => body.thinking !== undefined && body.thinking.type !== 'disabled';
const thinkingOf = ({ body }) => body.thinking?.type;
const forces = ({ body }) => ['any', 'tool'].includes(body.tool_choice?.type);

/** Models of 2026 that think adaptively and sample by themselves. */
const NEW_CLAUDE = /opus-4[.-][78]|opus-5|sonnet-5|fable-5|mythos-5|haiku-5-5/;
const OLD_CLAUDE = /opus-4[.-][01]|opus-4-2|haiku-4[.-]5|sonnet-4[.-]5|sonnet-4-2/;

const CLAUDE = [
  rule('"thinking.type.enabled" is not supported for this model.', 'B', 'maximhq/bifrost utils.go', (request) =>
    NEW_CLAUDE.test(request.model) && thinkingOf(request) === 'enabled' ? 'thinking.type' : undefined,
  ),
  ...['temperature', 'top_p', 'top_k'].map((name) =>
    rule(`\`${name}\` is deprecated for this model.`, 'B', 'earendil-works/pi#7961', ({ model, body }) =>
      NEW_CLAUDE.test(model) && body[name] !== undefined && body[name] !== 1 ? name : undefined,
    ),
  ),
  rule('`temperature` may only be set to 1 when thinking is enabled.', 'A', 'recording of pi_agent_rust', (request) =>
    thinkingOf(request) === 'enabled' && ![undefined, 1].includes(request.body.temperature) ? 'temperature' : undefined,
  ),
  rule('This model does not support the effort parameter.', 'B', 'maximhq/bifrost utils.go', ({ model, body }) =>
    OLD_CLAUDE.test(model) && body.output_config?.effort !== undefined ? 'output_config.effort' : undefined,
  ),
  rule('tool_choice forces tool use is not compatible with this model', 'B', 'pydantic-ai 2.68', (request) =>
    /fable-5-[12]|mythos-5-[12]|opus-5-5|sonnet-5-5/.test(request.model) && forces(request) ? 'tool_choice' : undefined,
  ),
  rule(
    'This model does not support assistant message prefill.',
    'B',
    'opencode-dynamic-context-pruning#520',
    ({ model, body }) =>
      /opus-4-[678]|sonnet-4-6|opus-5|sonnet-5|fable-5/.test(model) && body.messages?.at(-1)?.role === 'assistant'
        ? 'messages'
        : undefined,
  ),
  rule('text content blocks must be non-empty', 'A', 'claude-code#55689, hermes#55092', ({ body }) =>
    first(blocks(body), ({ type, text }) => type === 'text' && text === ''),
  ),
  rule('thinking.cache_control: Extra inputs are not permitted', 'B', 'CLIProxyAPI#512', ({ body }) =>
    first(blocks(body), ({ type, cache_control }) => type === 'thinking' && cache_control !== undefined),
  ),
  rule("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", 'A', 'vscode#327597', ({ body }) =>
    first(blocks(body), ({ type, id }) => type === 'tool_use' && !/^[a-zA-Z0-9_-]+$/.test(id)),
  ),
  rule(
    '`tool_use` ids were found without `tool_result` blocks immediately after',
    'A',
    'recording of opencode',
    ({ body }) => {
      for (const [at, { role, content }] of list(body.messages).entries()) {
        if (role !== 'assistant') continue;
        const calls = list(content).filter(({ type }) => type === 'tool_use');
        const next = JSON.stringify(body.messages[at + 1]?.content ?? '');
        if (calls.some(({ id }) => !next.includes(JSON.stringify(id)))) return `messages.${at}`;
      }
      return undefined;
    },
  ),
  rule('A maximum of 4 blocks with cache_control may be provided.', 'B', 'maximhq/bifrost utils.go', ({ body }) => {
    const marked = [...blocks(body), ...list(body.tools).entries()].filter(([, one]) => one?.cache_control);
    return marked.length > 4 ? 'cache_control' : undefined;
  }),
  rule('Tools with defer_loading cannot use prompt caching', 'B', 'pydantic-ai 2.68', ({ body }) =>
    first(list(body.tools).entries(), (tool) => tool.defer_loading === true && tool.cache_control !== undefined),
  ),
  rule('tool names: String should match pattern', 'A', 'live', ({ body }) =>
    first(list(body.tools).entries(), ({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name)),
  ),
];

const withoutFlag = (name) => (request) => !flags(request).includes(name);

const MISTRAL_MEMBERS = [
  'user',
  'logit_bias',
  'verbosity',
  'store',
  'max_completion_tokens',
  'seed',
  'prompt_cache_key',
];

/** The rules of each backend. */
export const RULES = {
  anthropic: [
    ...CLAUDE,
    member('context_management', 'B', 'claude-code#14135, #39589', withoutFlag('context-management-2025-06-27')),
    member('speed', 'B', 'CLIProxyAPI@a7e3596b', withoutFlag('fast-mode-2026-02-01')),
  ],
  bedrock: [
    ...CLAUDE,
    ofTools('eager_input_streaming', 'B', 'claude-agent-sdk-python#694'),
    ofTools('strict', 'B', 'vercel/ai#16121', ({ model }) => /opus-4-[78]|sonnet-5|opus-5-5|fable-5-1/.test(model)),
    ofTools('defer_loading', 'B', 'a request without the flag', withoutFlag('tool-search-tool-2025-10-19')),
    member('cache_control', 'A', 'inspect_ai#3851', ({ model }) => /4-[0156]/.test(model)),
    member('diagnostics', 'A', 'maximhq/bifrost types.go'),
    rule('invalid beta flag', 'B', 'claude-code#49370, #26570', (request) =>
      first(flags(request).entries(), (name) =>
        /prompt-caching-scope|advanced-tool-use|structured-outputs|redact-thinking|advisor-tool/.test(name),
      ),
    ),
  ],
  mantle: [
    ...CLAUDE,
    member('diagnostics', 'A', 'maximhq/bifrost types.go'),
    flag('prompt-caching-scope-2026-01-05', 'B', 'litellm 1.110.0, maximhq/bifrost'),
    flag('advanced-tool-use-2025-11-20', 'B', 'maximhq/bifrost types.go'),
    rule('cache_control.scope: Extra inputs are not permitted', 'B', 'maximhq/bifrost types.go', ({ body }) =>
      first(blocks(body), ({ cache_control }) => cache_control?.scope !== undefined),
    ),
  ],
  vertex: [
    ...CLAUDE,
    member('cache_control', 'A', 'inspect_ai#3851, dust#27109'),
    member(
      'context_management',
      'A',
      'litellm#22321: the flag has to be the header',
      ({ headers }) => !(headers['anthropic-beta'] ?? '').includes('context-management'),
    ),
    flag('prompt-caching-scope-2026-01-05', 'A', 'new-api#2975, bifrost#1558'),
    flag('structured-outputs-2025-11-13', 'B', 'vercel/ai#10981'),
    flag('structured-outputs-2025-12-15', 'B', 'maximhq/bifrost'),
    flag('advanced-tool-use-2025-11-20', 'B', 'maximhq/bifrost'),
  ],
  copilot: [
    ...CLAUDE,
    member(
      'context_management',
      'B',
      'copilot-api#217; with the flag, ghc-api-proxy-py recorded 200 on 2026-08-24',
      withoutFlag('context-management-2025-06-27'),
    ),
    ...['tool-search-tool-2025-10-19', 'output-128k-2025-02-19', 'context-1m-2025-08-07'].map((name) =>
      flag(name, 'A', 'ghc-api-proxy-py, recorded 2026-08-24; copilot-api#103'),
    ),
    ofTools('eager_input_streaming', 'B', 'opencode#23193'),
    rule('cache_control.ephemeral.scope: Extra inputs are not permitted', 'B', 'copilot-api#145', ({ body }) =>
      first(blocks(body), ({ cache_control }) => cache_control?.scope !== undefined),
    ),
  ],
  kimi: [
    ofTools('defer_loading', 'A', 'live'),
    rule('tool_reference: Input should be one of text, image', 'A', 'live', ({ body }) =>
      JSON.stringify(body.messages).includes('"tool_reference"') ? 'messages' : undefined,
    ),
    rule('when using anyOf, type should be defined in anyOf items', 'A', 'MoonshotAI/walle', ({ body }) =>
      first(toolSchemas(body), ({ anyOf, type }) => anyOf !== undefined && type !== undefined),
    ),
    rule(
      'thinking is enabled but reasoning_content is missing in assistant tool call message',
      'B',
      'cc-switch#3377',
      (request) => (thinks(request) ? withoutThinking(request.body) : undefined),
    ),
  ],
  'deepseek-messages': [
    rule('Thinking mode does not support this tool_choice', 'B', 'bifrost#5177', (request) =>
      thinkingOf(request) !== 'disabled' && forces(request) ? 'tool_choice' : undefined,
    ),
    rule('The `content[].thinking` in the thinking mode must be passed back', 'B', 'OmniBot#307', (request) =>
      thinkingOf(request) === 'enabled' ? withoutThinking(request.body) : undefined,
    ),
  ],
  minimax: [
    rule('invalid thinking.type: "enabled" (allowed: adaptive, disabled) (2013)', 'B', 'pi#6658', (request) =>
      /M3/i.test(request.model) && thinkingOf(request) === 'enabled' ? 'thinking.type' : undefined,
    ),
  ],
  zai: [
    ...['context_management', 'output_config', 'diagnostics'].map((name) =>
      rule(
        '1210 Invalid API parameter, please check the documentation.',
        'B',
        'octopus#165, opencode#42616',
        ({ body }) => (body[name] === undefined ? undefined : name),
      ),
    ),
  ],
  groq: [
    ofModel('reasoning_content', "property 'reasoning_content' is unsupported", 'A', 'jan#8136'),
    ...['logit_bias', 'logprobs', 'top_logprobs'].map((name) => member(name, 'B', 'console.groq.com/docs/openai')),
  ],
  cerebras: [
    ofModel(
      'reasoning_content',
      "property 'messages.#.assistant.reasoning_content' is unsupported",
      'A',
      'kilocode#10375',
    ),
    rule("Tools with mixed values for 'strict' are not allowed.", 'B', 'Roo-Code#10334', ({ body }) =>
      new Set(list(body.tools).map((tool) => tool.function?.strict ?? false)).size > 1 ? 'tools' : undefined,
    ),
  ],
  mistral: [
    ...['reasoning_content', 'reasoning', 'refusal', 'function_call', 'name', 'reasoning_details'].map((name) =>
      ofModel(name, `extra_forbidden: ${name}`, 'B', 'mistralai 3.7.0, crush#1590, picoclaw#1502'),
    ),
    ...MISTRAL_MEMBERS.map((name) => member(name, 'B', 'mistralai 3.7.0')),
    rule("Unexpected role 'user' after role 'tool'", 'B', 'hermes#84944', ({ body }) =>
      first(list(body.messages).entries(), ({ role }, at) => role === 'user' && body.messages[at - 1]?.role === 'tool'),
    ),
    rule('Tool call id must be a-z, A-Z, 0-9, with a length of 9', 'B', 'gptel#1203', ({ model, body }) =>
      /mistral-large/.test(model)
        ? first(list(body.messages).entries(), ({ tool_calls, tool_call_id }) =>
            [...list(tool_calls).map(({ id }) => id), tool_call_id].some(
              (id) => id !== undefined && !/^[a-zA-Z0-9]{9}$/.test(id),
            ),
          )
        : undefined,
    ),
  ],
  'deepseek-chat': [
    rule(
      'The `reasoning_content` in the thinking mode must be passed back to the API.',
      'B',
      'pi#3636',
      ({ model, body }) =>
        /^deepseek-v4/.test(model) && body.thinking?.type !== 'disabled'
          ? first(
              list(body.messages).entries(),
              (one) => one.tool_calls?.length > 0 && one.reasoning_content === undefined,
            )
          : undefined,
    ),
    rule('one of `type`, `anyOf`, `$ref` field is required', 'A', 'live', ({ body }) =>
      first(toolSchemas(body), ({ type, anyOf, $ref }) => !type && !anyOf && !$ref),
    ),
  ],
  'xai-chat': [
    ...['presence_penalty', 'frequency_penalty', 'stop'].map((name) =>
      rule(`Model does not support parameter ${name}.`, 'B', 'NativeTavern#83', ({ model, body }) =>
        /grok-4/.test(model) && body[name] !== undefined ? name : undefined,
      ),
    ),
  ],
  xai: [
    rule('Model does not support parameter reasoningEffort', 'A', 'hermes#23435', ({ model, body }) =>
      /^grok-4(-0709|-fast.*|-1-fast.*)?$/.test(model) && body.reasoning?.effort !== undefined
        ? 'reasoning.effort'
        : undefined,
    ),
    functionsOnly('tools[#].type', ['function', 'web_search', 'x_search', 'code_interpreter', 'file_search', 'mcp']),
  ],
  'groq-responses': [functionsOnly('tools[#].type must be one of [function, mcp]', ['function', 'mcp'])],
  vllm: [functionsOnly('tool type not supported', ['function'])],
  openai: [
    rule("Invalid 'input[#].id'. Expected an ID that begins with 'fc'.", 'B', 'nodetool#4252', ({ body }) =>
      first(
        list(body.input).entries(),
        ({ type, id }) => type === 'function_call' && id !== undefined && !id.startsWith('fc'),
      ),
    ),
    rule("Unknown parameter: 'input[#].status'.", 'B', 'openai-python#3008', ({ body }) =>
      first(list(body.input).entries(), ({ type, status }) => type === 'reasoning' && status === null),
    ),
  ],
  gemini: [
    rule('must be specified when not using one_of, any_of or all_of fields', 'A', 'live', ({ body }) =>
      first(toolSchemas(body), ({ type, anyOf }) => !type && !anyOf),
    ),
    rule("only 'enum' and 'date-time' are supported for STRING type", 'A', 'live', ({ body }) =>
      first(
        toolSchemas(body),
        ({ format, type }) => format && /^string$/i.test(type) && !['enum', 'date-time'].includes(format),
      ),
    ),
    rule(
      'Function call is missing a thought_signature in functionCall parts.',
      'A',
      'Antigravity-Manager#3202',
      ({ model, body }) =>
        /gemini-3/.test(model)
          ? first(list(body.contents).entries(), ({ parts }) => {
              const call = list(parts).find((part) => part.functionCall);
              return call !== undefined && call.thoughtSignature === undefined;
            })
          : undefined,
    ),
  ],
};

function functionsOnly(words, kinds) {
  return rule(words, 'A', 'vllm#49493, docs/dialects/groq.md', ({ body }) =>
    first(list(body.tools).entries(), ({ type }) => !kinds.includes(type)),
  );
}

/** Returns the location of a call without thinking before it. */
function withoutThinking({ messages }) {
  return first(list(messages).entries(), ({ role, content }) => {
    const types = list(content).map(({ type }) => type);
    return role === 'assistant' && types.includes('tool_use') && !types.some((type) => /thinking/.test(type));
  });
}

/** Returns what a backend refuses in a request `{ model, headers, body }`. */
export function refusals(backend, request) {
  return RULES[backend].flatMap(({ words, confidence, source, at }) => {
    const place = at(request);
    return place === undefined ? [] : [`${words} [at ${place}; ${confidence}: ${source}]`];
  });
}
