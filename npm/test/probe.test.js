// Tests `toolwire probe` over HTTP: the key is sent in the header and nowhere else.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../dist/command.js', import.meta.url));
const KEY = 'secret/with+signs-0123456789';
const TOOLS = JSON.stringify([
  { name: 'good', description: 'It is.', inputSchema: { type: 'object', properties: {} } },
  { name: 'bad', inputSchema: { type: 'object', properties: { a: { type: 'array' } } } },
]);
const REFUSAL = "Invalid schema for function 'bad': In context=('properties', 'a'), array schema missing items.";

/** The key with the escapes that encoders of .NET and PHP write in JSON, in nested JSON, in a URL, and in HTML. */
const ESCAPED = JSON.stringify({
  error: {
    message: `MESSAGE ${KEY.replace('+', '%2B')} ${KEY.replace('+', '&#43;')} ${JSON.stringify(`${KEY}`).replace('+', '\\u002B')}`,
  },
}).replace('MESSAGE', KEY.replace('/', '\\/').replace('+', '\\u002B'));

/** Probes the tools, and returns the output and the exit code. */
async function probe(url, { args = [], key = KEY, cwd } = {}) {
  const all = ['probe', '-d', 'openai-chat', '--model', 'm', '--key-env', 'THE_KEY', '--url', url, ...args];
  const env = { ...process.env, THE_KEY: key, NO_COLOR: '1' };
  const child = spawn(process.execPath, [PROGRAM, ...all], { cwd, env });
  const out = ['', ''];
  for (const [at, stream] of [child.stdout, child.stderr].entries()) {
    stream.setEncoding('utf8').on('data', (piece) => {
      out[at] += piece;
    });
  }
  child.stdin.on('error', () => {});
  child.stdin.end(TOOLS);
  const [code] = await once(child, 'close');
  return [...out, code];
}

/** A fake of Chat Completions: overloaded at first, then refusals in OpenAI's own words. */
async function withApi(use) {
  const received = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const body = JSON.parse(text);
    const { authorization } = request.headers;
    received.push([request.url, authorization, body]);
    const answer = (status, body, headers = {}) => response.writeHead(status, headers).end(body);
    const kind = request.url.split('/')[1];
    if (kind === 'away') answer(307, '', { location: '/v1/chat/completions' });
    else if (kind === 'slow') return;
    else if (kind === 'escaped') answer(401, ESCAPED);
    else if (kind === 'key' || authorization !== `Bearer ${KEY}`)
      answer(401, `Incorrect API key provided: ${authorization}`);
    else if (received.length === 1) answer(429, '{}', { 'retry-after': '1' });
    else if (body.tools.some((tool) => tool.function.name === 'bad'))
      answer(400, JSON.stringify({ error: { message: REFUSAL } }));
    else answer(200, '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`http://127.0.0.1:${server.address().port}`, received);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('the key is only in the header', () =>
  withApi(async (url, received) => {
    const cwd = mkdtempSync(join(tmpdir(), 'toolwire-probe-'));
    const args = ['--json', '--record', 'rows.jsonl'];
    const [stdout, stderr, code] = await probe(`${url}/v1`, { args, key: ` ${KEY}\n`, cwd });
    const recorded = readFileSync(join(cwd, 'rows.jsonl'), 'utf8');
    rmSync(cwd, { recursive: true });
    assert.deepEqual([stderr, code], ['', 1]);
    const found = JSON.parse(stdout);
    assert.deepEqual(
      found.tools.map((tool) => tool.api),
      ['accepted', 'refused'],
    );
    assert.deepEqual([found.requests, received.length], [3, 3], 'a request was repeated');
    for (const [path, authorization] of received) {
      assert.deepEqual([path, authorization], ['/v1/chat/completions', `Bearer ${KEY}`]);
    }
    assert.deepEqual(received[0][2], received[1][2]);
    const rows = recorded.trim().split('\n').map(JSON.parse);
    assert.deepEqual(
      rows.map((row) => row.verdict),
      ['accepted', 'rejected'],
    );
    assert.match(rows[0].recorded, /^\d{4}-\d\d-\d\d$/);
    for (const text of [stdout, recorded, JSON.stringify(received.map(([, , body]) => body))])
      assert.ok(!text.includes(KEY));
    assert.ok(!recorded.includes('127.0.0.1'));
  }));

test('a key that an answer repeats is masked', () =>
  withApi(async (url) => {
    const [, stderr, code] = await probe(`${url}/key`);
    assert.equal(code, 2);
    assert.ok(stderr.endsWith('found 401: Incorrect API key provided: Bearer (THE_KEY)\n'), stderr);
  }));

test('a key that an answer repeats with escapes is masked', () =>
  withApi(async (url) => {
    const [, stderr, code] = await probe(`${url}/escaped`);
    assert.equal(code, 2);
    assert.ok(stderr.endsWith('found 401: (THE_KEY) (THE_KEY) (THE_KEY) "(THE_KEY)"\n'), stderr);
  }));

test('a key that is not valid in a header is refused and not printed', () =>
  withApi(async (url, received) => {
    const [stdout, stderr, code] = await probe(`${url}/v1`, { key: 'one\ntwo-secret' });
    assert.deepEqual([code, received], [2, []]);
    assert.ok(!(stdout + stderr).includes('two-secret'), stderr);
  }));

test('a redirection is not followed', () =>
  withApi(async (url, received) => {
    const [, stderr, code] = await probe(`${url}/away`);
    assert.deepEqual([code, received.length], [2, 1]);
    assert.ok(stderr.includes('found 307'), stderr);
  }));

test('a server that does not answer is an error', () =>
  withApi(async (url) => {
    const [, stderr, code] = await probe(`${url}/slow`, { args: ['--timeout', '1'] });
    assert.equal(code, 2);
    assert.ok(stderr.endsWith(': expected an answer in 1 s, found none\n'), stderr);
  }));

test('an address without a server is an error', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  server.close();
  await once(server, 'close');
  const [, stderr, code] = await probe(`http://${host}/v1`);
  const why = 'expected a server at that address, found none (ECONNREFUSED)';
  assert.deepEqual([stderr, code], [`toolwire: ${host}: ${why}\n`, 2]);
});
