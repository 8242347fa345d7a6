// Runs Claude Code, Codex and opencode with an MCP server that has 12 kinds of faults, without and with `toolwire proxy`, and prints how many
// tools arrive in the requests to the model, and how many calls succeed: the server accepts the arguments, and the model receives the result.
//
// `node faults/run.js [WORD…]` runs the clients whose names contain a word. `VERBOSE=1` prints what the clients print.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PROGRAM } from '../../program.js';
import { judged } from '../agents/fakes.js';
import { refusals } from '../agents/rules.js';
import { chat, messages, responses, Seen } from './model.js';
import { counted, summary } from './report.js';
import { FAULTS } from './tools.js';

const here = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolwire-faults-'));
const PATH = [join(here, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
/** Time limit of a client, in milliseconds. */
const PATIENCE = 150_000;
const ASK = 'Use every tool once.';
const MAX_RESULT = '20000';

/** Each client: the option of the proxy for it, its model API, and how it is started with servers, `{ name: [program, …arguments] }`. */
const CLIENTS = {
  'Claude Code': {
    proxy: (name) => ['--client', 'claude-code', '--name', name],
    backend: 'anthropic',
    format: messages,
    files: (servers) => {
      const named = Object.entries(servers).map(([name, [command, ...args]]) => [name, { command, args }]);
      return { 'mcp.json': JSON.stringify({ mcpServers: Object.fromEntries(named) }) };
    },
    line: (servers) => {
      const allowed = Object.keys(servers).map((name) => `mcp__${name}`);
      return `claude -p "${ASK}" --mcp-config mcp.json --strict-mcp-config --allowedTools ${allowed.join(',')}`;
    },
    environment: (url) => ({
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      ENABLE_TOOL_SEARCH: 'false',
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: 'fake',
    }),
  },
  Codex: {
    proxy: (name) => ['--client', 'codex', '--name', name],
    backend: 'openai',
    format: responses,
    files: (servers, url) => {
      const named = Object.entries(servers).map(
        ([name, [command, ...args]]) =>
          `[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
      );
      const provider = `model = "gpt-5.4"
model_provider = "relay"
[model_providers.relay]
name = "relay"
base_url = "${url}"
env_key = "KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`;
      return { '.codex/config.toml': provider + named.join('') };
    },
    line: () => `codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "${ASK}"`,
    environment: () => ({ KEY: 'fake' }),
  },
  opencode: {
    proxy: (name) => ['--client', 'typescript-sdk', '--name', name],
    backend: 'xai-chat',
    format: chat,
    files: (servers, url) => {
      const options = { baseURL: `${url}/v1`, apiKey: 'fake' };
      const models = { 'grok-4': { tool_call: true, limit: { context: 200_000, output: 8_000 } } };
      const named = Object.entries(servers).map(([name, command]) => [name, { type: 'local', command, enabled: true }]);
      const config = {
        provider: { relay: { npm: '@ai-sdk/openai-compatible', options, models } },
        small_model: 'relay/grok-4',
        mcp: Object.fromEntries(named),
      };
      return { 'opencode.json': JSON.stringify(config) };
    },
    line: () => `opencode run -m "relay/grok-4" "${ASK}"`,
    environment: () => ({}),
  },
};

/** Serves a model API with the rules of a backend. */
async function served({ backend, format }, seen) {
  const refused = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const read = judged(request, Buffer.concat(pieces));
    const json = (status, value) => {
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.method !== 'POST' || read === undefined) return json(404, {});
    if (/count[-_]?tokens/i.test(read.path)) return json(200, { input_tokens: 100 });
    const words = refusals(backend, read);
    if (words.length > 0) {
      refused.push(words[0]);
      return json(400, { type: 'error', error: { type: 'invalid_request_error', message: words[0] } });
    }
    const events = format(read.body, seen);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const event of events)
      response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
    response.end(format === chat ? 'data: [DONE]\n\n' : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, refused, close };
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

let homes = 0;

/** Runs a client with servers, and returns what the model has seen, and the calls that the servers accepted. */
async function session(client, isProxied, isOne) {
  homes += 1;
  const place = join(folder, String(homes));
  const log = join(place, 'calls.txt');
  mkdirSync(place);
  writeFileSync(log, '');
  const started = (name, fault) => {
    const own = [process.execPath, join(here, 'faults', 'server.js'), log, ...(fault ? [fault] : [])];
    return isProxied ? [PROGRAM, 'proxy', ...client.proxy(name), '--max-result', MAX_RESULT, '--', ...own] : own;
  };
  const all = FAULTS.filter(({ fault }) => fault !== 'none').map(({ fault }, at) => [
    `s${at}`,
    started(`s${at}`, fault),
  ]);
  const servers = isOne ? { all: started('all') } : Object.fromEntries(all);
  const seen = new Seen();
  const model = await served(client, seen);
  for (const [path, text] of Object.entries(client.files(servers, model.url))) {
    mkdirSync(join(place, path, '..'), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  const output = await run(client.line(servers), place, client.environment(model.url));
  model.close();
  if (process.env.VERBOSE)
    console.log(
      output.slice(-3000),
      JSON.stringify([...seen.tools.values()]),
      [...seen.results].map(([mark, text]) => [mark, text.slice(0, 200)]),
    );
  const accepted = readFileSync(log, 'utf8').split('\n').filter(Boolean);
  return counted(seen, accepted, model.refused);
}

const words = process.argv.slice(2);
const results = [];
for (const [name, client] of Object.entries(CLIENTS)) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  for (const isOne of [true, false])
    for (const isProxied of [false, true]) {
      const found = await session(client, isProxied, isOne);
      const title = `${name}, ${isOne ? 'one server' : 'a server for each fault'}, ${isProxied ? 'proxy' : 'alone'}`;
      results.push({ name, isOne, isProxied, ...found });
      console.log(
        `${title}: ${found.tools} tools, ${found.succeeded} calls; not called: ${found.lost.join(', ') || 'none'}`,
      );
      for (const line of new Set(found.refused)) console.log(`    the API refused: ${line}`);
    }
}
rmSync(folder, { recursive: true, force: true });
const report = summary(results);
console.log(`\n${report.text}`);
process.exitCode = report.failures > 0 ? 1 : 0;
