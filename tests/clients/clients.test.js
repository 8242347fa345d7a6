// Runs real clients with the lines of docs/clients against fakes that refuse what the real APIs refuse, without and with `toolwire relay`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { PROGRAM } from '../program.js';
import { deepseek, gemini, kimi, RESPONSES, served } from './apis.js';
import { block, blockAt, environment, read, relayOf } from './pages.js';
import { redirect } from './redirect.js';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Time limit of a test, longer than the time limit of a client (`run`). */
const LIMITS = { timeout: 180_000 };
const QUESTION = 'What is the weather in Rome for three days?';
const folder = mkdtempSync(join(tmpdir(), 'toolwire-clients-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let homes = 0;

/** Creates a home for one run of a client, with files in it. */
function home(name, files) {
  homes += 1;
  const place = join(folder, `${name}-${homes}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(place, path, '..'), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

const KEYS = { MOONSHOT_API_KEY: 'fake', GROQ_API_KEY: 'fake', DEEPSEEK_API_KEY: 'fake', GEMINI_API_KEY: 'fake' };
const server = (log) => ({ command: process.execPath, args: [join(here, 'mcp.js'), log] });

/** How each client is started: with the lines of its page, the URL of an API, and the file into which the MCP server writes its calls. */
const CLIENTS = {
  'claude-code': ({ url, log }) => {
    const place = home('claude', {
      'mcp.json': JSON.stringify({ mcpServers: { weather: server(log) } }),
    });
    const flags = '--mcp-config mcp.json --strict-mcp-config --allowedTools mcp__weather';
    const environment = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '0' };
    return { place, line: `${blockAt('claude-code', 'claude.sh', url).trim()} -p "${QUESTION}" ${flags}`, environment };
  },
  codex: ({ url, log, name }) => {
    const { command, args } = server(log);
    const first = name === 'vLLM' ? block('codex', 'vllm.toml') : '';
    const more = `request_max_retries = 0
[mcp_servers.weather]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
`;
    const place = home('codex', {
      '.codex/config.toml': first + blockAt('codex', 'config.toml', url) + more,
    });
    const flags = '--skip-git-repo-check --dangerously-bypass-approvals-and-sandbox';
    return { place, line: `codex exec ${flags} "${QUESTION}"`, environment: {} };
  },
  'opencode on Gemini': (run) => opencode(run, 'opencode-gemini.json', 'google/gemini-2.5-pro'),
  'opencode on DeepSeek': (run) => opencode(run, 'opencode-deepseek.json', 'relay/deepseek-chat'),
};

function opencode({ url, log }, file, model) {
  const { command, args } = server(log);
  const config = JSON.parse(blockAt('opencode', file, url));
  config.mcp = { weather: { type: 'local', command: [command, ...args], enabled: true } };
  const place = home('opencode', { 'opencode.json': JSON.stringify(config) });
  return { place, line: `opencode run -m ${model} "${QUESTION}"`, environment: {} };
}

/** Runs a line to its end, and returns its output. */
async function run({ place, line, environment }) {
  const PATH = [join(here, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const child = spawn('/bin/sh', ['-c', line], {
    cwd: place,
    env: { PATH, HOME: place, ...KEYS, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: the client is a child of the shell.
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 120_000);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += piece));
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  return text;
}

const calls = (log) => {
  try {
    return readFileSync(log, 'utf8').trim().split('\n').map(JSON.parse);
  } catch {
    return [];
  }
};

const upstream = (name) => new RegExp(`^\\| ${name} \\| \`(\\S+)\``, 'm').exec(read('codex'))[1];
const codex = (name, refusal) => {
  const line = block('codex', 'relay.sh').replace(/https:\S+/, upstream(name));
  return ['codex', name, RESPONSES[name], line, refusal];
};

for (const [client, name, api, line, refusal] of [
  [
    'claude-code',
    'Kimi',
    kimi,
    block('claude-code', 'relay.sh'),
    /type should be defined in anyOf items|Extra inputs|tool_reference/,
  ],
  codex('Groq', /must be one of \[function, mcp\]/),
  codex('DeepSeek'),
  codex('Kimi', /type should be defined in anyOf items/),
  codex('vLLM', /tool type namespace not supported/),
  codex('llama.cpp', /'type' of tool must be 'function'/),
  ['opencode on Gemini', '', gemini, block('opencode', 'relay-gemini.sh'), /must be specified when not using/],
  [
    'opencode on DeepSeek',
    '',
    deepseek,
    block('opencode', 'relay-deepseek.sh'),
    /one of `type`, `anyOf`, `\$ref` field is required/,
  ],
]) {
  const title = `${client} ${name}`.trim();
  test(`${title}, by itself`, LIMITS, async (t) => {
    const backend = await served(api);
    t.after(backend.close);
    const log = join(folder, `${title}-alone.jsonl`);
    const output = await run(CLIENTS[client]({ url: backend.url, log, name }));
    if (refusal === undefined) {
      assert.deepEqual(backend.refusals, [], output);
      assert.deepEqual(calls(log), [{ name: 'weather.of', arguments: { city: 'Rome', days: '3' } }], output);
    } else {
      assert.match(backend.refusals.join('\n'), refusal, output);
      assert.deepEqual(calls(log), []);
    }
  });

  test(`${title}, through the relay`, LIMITS, async (t) => {
    const backend = await served(api);
    t.after(backend.close);
    const relay = await relayOf(line, environment(folder), backend.url);
    t.after(relay.close);
    const log = join(folder, `${title}.jsonl`);
    const output = await run(CLIENTS[client]({ url: relay.url, log, name }));
    assert.deepEqual(backend.refusals, [], output);
    assert.deepEqual(calls(log), [{ name: 'weather.of', arguments: { city: 'Rome', days: 3 } }], output);
    assert.match(output, /It is sunny\./);
  });
}

/** `toolwire run` with real clients: the options of the command, the client with its arguments, and the files of its home. */
const RUNS = {
  'claude-code': ({ log }) => ({
    on: '--on kimi --model kimi-k3',
    upstream: 'https://api.moonshot.ai',
    api: kimi,
    // The `env` of the user's settings overrides variables.
    files: {
      'mcp.json': JSON.stringify({ mcpServers: { weather: server(log) } }),
      '.claude/settings.json': JSON.stringify({
        env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_MODEL: 'another' },
      }),
    },
    client: `claude -p "${QUESTION}" --mcp-config mcp.json --strict-mcp-config --allowedTools mcp__weather`,
    environment: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '0' },
  }),
  codex: ({ log }) => ({
    on: '--on groq --model openai/gpt-oss-120b',
    upstream: 'https://api.groq.com',
    api: RESPONSES.Groq,
    files: {
      '.codex/config.toml': `[mcp_servers.weather]
command = ${JSON.stringify(server(log).command)}
args = ${JSON.stringify(server(log).args)}
`,
    },
    client: `codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "${QUESTION}"`,
    environment: {},
  }),
  opencode: ({ log }) => ({
    on: '--on deepseek --model deepseek-chat',
    upstream: 'https://api.deepseek.com',
    api: deepseek,
    files: {
      'opencode.json': JSON.stringify({
        mcp: { weather: { type: 'local', command: [server(log).command, ...server(log).args], enabled: true } },
      }),
    },
    client: `opencode run "${QUESTION}"`,
    environment: {},
  }),
};

for (const [name, about] of Object.entries(RUNS)) {
  for (const token of ['', '--token-env TOKEN']) {
    test(`${name}, with toolwire run ${token}`.trim(), LIMITS, async (t) => {
      const log = join(folder, `${name}-run${token}.jsonl`);
      const { on, upstream, api, files, client, environment } = about({ log });
      const backend = await served(api);
      t.after(backend.close);
      const redirected = await redirect(upstream, backend.url);
      t.after(redirected.close);
      const line = `"${PROGRAM}" run ${on} ${token} -- ${client}`;
      const variables = { ...environment, ...redirected.env, TOKEN: 'secret' };
      const output = await run({ place: home(name, files), line, environment: variables });
      assert.deepEqual(backend.refusals, [], output);
      assert.deepEqual(calls(log), [{ name: 'weather.of', arguments: { city: 'Rome', days: 3 } }], output);
      assert.match(output, /It is sunny\./);
    });
  }
}
