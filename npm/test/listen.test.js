// Tests `toolwire proxy --listen`: every transcript of tests/listen, and the program with HTTP clients and servers.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const FOLDER = new URL('../../tests/listen/', import.meta.url);
const PROGRAM = fileURLToPath(new URL('../dist/command.js', import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL('../../demo/node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const PKG = new URL('../../bindings-wasm/pkg/command/', import.meta.url);
const { ProxyListener, initSync } = await import(new URL('toolwire_wasm.js', PKG));
initSync({ module: readFileSync(new URL('toolwire_wasm_bg.wasm', PKG)) });

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== 'count.json');
const cases = files.flatMap((name) =>
  JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).map((it) => ({ ...it, file: name.replace('.json', '') })),
);

/** Returns a transcript's body or message as bytes: text, or JSON, which becomes compact text. */
const bytes = (body) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

function played(listener, step) {
  const { number = 1, session = 0 } = step;
  if ('request' in step) return listener.request(number, JSON.stringify(step.request));
  if ('body' in step) return listener.body(number, bytes(step.body));
  if ('unread' in step) return listener.unread(number, step.unread.status, step.unread.why);
  if ('message' in step) return listener.message(session, bytes(step.message));
  if ('ended' in step) return listener.ended(session, step.ended);
  if ('alarm' in step) return listener.alarm(session);
  return listener.closed(number);
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
      const listener = new ProxyListener(JSON.stringify(it.settings), it.token);
      for (const step of it.steps) {
        assert.equal(JSON.stringify(shown(played(listener, step))), JSON.stringify(step.effects));
      }
    });
  }
});

const folder = mkdtempSync(join(tmpdir(), 'toolwire-listen-'));
const closing = [];
after(async () => {
  await Promise.all(closing.map((close) => close()));
  rmSync(folder, { recursive: true });
});

/** A server that acts according to the tool's name. */
const SERVER = join(folder, 'server.mjs');
writeFileSync(
  SERVER,
  `import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const text = (id, text) => say({ id, result: { content: [{ type: 'text', text }] } });
const schema = { type: 'object', properties: { $ref: { type: 'string' }, count: { type: 'integer' } }, required: ['$ref'] };
const names = ['files.read', 'die', 'hang', 'slow', 'ask', 'steps', 'pid', 'big', 'flood'];
const does = {
  die: () => process.exit(3),
  hang: () => {},
  slow: (id, { arguments: { says } }) => setTimeout(() => text(id, says), 300),
  // The call is answered once the client has answered this request.
  ask: (id) => {
    callId = id;
    say({ id: 'question', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
  },
  steps: (id, { _meta }) => {
    for (const progress of [1, 2]) say({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress, total: 2 } });
    text(id, 'there');
  },
  pid: (id) => text(id, String(process.pid)),
  flood: (id, { _meta: { progressToken } }) => {
    for (let progress = 1; progress <= 4_000; progress++) {
      say({ method: 'notifications/progress', params: { progressToken, progress, message: 'x'.repeat(10_000) } });
    }
    text(id, 'there');
  },
  big: (id) => text(id, 'y'.repeat(20 << 20)),
};
let callId;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (id === 'question') return text(callId, result.content.text);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return say({ id, result: { protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'fake', version: '1' } } });
  }
  if (method === 'tools/list') return say({ id, result: { tools: names.map((name) => ({ name, inputSchema: name === 'files.read' ? schema : { type: 'object', properties: {} } })) } });
  if (method !== 'tools/call') return id === undefined || say({ id, result: {} });
  const act = does[params.name];
  return act ? act(id, params) : text(id, JSON.stringify(params));
});
`,
);

/** Starts the program, and returns its URL and its log. */
async function served(args = ['--', process.execPath, SERVER], { listen = '127.0.0.1:0', env = {} } = {}) {
  const child = spawn(process.execPath, [PROGRAM, 'proxy', '--listen', listen, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const started = { child, log: '', url: '', ended: once(child, 'close') };
  closing.push(async () => {
    child.kill('SIGKILL');
    await started.ended;
  });
  for await (const piece of child.stderr.iterator({ destroyOnReturn: false })) {
    started.log += piece;
    const found = /(http:\S+)/.exec(started.log);
    if (found === null) continue;
    started.url = found[1];
    break;
  }
  child.stderr.on('data', (piece) => {
    started.log += piece;
  });
  return started;
}

/** Returns a connected SDK client. */
async function connected(url, { headers = {}, capabilities = {} } = {}) {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  await client.connect(transport);
  closing.push(() => client.close());
  return { client, transport };
}

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** Sends a message unchanged, and returns the status, headers and body of the response. */
function posted(url, body, headers = {}, method = 'POST') {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...HEADERS, ...headers } }, async (response) => {
      let text = '';
      for await (const piece of response) text += piece;
      resolve({ status: response.statusCode, headers: response.headers, text });
    });
    sent.once('error', reject);
    sent.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}

const ping = (id, meta) => ({ jsonrpc: '2.0', id, method: 'ping', params: meta && { _meta: meta } });
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const text = (result) => result.content.map((one) => one.text).join('');
const isRunning = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Waits until a condition holds. The test itself has the time limit. */
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('the program, with the SDK on the client’s side', { timeout: 120_000 }, () => {
  test('tools are rewritten, and calls restored, repaired or refused', async () => {
    const { url } = await served();
    const { client, transport } = await connected(url);
    const { tools } = await client.listTools();
    assert.deepEqual(Object.keys(tools[0].inputSchema.properties), ['dollar_ref_', 'count']);
    const call = (args) => client.callTool({ name: 'files_read', arguments: args });
    assert.equal(
      text(await call({ dollar_ref_: 'a', count: '2' })),
      '{"name":"files.read","arguments":{"$ref":"a","count":2}}',
    );
    assert.match(text(await call({ count: 1 })), /expected the member `dollar_ref_`/);
    assert.match(transport.sessionId, /^[0-9a-f-]{36}$/);
    assert.equal(transport.protocolVersion, '2025-11-25');
  });

  test('the demo’s server works over HTTP', {
    skip: !existsSync(EVERYTHING) && 'run `make demo` to install it',
  }, async () => {
    const { url } = await served(['--', process.execPath, EVERYTHING]);
    const { client } = await connected(url);
    const { tools } = await client.listTools();
    assert.ok(tools.length > 5);
    assert.match(text(await client.callTool({ name: 'echo', arguments: { message: 'over HTTP' } })), /over HTTP/);
    const { resources } = await client.listResources();
    assert.ok(resources.length > 0);
    await client.close();
  });

  test('two clients with equal ids at once have servers of their own', async () => {
    const { url } = await served();
    const clients = await Promise.all([connected(url), connected(url)]);
    await Promise.all(clients.map(({ client }) => client.listTools()));
    const pids = await Promise.all(clients.map(({ client }) => client.callTool({ name: 'pid' }).then(text)));
    assert.notEqual(pids[0], pids[1]);
    for (let round = 0; round < 5; round++) {
      const texts = ['one', 'two'].map((who) => `${who} ${round}`);
      const results = await Promise.all(
        clients.map(({ client }, at) => client.callTool({ name: 'slow', arguments: { says: texts[at] } }).then(text)),
      );
      assert.deepEqual(results, texts);
    }
  });

  test('progress and a request to the client arrive in the middle of a call', async () => {
    const { url } = await served();
    const { client } = await connected(url, { capabilities: { sampling: {} } });
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'the answer' },
    }));
    await client.listTools();
    const steps = [];
    const onprogress = ({ progress }) => steps.push(progress);
    assert.equal(text(await client.callTool({ name: 'steps' }, undefined, { onprogress })), 'there');
    assert.deepEqual(steps, [1, 2]);
    assert.equal(text(await client.callTool({ name: 'ask' })), 'the answer');
  });

  test('a server that dies during a call is restarted, and only its client is notified', async () => {
    const { url } = await served();
    const [one, other] = await Promise.all([connected(url), connected(url)]);
    await Promise.all([one, other].map(({ client }) => client.listTools()));
    const slow = other.client.callTool({ name: 'slow', arguments: { says: 'still there' } });
    let changed = 0;
    one.client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') changed += 1;
    };
    await assert.rejects(one.client.callTool({ name: 'die' }), /has ended: exit code 3/);
    assert.equal(text(await slow), 'still there');
    await until(() => changed > 0);
    assert.ok(Number(text(await one.client.callTool({ name: 'pid' }))) > 0);
  });

  test('a client may disconnect during a call, and its server ends with its session', async () => {
    const { url } = await served();
    const { client, transport } = await connected(url);
    await client.listTools();
    const pid = Number(text(await client.callTool({ name: 'pid' })));
    const headers = { 'mcp-session-id': transport.sessionId };
    const call = {
      jsonrpc: '2.0',
      id: 'left',
      method: 'tools/call',
      params: { name: 'slow', arguments: { says: 'x' } },
    };
    const sent = request(url, { method: 'POST', headers: { ...HEADERS, ...headers } });
    sent.on('error', () => {});
    sent.end(JSON.stringify(call));
    await new Promise((resolve) => setTimeout(resolve, 100));
    sent.destroy();
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.equal(text(await client.callTool({ name: 'slow', arguments: { says: 'heard' } })), 'heard');
    assert.equal((await posted(url, { ...call, params: { name: 'pid' } }, headers)).status, 200);
    await transport.terminateSession();
    await until(() => !isRunning(pid));
    assert.equal((await posted(url, ping(3), headers)).status, 404);
  });

  test('a message of 20 MB is passed on', async () => {
    const { url } = await served();
    const { client } = await connected(url);
    await client.listTools();
    assert.equal(text(await client.callTool({ name: 'big' })).length, 20 << 20);
  });

  for (const signal of ['SIGINT', 'SIGTERM']) {
    test(`${signal} ends all servers`, async () => {
      const { url, child, ended } = await served();
      const { client } = await connected(url);
      await client.listTools();
      const pid = Number(text(await client.callTool({ name: 'pid' })));
      child.kill(signal);
      await ended;
      await until(() => !isRunning(pid));
    });
  }

  test('a command that does not exist is an error', async () => {
    const started = await served(['--', 'no-such-command']);
    await assert.rejects(connected(started.url), /no-such-command: expected a command, found none with this name/);
    assert.match(started.log, /session 1 has ended: no-such-command/);
  });
});

describe('the program, with plain HTTP', { timeout: 60_000 }, () => {
  test('foreign pages and hosts, other paths, and large or odd bodies are refused', async () => {
    const { url } = await served();
    const status = async (body, headers, method) => (await posted(url, body, headers, method)).status;
    assert.equal(await status(initialize, { origin: 'https://evil.example' }), 403);
    assert.equal(await status(initialize, { host: 'evil.example:8000' }), 403);
    assert.equal(await status(initialize, { 'sec-fetch-site': 'cross-site' }), 403);
    assert.equal(await status(initialize, { 'content-type': 'text/plain' }), 415);
    assert.equal((await posted(url.replace('/mcp', '/'), initialize)).status, 404);
    assert.equal(await status('{', {}), 400);
    assert.equal(await status(ping(1)), 400);
    assert.equal(await status(ping(1), { 'mcp-session-id': 'guessed' }), 404);
    assert.equal(await status('', {}, 'PUT'), 405);
    const large = Buffer.alloc((4 << 20) + 1, 0x20);
    assert.equal(await status(large), 413);
    assert.equal(await status(large, { 'transfer-encoding': 'chunked' }), 413);
    // The program still serves other clients.
    assert.equal(await status(initialize, { origin: 'http://localhost:6274' }), 200);
  });

  test('another address needs a token, and clients have to send it', async () => {
    const refused = spawn(process.execPath, [
      PROGRAM,
      'proxy',
      '--listen',
      '0.0.0.0:0',
      '--',
      process.execPath,
      SERVER,
    ]);
    let log = '';
    refused.stderr.on('data', (piece) => {
      log += piece;
    });
    assert.equal((await once(refused, 'close'))[0], 2);
    assert.match(log, /expected `--token-env NAME` because programs on other machines can connect/);
    const env = { PROXY_TOKEN: 'secret' };
    const listen = '0.0.0.0:0';
    const args = ['--token-env', 'PROXY_TOKEN', '--', process.execPath, SERVER];
    const url = (await served(args, { listen, env })).url.replace('0.0.0.0', '127.0.0.1');
    assert.equal((await posted(url, initialize)).status, 401);
    assert.equal((await posted(url, initialize, { 'x-toolwire-token': 'Secret' })).status, 401);
    const { client } = await connected(url, { headers: { 'X-Toolwire-Token': 'secret' } });
    assert.equal((await client.listTools()).tools.length, 9);
  });

  test('requests of 2026-07-28 with equal ids share a server, and each receives its own answer', async () => {
    const { url } = await served();
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', progressToken: 'p' };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'slow' };
    const texts = await Promise.all(
      ['one', 'two', 'three'].map(async (says) => {
        const params = { name: 'slow', arguments: { says }, _meta: meta };
        const answer = await posted(url, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, headers);
        assert.equal(answer.headers['mcp-session-id'], undefined);
        const { id, result } = JSON.parse(answer.text);
        assert.equal(id, 7);
        return text(result);
      }),
    );
    assert.deepEqual(texts, ['one', 'two', 'three']);
  });

  test('connections that end in their second request leave nothing behind', async () => {
    const { url } = await served();
    const { port } = new URL(url);
    const begun = await posted(url, initialize);
    const named = { 'mcp-session-id': begun.headers['mcp-session-id'] };
    const head = (length) =>
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${Object.entries({ ...HEADERS, ...named })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}Content-Length: ${length}\r\n\r\n`;
    // More requests than may be open at the same time.
    for (let turn = 0; turn < 21; turn++) {
      const sockets = await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
          await once(socket, 'connect');
          const params = { name: 'hang' };
          const body = JSON.stringify({ jsonrpc: '2.0', id: `${turn} ${at}`, method: 'tools/call', params });
          socket.write(`${head(body.length)}${body}${head(4 << 20)}{"x":`);
          return socket;
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (const socket of sockets) socket.destroy();
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal((await posted(url, ping(1), named)).status, 200);
  });

  test('a client of 2026-07-28 that does not read does not block other clients', async () => {
    const { url } = await served();
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', progressToken: 'p' };
    const message = (name) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, _meta: meta } });
    const headers = (name) => ({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    });
    const sent = request(url, { method: 'POST', headers: { ...HEADERS, ...headers('flood') } });
    sent.end(JSON.stringify(message('flood')));
    const [unread] = await once(sent, 'response');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const answer = await posted(url, message('pid'), headers('pid'));
    assert.ok(Number(text(JSON.parse(answer.text).result)) > 0);
    // The response was aborted, because too much of it was unread.
    let read = '';
    const reading = async () => {
      for await (const piece of unread) read += piece;
    };
    await assert.rejects(reading(), { code: 'ECONNRESET' });
    assert.doesNotMatch(read, /"there"/);
  });

  test('sessions that have ended free memory for others', async () => {
    const { url } = await served();
    for (let turn = 0; turn < 80; turn++) {
      const { status, headers } = await posted(url, initialize);
      assert.equal(status, 200);
      const named = { 'mcp-session-id': headers['mcp-session-id'] };
      assert.equal((await posted(url, '', named, 'DELETE')).status, 204);
    }
  });

  test('an address that is in use is an error', async () => {
    const { url } = await served();
    const listen = new URL(url).host;
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--listen', listen, '--', process.execPath, SERVER]);
    let log = '';
    child.stderr.on('data', (piece) => {
      log += piece;
    });
    assert.equal((await once(child, 'close'))[0], 2);
    assert.match(log, /expected an address at which it can listen, found 127\.0\.0\.1:\d+ \(EADDRINUSE\)/);
  });
});
