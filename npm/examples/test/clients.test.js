// Runs the lines of docs/clients unchanged: an MCP SDK takes the place of Claude Desktop and Cursor, and requests like the clients' own are
// sent to the relay. `make clients` runs the clients that can be run.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client as StrictClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as StrictTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { deepseek, gemini, kimi, RESPONSES, served } from '../../../tests/clients/apis.js';
import { block, environment, read, relayOf } from '../../../tests/clients/pages.js';

const run = promisify(execFile);
const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolwire-pages-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The folder that the pages name. */
const NOTES = '/Users/me/notes';
const here = (text) => text.replaceAll(NOTES, folder);
const env = {
  ...environment(folder, {
    '@modelcontextprotocol/server-filesystem': file(
      '../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
    ),
    'some-mcp-server': file('../fake/many-tools.js'),
  }),
  HOME: folder,
};
const shell = (line) => run('/bin/sh', ['-c', line.trim()], { env, timeout: 60_000 }).catch((error) => error);

/** Starts the only server of a configuration file of a client, until the end of the test. */
async function started(t, text, MCP = Client, Transport = StdioClientTransport) {
  const [server] = Object.values(JSON.parse(here(text)).mcpServers);
  const client = new MCP({ name: 'client', version: '1.0.0' });
  t.after(() => client.close());
  await client.connect(new Transport({ ...server, env, stderr: 'ignore' }));
  return client;
}

/** Writes a client's file, lets the commands of a page change it, and undo the change. */
async function installs(page, path, before, expected) {
  const place = join(folder, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, before);
  // `--yes`, because there is no terminal to confirm at.
  const installed = await shell(`${block(page, 'install.sh').trim()} --yes`);
  assert.equal(readFileSync(place, 'utf8'), expected, installed.stderr);
  const removed = await shell(`${block(page, 'undo.sh').trim()} --yes`);
  assert.equal(readFileSync(place, 'utf8'), before, removed.stderr);
}

const LIMITS = { timeout: 120_000 };
const windows = process.platform === 'win32' && 'the lines are for a POSIX shell';
describe('the configurations in docs/clients', { skip: windows }, () => {
  test('Claude Desktop', LIMITS, async (t) => {
    const page = 'claude-desktop';
    const call = { name: 'list_directory', arguments: { path: folder } };
    const [before, lines] = [block(page, 'before.json'), block(page, 'claude_desktop_config.json')];

    const alone = await started(t, before, StrictClient, StrictTransport);
    await alone.listTools();
    // The message that the page quotes; the SDK's message is longer.
    const message = /^```text\n(.*?)\n```$/ms.exec(read(page))[1].replace('\n', ' ');
    await assert.rejects(alone.callTool(call), (error) => error.message.startsWith(message));

    const client = await started(t, lines, StrictClient, StrictTransport);
    assert.equal((await client.listTools()).tools.length, 14);
    const { content, isError } = await client.callTool(call);
    assert.match(content[0].text, /\[DIR\] bin/, isError);

    const check = here(block(page, 'check.sh'));
    const behind = await shell(check);
    assert.match(behind.stderr, /14 tools, 1 dialect: nothing is refused/);
    const without = await shell(check.replace('npx -y toolwire proxy --client claude-desktop -- ', ''));
    assert.match(without.stderr, /14 findings refused by claude-desktop/);

    await installs(page, 'Library/Application Support/Claude/claude_desktop_config.json', before, lines);
  });

  test('Cursor', LIMITS, async (t) => {
    const page = 'cursor';
    const lines = block(page, 'mcp.json');
    const before = lines.replace('"toolwire", "proxy", "--client", "cursor", "--name=crm", "--", "npx", "-y", ', '');
    const alone = await started(t, before);
    assert.equal((await alone.listTools()).tools.length, 120);

    const client = await started(t, lines);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['search_tools', 'call_tool'],
    );
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'reopen a ticket', limit: 1 } });
    const [{ name }] = JSON.parse(found.content[0].text);
    assert.equal(name, 'ticket_reopen');
    const called = await client.callTool({ name: 'call_tool', arguments: { name, arguments: { id: '7' } } });
    assert.deepEqual(JSON.parse(called.content[0].text), { name, arguments: { id: 7 } });

    await installs(page, '.cursor/mcp.json', before, lines);
  });

  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer' },
      when: { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] },
      detail: { enum: ['brief', 'full'] },
    },
    required: ['city'],
  };
  const description = 'Tells the weather of a city.';
  const QUESTION = 'What is the weather in Rome for three days?';

  /** Sends a request to a fake API directly, which refuses it in the words of the page, if any, and then through the page's relay. */
  async function relayed(t, { page, line, api, host, path, body, words, given }) {
    const fake = await served(api);
    t.after(fake.close);
    const ask = async (url) => {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
      const reply = await fetch(url, init);
      return { status: reply.status, text: await reply.text() };
    };
    const alone = await ask(fake.url + path);
    if (words === undefined) {
      assert.equal(alone.status, 200);
    } else {
      assert.ok(read(page).includes(words), `docs/clients/${page}.md: expected ${words}`);
      assert.equal(alone.status, 400);
      assert.ok(JSON.parse(alone.text).error.message.replace(/\d+/g, '8').includes(words), alone.text);
    }
    fake.refusals.length = 0;
    fake.hosts.clear();

    const relay = await relayOf(line, env, fake.url);
    t.after(relay.close);
    const through = await ask(relay.url + path);
    const last = await (await fetch(`${relay.url}/toolwire/last`)).text();
    assert.deepEqual(fake.refusals, []);
    assert.equal(through.status, 200, through.text);
    for (const pattern of given) assert.match(through.text, pattern);
    assert.deepEqual([...fake.hosts], [host]);
    assert.match(last, new RegExp(`https://${host}|http://${host}`));
    assert.match(last, /<tr><td>/);
  }

  /** The repaired arguments of the model's call: the number is not a string. */
  const ARGUMENTS = /\{\\*"city\\*":\\*"Rome\\*",\\*"days\\*":3\}/;

  test('Claude Code', LIMITS, async (t) => {
    const tool = { name: 'mcp__weather__of', description, input_schema: schema, defer_loading: false };
    const body = { model: 'kimi-k3', max_tokens: 9, stream: true, messages: [{ role: 'user', content: QUESTION }] };
    await relayed(t, {
      page: 'claude-code',
      line: block('claude-code', 'relay.sh'),
      api: kimi,
      host: 'api.moonshot.ai',
      path: '/v1/messages',
      body: { ...body, tools: [tool] },
      words: 'when using anyOf, type should be defined in anyOf items instead of the parent schema',
      given: [/mcp__weather__of/, ARGUMENTS],
    });
  });

  const rows = [...read('codex').matchAll(/^\| (\S+) \| `(https?:\S+)` \| .*$/gm)];
  test('Codex: the page lists every API that the test imitates', () => {
    assert.deepEqual(
      rows.map(([, name]) => name),
      Object.keys(RESPONSES),
    );
  });
  const WORDS = {
    Groq: 'tools[8].type must be one of [function, mcp]',
    Kimi: 'when using anyOf, type should be defined in anyOf items instead of the parent schema',
    vLLM: 'tool type namespace not supported',
    'llama.cpp': "'type' of tool must be 'function'",
  };
  for (const [, name, upstream] of rows) {
    test(`Codex: ${name}`, LIMITS, async (t) => {
      const functions = [{ type: 'function', name: 'of', description, parameters: schema, strict: false }];
      const shell = { type: 'object', properties: { command: { type: 'string' } } };
      const tools = [
        { type: 'function', name: 'shell', description: 'Runs', parameters: shell, strict: false },
        { type: 'namespace', name: 'mcp__weather', description: 'Weather', tools: functions },
      ];
      await relayed(t, {
        page: 'codex',
        line: block('codex', 'relay.sh').replace(/https:\S+/, upstream),
        api: RESPONSES[name],
        host: new URL(upstream).host,
        path: '/responses',
        body: { model: 'm', stream: true, input: [{ role: 'user', content: QUESTION }], tools },
        words: WORDS[name],
        given: [/"name":"of"/, /"namespace":"mcp__weather"/, ARGUMENTS],
      });
    });
  }

  test('opencode: Gemini', LIMITS, async (t) => {
    const tools = [{ functionDeclarations: [{ name: 'weather_of', description, parameters: schema }] }];
    await relayed(t, {
      page: 'opencode',
      line: block('opencode', 'relay-gemini.sh'),
      api: gemini,
      host: 'generativelanguage.googleapis.com',
      path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
      body: { contents: [{ role: 'user', parts: [{ text: QUESTION }] }], tools },
      words: 'must be specified when not using one_of, any_of or all_of fields',
      given: [/weather_of/, ARGUMENTS],
    });
  });

  test('opencode: DeepSeek', LIMITS, async (t) => {
    const tools = [{ type: 'function', function: { name: 'weather_of', description, parameters: schema } }];
    await relayed(t, {
      page: 'opencode',
      line: block('opencode', 'relay-deepseek.sh'),
      api: deepseek,
      host: 'api.deepseek.com',
      path: '/v1/chat/completions',
      body: { model: 'deepseek-chat', stream: true, messages: [{ role: 'user', content: QUESTION }], tools },
      words: 'one of `type`, `anyOf`, `$ref` field is required',
      given: [/weather_of/, ARGUMENTS],
    });
  });
});
