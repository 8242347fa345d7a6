// Tests `toolwire proxy`: runs every transcript of tests/proxy, and the program between real clients and servers.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LATEST_PROTOCOL_VERSION,
  ListRootsRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const FOLDER = new URL('../../tests/proxy/', import.meta.url);
const PROGRAM = fileURLToPath(new URL('../dist/command.js', import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL('../../demo/node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const PKG = new URL('../../bindings-wasm/pkg/command/', import.meta.url);
const { ProxyConnection, initSync } = await import(new URL('toolwire_wasm.js', PKG));
initSync({ module: readFileSync(new URL('toolwire_wasm_bg.wasm', PKG)) });

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== 'count.json');
const cases = files.flatMap((name) =>
  JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).map((it) => ({ ...it, file: name.replace('.json', '') })),
);

/** Returns a transcript's message as bytes: text, or JSON, which becomes compact text. */
const bytes = (message) => Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));

function played(proxy, step) {
  if ('client' in step) return proxy.client(bytes(step.client));
  if ('server' in step) return proxy.server(step.server, bytes(step.message));
  if ('ended' in step) return proxy.ended(step.ended, step.why);
  if ('started' in step) return proxy.started(step.started);
  if ('alarm' in step) return proxy.alarm(step.alarm);
  if ('undelivered' in step) return proxy.undelivered(step.undelivered, bytes(step.message), step.why);
  return proxy.tooLong(step.tooLong);
}

/** Returns effects in the form of the transcripts: words, and a message as JSON if it is JSON. */
function shown(words) {
  const effects = [];
  for (let at = 0; at < words.length; at += 3) {
    const [kind, number, text] = words.slice(at, at + 3);
    effects.push([kind, ...(number ? [Number(number)] : []), ...(text ? [value(text)] : [])]);
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
      const proxy = new ProxyConnection(JSON.stringify(it.settings));
      for (const step of it.steps) {
        assert.equal(JSON.stringify(shown(played(proxy, step))), JSON.stringify(step.effects));
      }
    });
  }
});

const folder = mkdtempSync(join(tmpdir(), 'toolwire-proxy-'));
after(() => rmSync(folder, { recursive: true }));

/** A server that returns the call that it got, and acts according to the tool's name. It is plain JSON-RPC, so that it can misbehave. */
const SERVER = join(folder, 'server.mjs');
writeFileSync(
  SERVER,
  `import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const schema = { type: 'object', properties: { $ref: { type: 'string' }, count: { type: 'integer' } }, required: ['$ref'] };
const names = ['files.read', 'die', 'hang', 'flood', 'rubbish', 'wrong-id', 'twice', 'child', 'environment', 'big'];
const does = {
  die: () => process.exit(3),
  hang: () => {},
  leave: () => {
    const outlives = ['-e', 'setTimeout(() => {}, 20000)'];
    spawn(process.execPath, outlives, { detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
    process.exit(3);
  },
  flood: () => {
    const line = 'x'.repeat(1 << 20);
    let left = 80;
    const more = () => left-- > 0 && process.stdout.write(line, more);
    more();
  },
  rubbish: (id) => {
    process.stdout.write('Listening on port 3000\\n\\u001b[2Jnull\\n{"a":\\n');
    say({ id, result: { content: [] } });
  },
  'wrong-id': (id) => {
    say({ id: id + 1000, result: { content: [{ type: 'text', text: 'not yours' }] } });
    say({ id, result: { content: [{ type: 'text', text: 'yours' }] } });
  },
  twice: (id) => {
    for (const text of ['first', 'second']) say({ id, result: { content: [{ type: 'text', text }] } });
  },
  child: (id) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    say({ id, result: { content: [{ type: 'text', text: String(child.pid) }] } });
  },
  environment: (id) => say({ id, result: { content: [{ type: 'text', text: JSON.stringify(Object.keys(process.env)) }] } }),
  big: (id) => say({ id, result: { content: [{ type: 'text', text: 'y'.repeat(20 << 20) }] } }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return say({ id, result: { protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'fake', version: '1' } } });
  }
  if (method === 'tools/list') return say({ id, result: { tools: names.map((name) => ({ name, inputSchema: name === 'files.read' ? schema : { type: 'object', properties: {} } })) } });
  if (method !== 'tools/call') return id === undefined || say({ id, result: {} });
  const act = does[params.name];
  return act ? act(id) : say({ id, result: { content: [{ type: 'text', text: JSON.stringify(params) }] } });
});
`,
);

/** Returns an SDK client connected to the proxy, or directly to the server. */
async function connected(args, { env = {}, capabilities = {}, direct = false } = {}) {
  const command = direct ? args : [PROGRAM, 'proxy', ...args];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: command,
    env: { PATH: process.env.PATH, ...env },
    stderr: 'pipe',
  });
  const log = [];
  transport.stderr?.on('data', (piece) => log.push(String(piece)));
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  await client.connect(transport);
  return { client, transport, log: () => log.join('') };
}

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
    const report = join(folder, 'report.jsonl');
    const { client } = await connected(['--report', report, '--', process.execPath, SERVER]);
    const { tools } = await client.listTools();
    assert.deepEqual(Object.keys(tools[0].inputSchema.properties), ['dollar_ref_', 'count']);
    assert.equal(tools[0].name, 'files_read');
    const call = (args) => client.callTool({ name: 'files_read', arguments: args });
    assert.equal(
      text(await call({ dollar_ref_: 'a', count: '2' })),
      '{"name":"files.read","arguments":{"$ref":"a","count":2}}',
    );
    const refused = await call({ count: 1 });
    assert.equal(refused.isError, true);
    assert.match(text(refused), /expected the member `dollar_ref_`/);
    const { contents } = await client.readResource({ uri: 'toolwire://report' });
    assert.equal(JSON.parse(contents[0].text).tools, 10);
    await client.close();
    const lines = readFileSync(report, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Object.keys(JSON.parse(line))[0]);
    assert.deepEqual(lines, ['changed', 'changed', 'repaired', 'refused']);
  });

  test('a server that dies during a call is restarted', async () => {
    const { client, log } = await connected(['--', process.execPath, SERVER]);
    await client.listTools();
    await assert.rejects(client.callTool({ name: 'die' }), /the server .* has ended: exit code 3/);
    let changed = 0;
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') changed += 1;
    };
    await until(() => changed > 0);
    assert.match(text(await client.callTool({ name: 'files_read', arguments: { dollar_ref_: 'b' } })), /"\$ref":"b"/);
    assert.match(log(), /has ended: exit code 3/);
    await client.close();
  });

  test('a server that ends is noticed although a process outside its group keeps its output open', async () => {
    const { client } = await connected(['--', process.execPath, SERVER]);
    await client.listTools();
    await assert.rejects(client.callTool({ name: 'leave' }), /the server .* has ended: exit code 3/);
    await client.close();
  });

  test('a server that hangs, writes garbage, answers twice or without a request can still be used', async () => {
    const { client, log } = await connected(['--', process.execPath, SERVER]);
    await client.listTools();
    await assert.rejects(client.callTool({ name: 'hang' }, undefined, { timeout: 200 }), /timed out/);
    assert.deepEqual((await client.callTool({ name: 'rubbish' })).content, []);
    assert.equal(text(await client.callTool({ name: 'wrong-id' })), 'yours');
    assert.equal(text(await client.callTool({ name: 'twice' })), 'first');
    assert.match(text(await client.callTool({ name: 'files_read', arguments: { dollar_ref_: 'c' } })), /"c"/);
    assert.match(log(), /ignored a line from .*: not JSON/);
    assert.ok(
      !log().includes('\u001b'),
      'no control sequence of a server reaches the terminal through one of our messages',
    );
    await client.close();
  });

  test('a server that floods is ended, and the next one is started', async () => {
    const { client } = await connected(['--', process.execPath, SERVER]);
    await client.listTools();
    await assert.rejects(client.callTool({ name: 'flood' }), /wrote a message of more than/);
    await client.close();
  });

  // Without the SDK, whose client accepts at most 10 MB.
  test('a message of 20 MB is passed on', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--', process.execPath, SERVER], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ask = (id, method, params) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    ask(1, 'tools/list');
    ask(2, 'tools/call', { name: 'big' });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await lines.next();
    const { value } = await lines.next();
    assert.equal(text(JSON.parse(value).result).length, 20 << 20);
    child.stdin.end();
    await once(child, 'close');
  });

  test('two servers appear as one, and a server that does not exist is reported', async () => {
    const config = join(folder, 'mcp.json');
    const server = { command: process.execPath, args: [SERVER] };
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { one: server, two: server, gone: { command: 'no-such-command' } } }),
    );
    const { client, log } = await connected(['--servers', config]);
    const { tools } = await client.listTools();
    assert.equal(tools.length, 20);
    const { name } = tools.find((tool) => tool.name.startsWith('two__files_read'));
    const result = await client.callTool({ name, arguments: { dollar_ref_: 'x' } });
    assert.equal(text(result), '{"name":"files.read","arguments":{"$ref":"x"}}');
    await assert.rejects(client.callTool({ name: 'one__die' }), /`one` has ended/);
    assert.equal(text(await client.callTool({ name: 'two__twice' })), 'first');
    assert.match(log(), /`gone` has ended: expected a command, found none with this name/);
    await client.close();
  });

  test('deferred tools are found with search_tools and called with call_tool', async () => {
    const { client } = await connected(['--defer', '5', '--', process.execPath, SERVER]);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['search_tools', 'call_tool'],
    );
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'read files' } });
    assert.match(text(found), /files_read/);
    const call = { name: 'files_read', arguments: { dollar_ref_: 'z' } };
    assert.match(text(await client.callTool({ name: 'call_tool', arguments: call })), /"\$ref":"z"/);
    await client.close();
  });

  test('a server receives the variables that every program needs, and the named ones', async () => {
    const env = { TOOLWIRE_SECRET: 'x', TOOLWIRE_NAMED: 'y', HOME: folder };
    const { client } = await connected(['--env', 'TOOLWIRE_NAMED', '--', process.execPath, SERVER], { env });
    await client.listTools();
    const names = JSON.parse(text(await client.callTool({ name: 'environment' })));
    assert.ok(names.includes('HOME') && names.includes('TOOLWIRE_NAMED'));
    assert.ok(!names.includes('TOOLWIRE_SECRET'));
    await client.close();
  });

  for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', undefined]) {
    test(`${signal ?? 'a closed input'} ends everything that was started`, async () => {
      const { client, transport } = await connected(['--', process.execPath, SERVER]);
      await client.listTools();
      const grandchild = Number(text(await client.callTool({ name: 'child' })));
      assert.ok(isRunning(grandchild));
      const { pid } = transport;
      if (signal === undefined) await client.close();
      else process.kill(pid, signal);
      await until(() => !isRunning(pid) && !isRunning(grandchild));
    });
  }

  test('requests before the end of the input are answered', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--', process.execPath, SERVER], { stdio: 'pipe' });
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'twice' } },
    ];
    child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    const ids = [];
    for await (const line of createInterface({ input: child.stdout })) ids.push(JSON.parse(line).id);
    assert.deepEqual(ids, [1, 2]);
  });

  test('a client that does not read the log still receives answers', async () => {
    const noisy = join(folder, 'noisy.mjs');
    writeFileSync(
      noisy,
      `import { createInterface } from 'node:readline';
for (let line = 0; line < 20000; line++) process.stderr.write('\\u001b[31m' + 'x'.repeat(200) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result: {} }) + '\\n');
});`,
    );
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--', process.execPath, noisy], { stdio: 'pipe' });
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const [answer] = await once(createInterface({ input: child.stdout }), 'line');
    assert.equal(answer, '{"jsonrpc":"2.0","id":1,"result":{}}');
    const [piece] = await once(child.stderr, 'data');
    assert.ok(!String(piece).includes('\u001b'), 'control sequences of a server are escaped');
    child.stderr.resume();
    child.kill();
    await once(child, 'close');
  });

  test('a command that does not exist is an error', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--', 'no-such-command'], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (piece) => {
      log += piece;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 2);
    assert.match(log, /^toolwire: proxy: no-such-command: expected a command, found none with this name\n$/);
  });

  test('numbers and whitespace in messages pass byte for byte', async () => {
    const echo = join(folder, 'echo.mjs');
    writeFileSync(
      echo,
      `import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  process.stdout.write('{"jsonrpc": "2.0", "id": 12345678901234567890, "result": {"line": ' + JSON.stringify(line) + ', "n": 1.0e400}}\\r\\n');
});`,
    );
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--', process.execPath, echo], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const line =
      '{"jsonrpc":"2.0",  "id":12345678901234567890,"method":"vendor/own","params":{"n":0.10,"s":"\\u00e9"}}';
    child.stdin.write(`${line}\n`);
    const [answer] = await once(createInterface({ input: child.stdout }), 'line');
    assert.equal(
      answer,
      `{"jsonrpc": "2.0", "id": 12345678901234567890, "result": {"line": ${JSON.stringify(line)}, "n": 1.0e400}}`,
    );
    child.stdin.end();
    await once(child, 'close');
  });
});

describe('a server at a URL', { timeout: 60_000 }, () => {
  /** Starts a server of the SDK with one session, and returns the URLs of its two transports. */
  async function listening() {
    const seen = [];
    const built = () => {
      const server = new Server({ name: 'remote', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, async () => ({
        tools: [{ name: 'a.b', inputSchema: { type: 'object', properties: { $ref: { type: 'string' } } } }],
      }));
      server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
        content: [{ type: 'text', text: JSON.stringify(params) }],
      }));
      return server;
    };
    let transport;
    const http = createServer(async (request, response) => {
      seen.push([request.method, request.headers['mcp-protocol-version'], request.headers['x-key']]);
      const { pathname } = new URL(request.url, 'http://localhost');
      if (pathname === '/mcp') {
        const isNew = request.method === 'POST' && request.headers['mcp-session-id'] === undefined;
        if (isNew) {
          transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
          await built().connect(transport);
        }
        // Responds as a server would after a restart.
        if (transport === undefined) return response.writeHead(404).end();
        return transport.handleRequest(request, response);
      }
      if (pathname === '/sse' && request.method === 'GET') {
        transport = new SSEServerTransport('/messages', response);
        return built().connect(transport);
      }
      if (pathname === '/messages') return transport.handlePostMessage(request, response);
      return response.writeHead(404).end();
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const forget = () => {
      transport = undefined;
    };
    return { http, seen, forget, url: `http://127.0.0.1:${http.address().port}` };
  }

  const called = async (client) => text(await client.callTool({ name: 'a_b', arguments: { dollar_ref_: 'x' } }));

  for (const path of ['/mcp', '/sse']) {
    test(path, async () => {
      const { http, seen, url } = await listening();
      const { client } = await connected(['--url', `${url}${path}`, '--header', 'X-Key: secret-key']);
      assert.equal((await client.listTools()).tools[0].name, 'a_b');
      assert.equal(await called(client), '{"name":"a.b","arguments":{"$ref":"x"}}');
      await client.close();
      assert.ok(seen.every(([, , key]) => key === 'secret-key'));
      if (path === '/mcp') assert.ok(seen.some(([, version]) => version === LATEST_PROTOCOL_VERSION));
      http.closeAllConnections();
      http.close();
    });
  }

  test('a session that the server has forgotten is opened again', async () => {
    const { http, url, forget } = await listening();
    const { client, log } = await connected(['--url', `${url}/mcp?token=secret-token`]);
    await client.listTools();
    forget();
    await assert.rejects(called(client), /has ended/);
    for (;;) {
      try {
        assert.equal(await called(client), '{"name":"a.b","arguments":{"$ref":"x"}}');
        break;
      } catch (error) {
        if (!/is restarting/.test(error.message)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    assert.ok(!log().includes('secret-token'));
    await client.close();
    http.closeAllConnections();
    http.close();
  });

  test('a request that fails does not affect the others, and every digit arrives', async () => {
    const bodies = [];
    const http = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      if (request.method !== 'POST') return response.writeHead(405).end();
      bodies.push(body);
      const { id, method } = JSON.parse(body);
      if (method === 'vendor/fail') return response.writeHead(500).end('no');
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const url = `http://127.0.0.1:${http.address().port}/mcp`;
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--url', url], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (line) => {
      child.stdin.write(`${line}\n`);
      return JSON.parse((await lines.next()).value);
    };
    const exact = '{"jsonrpc":"2.0", "id":1,"method":"vendor/own","params":{"chat":9007199254740993,"n":1.0}}';
    assert.deepEqual((await ask(exact)).result, {});
    assert.equal(bodies.at(-1), exact);
    const failed = await ask('{"jsonrpc":"2.0","id":2,"method":"vendor/fail"}');
    assert.match(failed.error.message, /could not be reached/);
    assert.deepEqual((await ask('{"jsonrpc":"2.0","id":3,"method":"vendor/own"}')).result, {});
    child.stdin.end();
    await once(child, 'close');
    http.closeAllConnections();
    http.close();
  });

  test('many events together may exceed the limit of one message', async () => {
    const http = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method } = JSON.parse(body);
      const packed = createGzip();
      const event = (message) => packed.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\r\n\r\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      packed.pipe(response);
      const large = 'x'.repeat(9 << 20);
      if (method === 'vendor/many') for (let at = 0; at < 8; at++) event({ method: 'vendor/said', params: { large } });
      if (method === 'vendor/large') event({ method: 'vendor/said', params: { large: large.repeat(8) } });
      event({ id, result: {} });
      return packed.end();
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const url = `http://127.0.0.1:${http.address().port}/mcp`;
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--url', url], { stdio: ['pipe', 'pipe', 'pipe'] });
    child.stderr.resume();
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (line) => {
      child.stdin.write(`${line}\n`);
      for (;;) {
        const message = JSON.parse((await lines.next()).value);
        if (message.id !== undefined) return message;
      }
    };
    assert.deepEqual((await ask('{"jsonrpc":"2.0","id":1,"method":"vendor/many"}')).result, {});
    const { error } = await ask('{"jsonrpc":"2.0","id":2,"method":"vendor/large"}');
    assert.match(error.message, /expected at most 64 MiB from the server, found more/);
    child.stdin.end();
    await once(child, 'close');
    http.closeAllConnections();
    http.close();
  });

  test('a server that does not listen is an error', async () => {
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    const url = `http://127.0.0.1:${http.address().port}/mcp`;
    await new Promise((resolve) => http.close(resolve));
    const child = spawn(process.execPath, [PROGRAM, 'proxy', '--url', url], { stdio: 'pipe' });
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n');
    const [answer] = await once(createInterface({ input: child.stdout }), 'line');
    assert.match(JSON.parse(answer).error.message, /could not be reached: ECONNREFUSED/);
    child.stdin.end();
    await once(child, 'close');
  });
});

/** Returns what a client receives from a server for each of its features. */
async function seen({ client }) {
  const notes = [];
  client.fallbackNotificationHandler = async ({ method }) => {
    notes.push(method);
  };
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: 'sampled' },
  }));
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' }));
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///a', name: 'a' }] }));
  const outcome = async (what) => {
    try {
      return await what();
    } catch (error) {
      return { code: error.code };
    }
  };
  const { tools } = await client.listTools();
  const { resources, nextCursor } = await client.listResources();
  const { prompts } = await client.listPrompts();
  const answers = {};
  for (const prompt of prompts) {
    answers[`prompt ${prompt.name}`] = await outcome(() =>
      client.getPrompt({
        name: prompt.name,
        arguments: Object.fromEntries((prompt.arguments ?? []).map(({ name }) => [name, '1'])),
      }),
    );
  }
  answers.resource = await outcome(() => client.readResource({ uri: resources[0].uri }));
  answers.missing = await outcome(() => client.readResource({ uri: 'demo://nothing' }));
  answers.templates = await outcome(() => client.listResourceTemplates());
  answers.ping = await client.ping();
  answers.level = await outcome(() => client.setLoggingLevel('debug'));
  answers.subscribed = await outcome(() => client.subscribeResource({ uri: resources[0].uri }));
  const steps = [];
  answers.long = await outcome(() =>
    client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } }, undefined, {
      onprogress: ({ progress, total }) => steps.push([progress, total]),
    }),
  );
  for (const [name, args] of [
    ['echo', { message: 'hi' }],
    ['get-sum', { a: 1, b: 2 }],
    ['get-structured-content', { location: 'Chicago' }],
    ['get-resource-links', { count: 2 }],
    ['get-tiny-image', {}],
    ['trigger-sampling-request', { prompt: 'p', maxTokens: 5 }],
    ['trigger-elicitation-request', {}],
    ['get-roots-list', {}],
    ['nothing-of-that-name', {}],
  ]) {
    answers[name] = await outcome(() => client.callTool({ name, arguments: args }));
  }
  return {
    tools: tools.map(({ name }) => name),
    server: client.getServerVersion(),
    does: client.getServerCapabilities(),
    resources,
    nextCursor,
    prompts,
    answers,
    // The SDK drops a progress notification that arrives together with the result.
    hasProgress: steps.length > 0,
  };
}

test('server-everything behaves the same with the proxy and without it', {
  timeout: 120_000,
  skip: !existsSync(EVERYTHING) && 'server-everything is not installed',
}, async () => {
  const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
  const bare = await connected([EVERYTHING], { capabilities, direct: true });
  const through = await connected(['--', process.execPath, EVERYTHING], { capabilities });
  const [expected, found] = [await seen(bare), await seen(through)];
  assert.ok(expected.tools.length > 5 && expected.prompts.length > 1 && expected.hasProgress);
  assert.deepEqual(found, expected);
  await Promise.all([bare.client.close(), through.client.close()]);
});
