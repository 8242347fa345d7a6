// Runs sessions of Claude Code, Codex and opencode against strict fakes of backends, without the relay and through it. Prints the refusals,
// and the changes of the relay in requests that the fake would have accepted. Fails if a request through the relay is refused.
//
// `node agents/run.js [WORD…]` runs the sessions whose names contain a word.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PROGRAM } from '../../program.js';
import { listening } from '../pages.js';
import { redirect } from '../redirect.js';
import { fake, recorder } from './fakes.js';

const here = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolwire-agents-'));
const PATH = [join(here, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
/** Time limit of a client's command, in milliseconds. */
const PATIENCE = 60_000;

const ASKS = ['What is the weather in Rome for three days?', 'What is the weather in Oslo?'];
const server = (log) => [process.execPath, join(here, 'mcp.js'), log];

/** Claude Code: two questions with thinking and deferred tools, a compaction, and another question. */
const claude = (variables, model) => ({
  files: (log) => {
    const [command, ...args] = server(log);
    return { 'mcp.json': JSON.stringify({ mcpServers: { weather: { command, args } } }) };
  },
  lines: () => {
    const flags = '--mcp-config mcp.json --strict-mcp-config --allowedTools mcp__weather';
    return [
      `claude -p "${ASKS[0]}" ${flags}`,
      `claude -c -p "${ASKS[1]}" ${flags}`,
      `claude -c -p "/compact" ${flags}`,
      `claude -c -p "${ASKS[0]}" ${flags}`,
    ];
  },
  environment: (url) => ({
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
    ENABLE_TOOL_SEARCH: 'true',
    MAX_THINKING_TOKENS: '4000',
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    ...variables(url),
  }),
});
const plain = (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: 'fake' });
const bedrock = (url) => ({
  CLAUDE_CODE_USE_BEDROCK: '1',
  ANTHROPIC_BEDROCK_BASE_URL: url,
  AWS_BEARER_TOKEN_BEDROCK: 'fake',
  AWS_REGION: 'us-east-1',
});
const vertex = (url) => ({
  CLAUDE_CODE_USE_VERTEX: '1',
  ANTHROPIC_VERTEX_BASE_URL: `${url}/v1`,
  CLAUDE_CODE_SKIP_VERTEX_AUTH: '1',
  CLOUD_ML_REGION: 'us-east5',
  ANTHROPIC_VERTEX_PROJECT_ID: 'p',
});

/** Codex: a question, and a second one before which the history is compacted. */
const codex = (model, more = '') => ({
  files: (log, url) => {
    const [command, ...args] = server(log);
    const config = `model = ${JSON.stringify(model)}
model_provider = "relay"
model_auto_compact_token_limit = 20000
${more}
[model_providers.relay]
name = "relay"
base_url = "${url}"
env_key = "KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.weather]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
`;
    return { '.codex/config.toml': config };
  },
  lines: () => {
    const flags = '--skip-git-repo-check --dangerously-bypass-approvals-and-sandbox';
    return [`codex exec ${flags} "${ASKS[0]}"`, `codex exec ${flags} resume --last "${ASKS[1]}"`];
  },
  environment: () => ({ KEY: 'fake' }),
});

/** opencode: a model that reasons, with a context that the history exceeds, so that it is compacted. */
const opencode = (model, { npm = '@ai-sdk/openai-compatible', path = '/v1' } = {}) => ({
  files: (log, url) => {
    const about = {
      reasoning: true,
      interleaved: { field: 'reasoning_content' },
      tool_call: true,
      limit: { context: 60_000, output: 8_000 },
    };
    const config = {
      provider: {
        relay: { npm, options: { baseURL: `${url}${path}`, apiKey: 'fake' }, models: { [model]: about } },
      },
      small_model: `relay/${model}`,
      mcp: { weather: { type: 'local', command: server(log), enabled: true } },
    };
    return { 'opencode.json': JSON.stringify(config) };
  },
  lines: () => [`opencode run -m "relay/${model}" "${ASKS[0]}"`, `opencode run -c -m "relay/${model}" "${ASKS[1]}"`],
  environment: () => ({}),
});

const VERTEX = 'https://us-east5-aiplatform.googleapis.com';

/** Each session: its name, the fake, the upstream of the relay, and the client. */
const SESSIONS = [
  ['claude on anthropic', 'messages', 'anthropic', 'https://api.anthropic.com', claude(plain, 'claude-opus-5-5')],
  [
    'claude on bedrock',
    'messages',
    'bedrock',
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    claude(bedrock, 'us.anthropic.claude-opus-4-7'),
  ],
  [
    'claude on old bedrock',
    'messages',
    'bedrock',
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    claude(bedrock, 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'),
  ],
  ['claude on vertex', 'messages', 'vertex', VERTEX, claude(vertex, 'claude-sonnet-4-5@20250929')],
  ['claude by url on vertex', 'messages', 'vertex', VERTEX, claude(plain, 'claude-opus-5')],
  [
    'claude on mantle',
    'messages',
    'mantle',
    'https://bedrock-mantle.us-east-1.api.aws',
    claude(plain, 'claude-opus-5'),
  ],
  ['claude on copilot', 'messages', 'copilot', 'https://api.githubcopilot.com', claude(plain, 'claude-opus-4.7')],
  ['claude on kimi', 'messages', 'kimi', 'https://api.moonshot.ai/anthropic', claude(plain, 'kimi-k3')],
  [
    'claude on deepseek',
    'messages',
    'deepseek-messages',
    'https://api.deepseek.com/anthropic',
    claude(plain, 'deepseek-v4-pro'),
  ],
  ['claude on minimax', 'messages', 'minimax', 'https://api.minimax.io/anthropic', claude(plain, 'MiniMax-M3')],
  ['claude on zai', 'messages', 'zai', 'https://api.z.ai/api/anthropic', claude(plain, 'glm-5.3')],
  ['codex on xai', 'responses', 'xai', 'https://api.x.ai/v1', codex('grok-4', 'model_reasoning_effort = "high"')],
  ['codex on groq', 'responses', 'groq-responses', 'https://api.groq.com/openai/v1', codex('openai/gpt-oss-120b')],
  [
    'codex on vllm',
    'responses',
    'vllm',
    'http://127.0.0.1:8000/v1',
    codex('openai/gpt-oss-120b', 'web_search = "disabled"'),
  ],
  ['codex on openai', 'responses', 'openai', 'https://api.openai.com/v1', codex('gpt-5.4')],
  [
    'opencode on groq',
    'chat',
    'groq',
    'https://api.groq.com/openai',
    opencode('openai/gpt-oss-120b'),
    { reasoning: 'reasoning' },
  ],
  [
    'opencode on cerebras',
    'chat',
    'cerebras',
    'https://api.cerebras.ai',
    opencode('zai-glm-4.7'),
    { reasoning: 'reasoning' },
  ],
  ['opencode on mistral', 'chat', 'mistral', 'https://api.mistral.ai', opencode('mistral-large-latest')],
  ['opencode on deepseek', 'chat', 'deepseek-chat', 'https://api.deepseek.com', opencode('deepseek-v4-pro')],
  ['opencode on xai', 'chat', 'xai-chat', 'https://api.x.ai', opencode('grok-4')],
  [
    'opencode on gemini',
    'gemini',
    'gemini',
    'https://generativelanguage.googleapis.com',
    opencode('gemini-3-pro', { npm: '@ai-sdk/google', path: '/v1beta' }),
  ],
];

let homes = 0;

/** Plays the session of a client at a URL, in a separate home folder, and returns its output. */
async function play({ files, lines, environment }, url) {
  homes += 1;
  const place = join(folder, String(homes));
  for (const [path, text] of Object.entries(files(join(place, 'calls.jsonl'), url))) {
    mkdirSync(join(place, path, '..'), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  const outputs = [];
  for (const line of lines()) outputs.push(`$ ${line}\n${await run(line, place, environment(url))}`);
  return outputs.join('\n');
}

async function run(line, place, environment) {
  const child = spawn('/bin/sh', ['-c', line], {
    cwd: place,
    env: { PATH, HOME: place, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: the client is a child of the shell.
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), PATIENCE);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += piece));
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return text;
}

/** Starts a relay for an upstream, with a fake in its place. */
async function relayOf(upstream, url, report) {
  const redirected = await redirect(upstream, url);
  const child = spawn(PROGRAM, ['relay', '--upstream', upstream, '--listen', '127.0.0.1:0', '--report', report], {
    env: { ...process.env, ...redirected.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const relay = await listening(child);
  const close = async () => {
    await relay.close();
    redirected.close();
  };
  return { ...relay, close };
}

/** Returns the differing parts with their pointers. A part that only one value has is listed as a whole. */
function* differences(one, other, at = '') {
  if (JSON.stringify(one) === JSON.stringify(other)) return;
  const isBoth = [one, other].every((value) => typeof value === 'object' && value !== null);
  if (!isBoth || Array.isArray(one) !== Array.isArray(other)) {
    yield [at, one, other];
    return;
  }
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    yield* differences(one[key], other[key], `${at}/${key}`);
  }
}

const unnumbered = (found) => [...new Set(found.map(([pointer]) => pointer.replace(/\/\d+(?=\/|$)/g, '/#')))];

async function session([name, format, backend, upstream, client, about = {}]) {
  const alone = await fake({ backend, format, ...about });
  const withoutRelay = await play(client, alone.url);
  alone.close();
  const behind = await fake({ backend, format, ...about });
  const relay = await relayOf(upstream, behind.url, join(folder, `${backend}.jsonl`));
  const front = await recorder(backend, relay.url);
  const output = await play(client, front.url);
  front.close();
  await relay.close();
  behind.close();
  const needless = [];
  for (const { number, text } of behind.requests) {
    const sent = front.sent.get(number);
    if (sent?.accepted && sent.text !== text) needless.push(...differences(JSON.parse(sent.text), JSON.parse(text)));
  }
  const refused = (requests) => requests.filter(({ refused }) => refused.length > 0);
  return {
    name,
    alone: [refused(alone.requests).length, alone.requests.length],
    relayed: [refused(behind.requests).length, behind.requests.length],
    own: front.sent.size - behind.requests.length,
    needless: unnumbered(needless),
    examples: needless,
    words: [...new Set(refused(behind.requests).flatMap(({ refused }) => refused))],
    aloneWords: [...new Set(refused(alone.requests).flatMap(({ refused }) => refused))],
    isDone: output.includes('It is sunny.'),
    output,
    withoutRelay,
  };
}

const words = process.argv.slice(2);
const chosen = SESSIONS.filter(([name]) => words.length === 0 || words.some((word) => name.includes(word)));
const results = [];
for (const one of chosen) {
  const result = await session(one);
  results.push(result);
  const { name, alone, relayed, needless, isDone } = result;
  const shown = ([refused, all]) => `${refused} of ${all}`;
  console.log(
    `${name.padEnd(26)} alone ${shown(alone).padEnd(10)} relay ${shown(relayed).padEnd(10)} ${isDone ? 'answered' : 'NO ANSWER'}  ${needless.join(' ')}`,
  );
  if (process.env.VERBOSE) {
    console.log(result.output.slice(-3000), result.aloneWords);
    for (const example of result.examples.slice(0, 20)) console.log(JSON.stringify(example).slice(0, 400));
  }
  for (const line of result.words) console.log(`    refused: ${line}`);
}
rmSync(folder, { recursive: true, force: true });
const sum = (key, at) => results.reduce((total, result) => total + result[key][at], 0);
console.log(
  `\n400s without the relay: ${sum('alone', 0)} of ${sum('alone', 1)} requests, ${results.filter(({ alone }) => alone[0] > 0).length} of ${results.length} sessions`,
);
console.log(
  `400s with the relay:    ${sum('relayed', 0)} of ${sum('relayed', 1)} requests, ${results.filter(({ relayed }) => relayed[0] > 0).length} of ${results.length} sessions`,
);
process.exitCode = results.some(({ relayed, isDone }) => relayed[0] > 0 || !isDone) ? 1 : 0;
