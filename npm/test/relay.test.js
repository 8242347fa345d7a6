// Tests `toolwire relay`: every transcript of tests/relay, and the program with clients and upstreams on real sockets.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

const FOLDER = new URL('../../tests/relay/', import.meta.url);
const PROGRAM = fileURLToPath(new URL('../dist/command.js', import.meta.url));
const PKG = new URL('../../bindings-wasm/pkg/command/', import.meta.url);
const { RelayState, initSync } = await import(new URL('toolwire_wasm.js', PKG));
initSync({ module: readFileSync(new URL('toolwire_wasm_bg.wasm', PKG)) });

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== 'count.json');
const cases = files.flatMap((name) =>
  JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).map((it) => ({ ...it, file: name.replace('.json', '') })),
);

/** Returns a transcript's body as bytes: text, or JSON, which becomes compact text. */
const bytes = (body) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

function played(relay, step) {
  const number = step.number ?? 1;
  if ('request' in step) return relay.request(number, JSON.stringify(step.request));
  if ('received' in step) return relay.received(number, step.received);
  if ('body' in step) return relay.body(number, bytes(step.body));
  if ('unread' in step) return relay.unread(number, step.unread.status, step.unread.why);
  if ('reply' in step) return relay.reply(number, step.reply.status, JSON.stringify(step.reply.headers));
  if ('whole' in step) return relay.whole(number, bytes(step.whole));
  if ('piece' in step) return relay.piece(number, bytes(step.piece));
  if ('end' in step) return relay.end(number);
  if ('failed' in step) return relay.failed(number, step.failed.late ?? false, step.failed.why);
  return relay.closed(number, step.closed);
}

/** Returns effects in the form of the transcripts: words, and JSON as a value. */
function shown(words) {
  const effects = [];
  for (let at = 0; at < words.length; at += 3) {
    const [kind, ...rest] = words.slice(at, at + 3);
    effects.push([kind, ...rest.filter((word) => word !== '').map(value)]);
  }
  return effects;
}

/** Returns the text as JSON if nothing of its spelling is lost. */
function value(text) {
  try {
    const read = JSON.parse(text);
    return JSON.stringify(read) === text ? read : text;
  } catch {
    return text;
  }
}

test('the number of transcripts matches count.json', () => {
  assert.equal(cases.length, JSON.parse(readFileSync(new URL('count.json', FOLDER), 'utf8')).cases);
});

describe('every transcript', () => {
  for (const it of cases) {
    test(`${it.file}: ${it.name}`, () => {
      const relay = new RelayState(JSON.stringify(it.settings), it.token);
      for (const step of it.steps) {
        assert.equal(JSON.stringify(shown(played(relay, step))), JSON.stringify(step.effects));
      }
    });
  }
});

const folder = mkdtempSync(join(tmpdir(), 'toolwire-relay-'));
const closing = [];
after(async () => {
  await Promise.all(closing.map((close) => close()));
  rmSync(folder, { recursive: true });
});

/** Starts a fake API whose replies are written by a function. */
async function api(answer) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, server };
}

/** Starts the relay in front of APIs, and returns its URL and its log. */
async function relay(args, environment = {}) {
  const child = spawn(process.execPath, [PROGRAM, 'relay', '--listen', '127.0.0.1:0', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const started = { child, log: '', url: '', ended: once(child, 'close') };
  closing.push(async () => {
    child.kill('SIGKILL');
    await started.ended;
  });
  for await (const piece of child.stderr.iterator({ destroyOnReturn: false })) {
    started.log += piece;
    const found = /(http:\S+)\/toolwire\/last/.exec(started.log);
    if (found === null) continue;
    started.url = found[1];
    break;
  }
  child.stderr.on('data', (piece) => {
    started.log += piece;
  });
  assert.notEqual(started.url, '', started.log);
  return started;
}

const agent = new Agent({ keepAlive: false });

/** Sends a request, byte for byte, and returns the reply once its head has arrived. */
async function sent(url, { method = 'POST', headers = ['Content-Type', 'application/json'], body, host } = {}) {
  const { hostname, port, pathname, search } = new URL(url);
  const list = ['Host', host ?? `${hostname}:${port}`, ...headers];
  if (body !== undefined) list.push('Content-Length', String(Buffer.byteLength(body)));
  const client = request({ hostname, port, path: pathname + search, method, headers: list, agent });
  client.end(body);
  const [reply] = await once(client, 'response');
  return { client, reply };
}

async function all(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

const exchange = async (url, how) => {
  const { reply } = await sent(url, how);
  return { status: reply.statusCode, headers: reply.rawHeaders, body: (await all(reply)).toString() };
};

const tools = (name) => [
  { type: 'function', function: { name, parameters: { type: 'object', properties: { n: { type: 'integer' } } } } },
];
const chat = (name, more = {}) =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], tools: tools(name), ...more });
const called = (name) =>
  JSON.stringify({
    choices: [
      {
        index: 0,
        message: { role: 'assistant', tool_calls: [{ id: 'c', function: { name, arguments: '{"n":"4"}' } }] },
        finish_reason: 'tool_calls',
      },
    ],
  });
const event = (delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;

test('requests and replies without tools pass byte for byte', async () => {
  const seen = [];
  const raw = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const { url } = await api(async (request, response) => {
    seen.push([request.method, request.url, request.rawHeaders, await all(request)]);
    response.writeHead(203, [
      'X-Two',
      '1',
      'x-two',
      '2',
      'Content-Type',
      'application/octet-stream',
      'Content-Encoding',
      'br',
    ]);
    response.end(raw);
  });
  const { url: base } = await relay(['--upstream', `${url}/base`]);
  const headers = ['X-Case', 'Ä'.normalize('NFC'), 'authorization', 'Bearer k', 'Content-Type', 'image/png'];
  const { reply } = await sent(`${base}/v1/files?a=%2F&b`, { headers, body: raw });
  assert.equal(reply.statusCode, 203);
  assert.deepEqual(await all(reply), raw);
  assert.deepEqual(reply.rawHeaders.slice(0, 8), [
    'X-Two',
    '1',
    'x-two',
    '2',
    'Content-Type',
    'application/octet-stream',
    'Content-Encoding',
    'br',
  ]);
  const [method, target, got, body] = seen[0];
  assert.deepEqual([method, target], ['POST', '/base/v1/files?a=%2F&b']);
  assert.deepEqual(got.slice(0, 10), ['Host', url.slice(7), ...headers, 'Content-Length', '256']);
  assert.deepEqual(body, raw);
  const { status } = await exchange(`${base}/v1/models`, { method: 'GET', headers: [] });
  assert.equal(status, 203);
  assert.equal((await exchange(`${base}/v1/models`, { method: 'HEAD', headers: [] })).body, '');
});

test('calls are restored, however a reply is compressed and split', async () => {
  const packers = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  const seen = [];
  const { url } = await api(async (request, response) => {
    const body = JSON.parse(await all(request));
    seen.push(body.tools[0].function.name);
    const how = request.headers['x-how'];
    const packed = packers[how];
    const head = { 'Content-Type': body.stream ? 'text/event-stream' : 'application/json' };
    if (packed) head['Content-Encoding'] = how;
    response.writeHead(200, head);
    const text = body.stream
      ? `${event({ tool_calls: [{ index: 0, id: 'c', function: { name: 'a_b', arguments: '{"n":"4"}' } }] })}data: [DONE]\n\n`
      : called('a_b');
    const reply = packed ? packed(text) : Buffer.from(text);
    for (const byte of reply) response.write(Buffer.from([byte]));
    response.end();
  });
  const { url: base } = await relay(['--upstream', url, '--dialect', 'openai-chat']);
  for (const how of ['none', ...Object.keys(packers)]) {
    for (const stream of [false, true]) {
      const headers = ['Content-Type', 'application/json', 'X-How', how];
      const { body } = await exchange(`${base}/v1/chat/completions`, { headers, body: chat('a.b', { stream }) });
      assert.match(body, /"name":"a\.b"/, how);
      assert.match(body, /\{\\"n\\":4\}/, how);
    }
    const headers = ['Content-Type', 'application/json', ...(packers[how] ? ['Content-Encoding', how] : [])];
    const body = packers[how] ? packers[how](chat('a.b')) : chat('a.b');
    assert.equal((await exchange(`${base}/v1/chat/completions`, { headers, body })).status, 200);
  }
  assert.equal(new Set(seen).size, 1);
});

test('an event is passed on before the next one arrives', async () => {
  let go;
  const { url } = await api(async (request, response) => {
    await all(request);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(event({ content: 'first' }));
    await new Promise((resolve) => {
      go = resolve;
    });
    response.end(event({ content: 'second' }));
  });
  const { url: base } = await relay(['--upstream', url, '--dialect', 'openai-chat']);
  const { reply } = await sent(`${base}/v1/chat/completions`, { body: chat('a.b', { stream: true }) });
  let text = '';
  for await (const piece of reply) {
    text += piece;
    if (go !== undefined && text.includes('first')) go();
  }
  assert.match(text, /first[\s\S]*second/);
});

test('a client that disconnects ends the request at the API', async () => {
  let gone;
  const ended = new Promise((resolve) => {
    gone = resolve;
  });
  const { url } = await api(async (request, response) => {
    await all(request);
    response.once('close', gone);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(event({ content: 'first' }));
  });
  const { url: base } = await relay(['--upstream', url, '--dialect', 'openai-chat']);
  const { client, reply } = await sent(`${base}/v1/chat/completions`, { body: chat('a.b', { stream: true }) });
  await once(reply, 'data');
  client.destroy();
  await ended;
});

test('a failure of the API is reported at every point', async () => {
  const { url, server } = await api(async (request, response) => {
    const how = request.headers['x-how'];
    if (how === 'silent') return;
    await all(request);
    if (how === 'reset') return request.socket.resetAndDestroy();
    const isStream = how.startsWith('stream');
    response.writeHead(200, { 'Content-Type': isStream ? 'text/event-stream' : 'application/json' });
    response.write(isStream ? event({ content: 'first' }) : '{"choices":');
    if (how !== 'stream-silent') response.write('data: ', () => request.socket.resetAndDestroy());
  });
  const { url: base } = await relay(['--upstream', url, '--dialect', 'openai-chat', '--timeout', '1']);
  const ask = (how, body = chat('a.b')) =>
    exchange(`${base}/v1/chat/completions`, { headers: ['Content-Type', 'application/json', 'X-How', how], body });
  for (const [how, status, words] of [
    ['reset', 502, 'found none .ECONNRESET'],
    ['silent', 504, 'nothing was received for 1 seconds'],
    ['half', 502, 'found none'],
    ['stream', 200, 'first[\\s\\S]*"type":"relay_error"'],
    ['stream-silent', 200, 'first[\\s\\S]*nothing was received for 1 seconds'],
  ]) {
    const found = await ask(how);
    assert.equal(found.status, status, `${how}: ${found.body}`);
    assert.match(found.body, new RegExp(words), how);
  }
  // A reply that passes unchanged: the client must notice that it is truncated.
  await assert.rejects(exchange(`${base}/v1/models`, { method: 'GET', headers: ['X-How', 'half'] }));
  server.closeAllConnections();
  server.close();
  const refused = await ask('reset');
  assert.equal(refused.status, 502);
  assert.match(refused.body, /ECONNREFUSED/);
});

test('bodies above the limit are refused, also if they were compressed', async () => {
  const { url } = await api(async (request, response) => {
    const body = await all(request);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ length: body.length, choices: [] }));
  });
  const { url: base } = await relay(['--upstream', url, '--dialect', 'openai-chat']);
  const large = chat('a.b', { user: 'x'.repeat(50_000_000) });
  const { body } = await exchange(`${base}/v1/chat/completions`, { body: large });
  assert.equal(JSON.parse(body).length, large.length);
  const larger = await exchange(`${base}/v1/chat/completions`, { body: chat('a.b', { user: 'x'.repeat(70_000_000) }) });
  assert.equal(larger.status, 413);
  // 100 MB, compressed to 100 kB.
  const bomb = gzipSync(Buffer.alloc(100_000_000, 0x20));
  const headers = ['Content-Type', 'application/json', 'Content-Encoding', 'gzip'];
  assert.equal((await exchange(`${base}/v1/chat/completions`, { headers, body: bomb })).status, 413);
  assert.equal((await exchange(`${base}/v1/chat/completions`, { headers, body: 'not packed' })).status, 400);
});

test('bodies in memory have a common limit, also if they are compressed and their length is not declared', async () => {
  const { url: base } = await relay(['--upstream', 'http://127.0.0.1:1']);
  const { hostname, port } = new URL(base);
  // 63 MiB, compressed to 63 kB; without the end, so that the relay waits for more.
  const packed = gzipSync(Buffer.alloc(63 << 20, 0x20)).subarray(0, -8);
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
  const uploads = Array.from({ length: 9 }, () => {
    const upload = request({ hostname, port, method: 'POST', path: '/v1/embeddings', headers, agent });
    upload.on('error', () => {});
    upload.write(packed);
    return upload;
  });
  const [reply] = await Promise.race(uploads.map((upload) => once(upload, 'response')));
  assert.equal(reply.statusCode, 503);
  for (const upload of uploads) upload.destroy();
});

test('an idle connection stays open longer than clients keep theirs', async () => {
  const { url: base } = await relay(['--upstream', 'http://127.0.0.1:1']);
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  for (const pause of [0, 7_000]) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    socket.write('GET /toolwire/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 /);
  }
  socket.destroy();
});

test('a status and headers that cannot be sent still give an answer', async () => {
  const replies = ['099 Odd\r\nContent-Length: 0', '200 OK\r\nX-A: caf\xe9\tb\r\nContent-Length: 0'];
  const { url } = await api(({ socket }) => socket.end(`HTTP/1.1 ${replies.shift()}\r\n\r\n`, 'latin1'));
  const { url: base } = await relay(['--upstream', url]);
  const ask = () => exchange(`${base}/v1/models`, { method: 'GET', headers: [] });
  const odd = await ask();
  assert.equal(odd.status, 502);
  assert.match(odd.body, /the status of its reply is 99/);
  assert.ok((await ask()).headers.includes('caf\xe9\tb'));
});

test('a body in several gzip members is read, and a truncated one is refused', async () => {
  const seen = [];
  const { url } = await api(async (request, response) => {
    seen.push((await all(request)).toString());
    response.end('{}');
  });
  const { url: base } = await relay(['--upstream', url, '--timeout', '1']);
  const headers = ['Content-Type', 'application/json', 'Content-Encoding', 'gzip'];
  const members = Buffer.concat([gzipSync('{"model":"m",'), gzipSync('"input":"x"}')]);
  assert.equal((await exchange(`${base}/v1/embeddings`, { headers, body: members })).status, 200);
  assert.deepEqual(seen, ['{"model":"m","input":"x"}']);
  const half = gzipSync('{"model":"m"}').subarray(0, 12);
  assert.equal((await exchange(`${base}/v1/embeddings`, { headers, body: half })).status, 400);
  // The client stops in the middle of the body.
  const { port } = new URL(base);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
  );
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 408 /);
  socket.destroy();
});

test('no request is sent twice', async () => {
  let posts = 0;
  const { url } = await api(async (request, response) => {
    await all(request);
    posts += 1;
    if (posts > 1) return request.socket.resetAndDestroy();
    response.end('{}');
  });
  const { url: base } = await relay(['--upstream', url]);
  assert.equal((await exchange(`${base}/v1/embeddings`, { body: '{}' })).status, 200);
  assert.equal((await exchange(`${base}/v1/embeddings`, { body: '{}' })).status, 502);
  assert.equal(posts, 2);
});

test('an early reply to an upload ends it', async () => {
  const { url } = await api((_, response) => {
    response.writeHead(413, { 'Content-Type': 'text/plain' });
    response.end('too large');
  });
  const { url: base } = await relay(['--upstream', url]);
  const { hostname, port } = new URL(base);
  const headers = { 'Content-Type': 'text/plain', 'Content-Length': 50_000_000 };
  const upload = request({ hostname, port, method: 'POST', path: '/v1/files', headers, agent });
  upload.write(Buffer.alloc(1_000_000));
  const [reply] = await once(upload, 'response');
  assert.equal(reply.statusCode, 413);
  // The rest is read, and the connection accepts another request.
  upload.end(Buffer.alloc(49_000_000));
  await once(upload, 'finish');
  assert.equal((await all(reply)).toString(), 'too large');
});

test('a report that cannot be written is logged once, and requests continue', {
  skip: process.platform === 'win32' && 'Windows has no `ulimit`',
}, async () => {
  const { url } = await api((_, response) => response.end('{}'));
  const report = join(folder, 'full.jsonl');
  const line = [
    'ulimit -f 1; exec "$0" "$@"',
    process.execPath,
    PROGRAM,
    'relay',
    '--listen',
    '127.0.0.1:0',
    '--upstream',
    url,
  ];
  const child = spawn('sh', ['-c', ...line, '--report', report], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (piece) => {
    log += piece;
  });
  while (!/toolwire\/last/.test(log)) await once(child.stderr, 'data');
  const base = /(http:\S+)\/toolwire\/last/.exec(log)[1];
  for (let number = 0; number < 20; number++) {
    assert.equal((await exchange(`${base}/v1/models`, { method: 'GET', headers: [] })).status, 200);
  }
  child.kill();
  await once(child, 'close');
  assert.equal(log.match(/the report has lines missing/g).length, 1, log);
});

test('500 concurrent streams are independent of each other', async () => {
  const { url } = await api(async (request, response) => {
    const { user, tools: sent } = JSON.parse(await all(request));
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const piece of [user, '-', user]) {
      response.write(event({ content: piece }));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { name } = sent[0].function;
    response.end(event({ tool_calls: [{ index: 0, id: user, function: { name, arguments: `{"n":"${user}"}` } }] }));
  });
  const { url: base } = await relay(['--upstream', url, '--dialect', 'openai-chat']);
  const one = async (number) => {
    const body = chat(`tool.${number}`, { stream: true, user: String(number) });
    const reply = (await exchange(`${base}/v1/chat/completions`, { body })).body;
    assert.match(
      reply,
      new RegExp(`"content":"${number}"[\\s\\S]*"content":"${number}"[\\s\\S]*"name":"tool\\.${number}"`),
    );
    assert.match(reply, new RegExp(`\\{\\\\"n\\\\":${number}\\}`));
  };
  await Promise.all(Array.from({ length: 500 }, (_, number) => one(number)));
  const { body } = await exchange(`${base}/toolwire/metrics`, { method: 'GET', headers: [] });
  assert.match(body, /toolwire_requests_total\{outcome="adapted"\} 500\n/);
  assert.match(body, /toolwire_open_requests 0\n/);
});

test('requests that are invalid or not authorized are refused before they are forwarded', async () => {
  const { url } = await api((_, response) => response.end('{}'));
  const { url: base, log } = await relay(['--upstream', url]);
  assert.match(log, new RegExp(`in place of ${url}`));
  const get = (headers, host) => exchange(`${base}/v1/models`, { method: 'GET', headers, host });
  assert.equal((await get([])).status, 200);
  assert.equal((await get([], 'evil.example')).status, 403);
  assert.equal((await get(['Origin', 'https://evil.example'])).status, 403);
  assert.equal((await exchange(`${base}/toolwire/health`, { method: 'GET', headers: [] })).body, 'ok\n');
  // A request that HTTP's parser refuses, and a target on another host.
  const { port } = new URL(base);
  for (const head of [
    'rubbish\r\n\r\n',
    'GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
  ]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(head);
    assert.match((await all(socket)).toString(), /^HTTP\/1\.1 400 /);
  }
  const { url: guarded } = await relay(['--upstream', url, '--token-env', 'RELAY_TOKEN'], { RELAY_TOKEN: 'secret' });
  const ask = (headers) => exchange(`${guarded}/v1/models`, { method: 'GET', headers });
  assert.equal((await ask([])).status, 401);
  assert.equal((await ask(['X-Toolwire-Token', 'secret'])).status, 200);
});

test('requests are routed to several upstreams, and the report contains no values', async () => {
  const seen = [];
  const answer = (name) => async (request, response) => {
    seen.push([name, request.url, JSON.parse(await all(request)).model]);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(called('a_b'));
  };
  const [one, two] = [await api(answer('one')), await api(answer('two'))];
  const config = join(folder, 'relay.toml');
  const report = join(folder, 'report.jsonl');
  writeFileSync(
    config,
    `[[upstream]]\npath = "/one"\nurl = "${one.url}"\ndialect = "openai-chat"\n
[[upstream]]\nmodels = "deepseek-*"\nurl = "${two.url}/base"\ndialect = "deepseek"\nmodel-names = { deepseek-best = "d" }\n`,
  );
  const { url: base } = await relay(['--config', config, '--report', report]);
  const secret = 'secret text of the user';
  const body = (model) => chat('a.b', { model, messages: [{ role: 'user', content: secret }] });
  await exchange(`${base}/one/v1/chat/completions?key=hidden`, { body: body('gpt') });
  await exchange(`${base}/v1/chat/completions`, { body: body('deepseek-best') });
  assert.equal((await exchange(`${base}/v1/chat/completions`, { body: body('gpt') })).status, 404);
  assert.deepEqual(seen, [
    ['one', '/v1/chat/completions?key=hidden', 'gpt'],
    ['two', '/base/v1/chat/completions', 'd'],
  ]);
  // A log line may be written after the answer that it describes.
  let text = '';
  while (text.split('\n').length < 4) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    text = readFileSync(report, 'utf8');
  }
  const lines = text.trim().split('\n').map(JSON.parse);
  assert.deepEqual(
    lines.map(({ model, status }) => [model, status]),
    [
      ['gpt', 200],
      ['deepseek-best', 200],
      ['gpt', 404],
    ],
  );
  const page = (await exchange(`${base}/toolwire/last`, { method: 'GET', headers: [] })).body;
  for (const where of [text, page]) assert.doesNotMatch(where, /secret text|hidden|"4"/);
  assert.match(page, /rename-tool/);
});

test('shutting down lets open requests finish, and accepts no more', async () => {
  let go;
  const { url } = await api(async (request, response) => {
    await all(request);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(event({ content: 'first' }));
    await new Promise((resolve) => {
      go = resolve;
    });
    response.end(event({ content: 'last' }));
  });
  const { url: base, child, ended } = await relay(['--upstream', url, '--dialect', 'openai-chat']);
  const { reply } = await sent(`${base}/v1/chat/completions`, { body: chat('a.b', { stream: true }) });
  let text = String((await once(reply, 'data'))[0]);
  child.kill('SIGTERM');
  // The first request ends only when the relay no longer accepts new ones.
  for (;;) {
    const refused = await exchange(`${base}/toolwire/health`, { method: 'GET', headers: [] }).then(
      () => false,
      () => true,
    );
    if (refused) break;
  }
  go();
  for await (const piece of reply) text += piece;
  assert.match(text, /first[\s\S]*last/);
  assert.deepEqual(await ended, [143, null]);
});

test('wrong usage is an error', async () => {
  const logged = async (...args) => {
    const child = spawn(process.execPath, [PROGRAM, 'relay', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    const log = (await all(child.stderr)).toString();
    return [child.exitCode ?? (await once(child, 'close'))[0], log];
  };
  const { url, server } = await api(() => {});
  const taken = String(server.address().port);
  for (const [args, words] of [
    [[], 'expected `--upstream URL` or `--config FILE`, found neither'],
    [['--upstream', 'api.example.com'], 'expected a URL that begins with `https://`'],
    [['--upstream', url, '--listen', '0.0.0.0:0'], 'expected `--token-env NAME`'],
    [['--upstream', url, '--listen', `127.0.0.1:${taken}`], "found the relay's own"],
    [['--upstream', 'http://127.0.0.1:9', '--listen', `127.0.0.1:${taken}`], 'EADDRINUSE'],
    [['--upstream', url, '--token-env', 'NO_SUCH_VARIABLE'], 'expected a token in the variable NO_SUCH_VARIABLE'],
    [['--upstream', url, '--dialect', 'gemni'], "'gemini'"],
    [['--config', join(folder, 'none.toml')], 'none.toml'],
  ]) {
    const [code, log] = await logged(...args);
    assert.equal(code, 2, log);
    assert.ok(log.includes(words), `${words} in ${log}`);
  }
});
