// Real clients before fakes that refuse what the real APIs refuse: each fails by itself, and works through `toolwire relay`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { deepseek, groq, kimi, served } from './apis.js';

const here = fileURLToPath(new URL('.', import.meta.url));
/** The relay of each host. */
const RELAYS = {
  npm: [process.execPath, fileURLToPath(new URL('../../npm/dist/command.js', import.meta.url))],
  PyPI: [fileURLToPath(new URL('../../python/.venv/bin/python', import.meta.url)), '-m', 'toolwire'],
};
const QUESTION = 'What is the weather in Rome for three days?';
const folder = mkdtempSync(join(tmpdir(), 'toolwire-clients-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A home of a client's own, with a file in it. */
function home(name, files) {
  const place = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(place, path, '..'), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

/** How each client is started: with the URL of an API, and the file into which the MCP server writes its calls. */
const CLIENTS = {
  'claude-code': ({ url, log }) => {
    const server = { command: process.execPath, args: [join(here, 'mcp.js'), log] };
    const place = home(`claude-${url.split(':')[2]}`, {
      'mcp.json': JSON.stringify({ mcpServers: { weather: server } }),
    });
    return {
      place,
      command: [
        'claude',
        '-p',
        QUESTION,
        '--mcp-config',
        join(place, 'mcp.json'),
        '--strict-mcp-config',
        '--allowedTools',
        'mcp__weather',
      ],
      environment: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'fake',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '0',
        ENABLE_TOOL_SEARCH: 'true',
      },
    };
  },
  codex: ({ url, log }) => {
    const config = `model = "llama-4"
model_provider = "relay"
[model_providers.relay]
name = "relay"
base_url = "${url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
[mcp_servers.weather]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([join(here, 'mcp.js'), log])}
`;
    const place = home(`codex-${url.split(':')[2]}`, { '.codex/config.toml': config });
    const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    return { place, command: ['codex', 'exec', ...flags, QUESTION], environment: { FAKE_KEY: 'fake' } };
  },
  opencode: ({ url, log }) => {
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      name: 'relay',
      options: { baseURL: `${url}/v1`, apiKey: 'fake' },
    };
    const config = {
      provider: { relay: { ...provider, models: { 'deepseek-chat': { name: 'DeepSeek' } } } },
      mcp: { weather: { type: 'local', command: [process.execPath, join(here, 'mcp.js'), log], enabled: true } },
    };
    const place = home(`opencode-${url.split(':')[2]}`, { 'opencode.json': JSON.stringify(config) });
    return { place, command: ['opencode', 'run', '-m', 'relay/deepseek-chat', QUESTION], environment: {} };
  },
};

/** Runs a program to its end: what it prints. */
async function run({ place, command: [program, ...args], environment }) {
  const child = spawn(join(here, 'node_modules', '.bin', program), args, {
    cwd: place,
    env: { PATH: process.env.PATH, HOME: place, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += piece));
  await new Promise((resolve) => child.once('close', resolve));
  return text;
}

async function relay([program, ...args], upstream, dialect) {
  const options = ['relay', '--upstream', upstream, '--dialect', dialect, '--listen', '127.0.0.1:0'];
  const child = spawn(program, [...args, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  for await (const piece of child.stderr.iterator({ destroyOnReturn: false })) {
    log += piece;
    const found = /(http:\S+)\/toolwire\/last/.exec(log);
    if (found) return { url: found[1], close: () => child.kill() };
  }
  throw new Error(log);
}

const calls = (log) => {
  try {
    return readFileSync(log, 'utf8').trim().split('\n').map(JSON.parse);
  } catch {
    return [];
  }
};

for (const [client, api, dialect, refusal] of [
  ['claude-code', kimi, 'moonshot', /type should be defined in anyOf items|Extra inputs|tool_reference/],
  ['codex', groq, 'groq', /must be one of \[function, mcp\]/],
  ['opencode', deepseek, 'deepseek', /one of `type`, `anyOf`, `\$ref` field is required/],
]) {
  test(`${client} by itself`, async () => {
    const backend = await served(api);
    const log = join(folder, `${client}-alone.jsonl`);
    const said = await run(CLIENTS[client]({ url: backend.url, log }));
    backend.close();
    assert.match(backend.refusals.join('\n'), refusal, said);
    assert.deepEqual(calls(log), []);
  });

  for (const [host, program] of Object.entries(RELAYS)) {
    test(`${client} through the relay of ${host}`, async () => {
      const backend = await served(api);
      const between = await relay(program, backend.url, dialect);
      const log = join(folder, `${client}-${host}.jsonl`);
      const said = await run(CLIENTS[client]({ url: between.url, log }));
      between.close();
      backend.close();
      assert.deepEqual(backend.refusals, [], said);
      assert.deepEqual(calls(log), [{ name: 'weather.of', arguments: { city: 'Rome', days: 3 } }], said);
      assert.match(said, /It is sunny\./);
    });
  }
}
