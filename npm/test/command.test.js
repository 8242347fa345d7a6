// Tests the command line: runs every case of tests/command in this process, and through the program.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

import { dialects } from '../dist/index.js';

const FOLDER = new URL('../../tests/command/', import.meta.url);
const PROGRAM = fileURLToPath(new URL('../dist/command.js', import.meta.url));
const PKG = new URL('../../bindings-wasm/pkg/command/', import.meta.url);
const { CommandLine, initSync } = await import(new URL('toolwire_wasm.js', PKG));
initSync({ module: readFileSync(new URL('toolwire_wasm_bg.wasm', PKG)) });

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== 'count.json');
const cases = files.flatMap((name) =>
  JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')).map((it) => ({ ...it, file: basename(name, '.json') })),
);

/** Returns text from a case: a string, a list of lines, or a JSON value. */
function text(value) {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  const isLines = Array.isArray(value) && value.every((line) => typeof line === 'string');
  return isLines ? value.map((line) => `${line}\n`).join('') : JSON.stringify(value);
}

const json = (value) => Buffer.from(JSON.stringify(value));

/** Returns the entries of a folder in the case's files. Names of folders end with `/`. */
function listed({ files }, folder) {
  const inside = Object.keys(files ?? {}).filter((path) => path.startsWith(folder));
  return [...new Set(inside.map((path) => path.slice(folder.length).replace(/\/.*/s, '/')))];
}

const rest = ([, ...words]) => words;

/** Passes an API's answer to a command, after asserting that the request matches the case. */
function answered(command, words, answer) {
  const request = JSON.parse(words);
  request.body = JSON.parse(request.body);
  assert.ok(answer !== undefined, `no answer to ${words}`);
  if (answer.for) assert.equal(JSON.stringify(request), JSON.stringify(answer.for));
  if (typeof answer === 'string') return command.fail(answer);
  const { status, retryAfter = null, body } = answer;
  return command.give(json({ status, retryAfter, body: text(body) }));
}

const expected = ({ stdout, stderr, exitCode }) => [text(stdout), text(stderr), exitCode];

/** The environment without the variables that control colors. */
const { NO_COLOR: _, FORCE_COLOR: __, TERM: ___, ...environment } = process.env;

/** Runs the program, and returns its output and its exit code. */
async function run(args, { input = '', cwd, env = {}, program = PROGRAM } = {}) {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...environment, ...env } });
  const out = ['', ''];
  for (const [at, stream] of [child.stdout, child.stderr].entries()) {
    stream.setEncoding('utf8').on('data', (piece) => {
      out[at] += piece;
    });
  }
  // The program may exit without reading its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return [...out, code];
}

const places = [];
function place(content = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'toolwire-command-'));
  places.push(folder);
  for (const [name, value] of Object.entries(content)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text(value));
  }
  return folder;
}
after(() => {
  for (const folder of places) rmSync(folder, { recursive: true });
});

test('the number of cases matches count.json', () => {
  assert.equal(cases.length, JSON.parse(readFileSync(new URL('count.json', FOLDER), 'utf8')).cases);
});

describe('every case', () => {
  for (const it of cases) {
    test(`${it.file}: ${it.name}`, () => {
      const facts = { ...it.terminal, arguments: it.arguments, environment: it.environment, date: it.date };
      const answers = [...(it.answers ?? [])];
      const command = new CommandLine(JSON.stringify(facts));
      for (let need = command.need(); need !== undefined; need = command.need()) {
        const [word, name] = need;
        const kind = word === 'regular-file' ? 'file' : word;
        const server = it.servers?.[name] ?? it.server;
        if (kind === 'file' && it.files?.[name] === undefined) command.fail('ENOENT');
        else if (kind === 'server' && typeof server === 'string') command.fail(server);
        else if (kind === 'folder') command.give(json(listed(it, name)));
        else if (kind === 'set') command.give(json(rest(need).filter((one) => it.environment?.[one] !== undefined)));
        else if (kind === 'request') answered(command, name, answers.shift());
        else if (kind === 'variables') command.give(json(it.environment ?? {}));
        else command.give(Buffer.from(text({ file: it.files?.[name], input: it.stdin, line: it.stdin, server }[kind])));
      }
      assert.deepEqual(answers, [], 'unused answers');
      let progress = '';
      for (let shown = command.step(); shown !== undefined; shown = command.step()) progress += shown;
      const [stdout, stderr, code, ...written] = command.finish();
      assert.deepEqual([stdout, stderr, Number(code), progress], [...expected(it), text(it.progress)]);
      assert.deepEqual(
        // Each file has four entries; the last two describe how it is written.
        written.filter((_, at) => at % 4 < 2),
        Object.entries(it.written ?? {}).flatMap(([path, content]) => [path, text(content)]),
      );
    });
  }
});

// A host only performs needs and prints, and each case costs it a process. Cases with the same command, members and
// exit code need the same of it, so it runs the first of them.
describe('cases that need no terminal and no server, through the program', { concurrency: 2 }, () => {
  const alone = ({ terminal, server, servers, answers }) =>
    [terminal, server, servers, answers].every((it) => it === undefined);
  const kinds = new Map();
  for (const it of cases.filter(alone)) {
    const kind = JSON.stringify([it.arguments[0], Object.keys(it).sort(), it.exitCode]);
    if (!kinds.has(kind)) kinds.set(kind, it);
  }
  for (const it of kinds.values()) {
    test(`${it.file}: ${it.name}`, async () => {
      const cwd = place(it.files);
      const printed = await run(it.arguments, { input: text(it.stdin), cwd, env: it.environment });
      assert.deepEqual(printed, expected(it));
      for (const [path, content] of Object.entries(it.written ?? {})) {
        assert.equal(readFileSync(join(cwd, path), 'utf8'), text(content));
      }
    });
  }
});

test("`dialects` prints the library's result", async () => {
  assert.deepEqual(JSON.parse((await run(['dialects', '--json']))[0]), dialects());
});

test('a reader that closes the pipe is not an error', async () => {
  const child = spawn(process.execPath, [PROGRAM, 'dialects', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let written = '';
  child.stderr.on('data', (piece) => {
    written += piece;
  });
  const [code] = await once(child, 'close');
  assert.deepEqual([code, written], [0, '']);
});

/** Runs a program whose output is not read, and returns its exit code. */
async function unread(args, output, { cwd, input = '' } = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, env: environment });
  child[output].destroy();
  for (const stream of [child.stdout, child.stderr]) if (!stream.destroyed) stream.resume();
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return (await once(child, 'close'))[0];
}

test('a reader that closes the pipe changes neither the exit code nor the files', async () => {
  const tools = [{ name: 'now', inputSchema: { type: 'object', properties: { a: { enum: [] } } } }];
  const cwd = place({ 't.json': tools });
  assert.equal(await unread(['check', '-d', 'openai-chat', 't.json'], 'stdout', { cwd }), 1);
  const args = ['check', '-d', 'openai-chat', '--format', 'json', '--baseline', 'base.json', '--update-baseline'];
  assert.equal(await unread([...args, 't.json'], 'stdout', { cwd }), 0);
  assert.match(readFileSync(join(cwd, 'base.json'), 'utf8'), /enum-empty/);
  const fails = { command: process.execPath, args: ['-e', 'console.error("no"); process.exit(3)'] };
  writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { one: fails, two: fails } }));
  assert.equal(await unread(['check', '--servers', 'mcp.json'], 'stderr', { cwd }), 2);
});

test('an output that cannot be written is an error', {
  skip: !existsSync('/dev/full') && 'this system has no /dev/full',
}, async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [PROGRAM, 'dialects'], { stdio: ['ignore', full, 'pipe'] });
  let written = '';
  child.stderr.on('data', (piece) => {
    written += piece;
  });
  const [code] = await once(child, 'close');
  closeSync(full);
  const expected = 'toolwire: expected a writable output, found one that fails (ENOSPC)\n';
  assert.deepEqual([code, written], [2, expected]);
});

test('an empty file name is an error', async () => {
  assert.deepEqual(await run(['check', '']), ['', 'toolwire: : expected a file, found none with that name\n', 2]);
});

describe('a server with hand-written messages', () => {
  const PLAIN = `
    console.log('a line for people');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const result = {
        initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } },
        'tools/list': JSON.parse(process.argv[1]),
      }[method];
      if (result !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  `;
  const tools = [{ name: 'a', inputSchema: { type: 'object' } }];
  for (const nextCursor of [null, '']) {
    test(`may send ${JSON.stringify(nextCursor)} as the cursor after the last page`, async () => {
      const server = ['--', process.execPath, '-e', PLAIN, JSON.stringify({ tools, nextCursor })];
      const [stdout, stderr, code] = await run(['matrix', '--json', ...server]);
      assert.deepEqual([stderr, code], ['', 0]);
      assert.equal(JSON.parse(stdout).count, 1);
    });
  }
  test('may list invalid tools, which are reported', async () => {
    const broken = [{ name: 'bad', inputSchema: { type: 'array' } }, { name: null }, 7];
    const server = ['--', process.execPath, '-e', PLAIN, JSON.stringify({ tools: [...tools, ...broken] })];
    const [stdout, stderr, code] = await run(['check', '-d', 'anthropic', '--json', ...server]);
    assert.deepEqual([stderr, code], ['', 1]);
    const { sources, findings } = JSON.parse(stdout);
    assert.equal(sources[0].count, 4);
    const found = findings.map(({ pointer, rule }) => `${pointer} ${rule}`);
    for (const one of ['/tools/1/inputSchema root-object', '/tools/3 not-a-tool']) assert.ok(found.includes(one), one);
  });
  test('must not list too many tools', async () => {
    const script = PLAIN.replace('JSON.parse(process.argv[1])', '{ tools: Array(10_001).fill({}) }');
    const [, stderr, code] = await run(['check', '--', process.execPath, '-e', script]);
    assert.equal(code, 2);
    assert.match(stderr, /: expected at most 10000 tools, found more\n$/);
  });
  for (const page of [{}, { tools: 'none' }]) {
    test(`must not answer ${JSON.stringify(page)}`, async () => {
      const [, stderr, code] = await run(['matrix', '--', process.execPath, '-e', PLAIN, JSON.stringify(page)]);
      assert.equal(code, 2);
      assert.match(
        stderr,
        /: the server did not list its tools: expected an answer with a list in `tools`, found none\n$/,
      );
    });
  }
});

test('the program ends although a process that the server started is still running', {
  skip: process.platform === 'win32' && 'Windows ends child processes differently',
}, async () => {
  const left = "setTimeout(() => require('node:fs').writeFileSync('over', ''), 60_000)";
  const script = `
    const { spawn } = require('node:child_process');
    const { pid } = spawn(process.execPath, ['-e', ${JSON.stringify(left)}], { stdio: 'inherit', detached: true });
    require('node:fs').writeFileSync('pid', String(pid));
    process.exit(3);
  `;
  const cwd = place();
  const [, , code] = await run(['check', '--timeout', '1', '--', process.execPath, '-e', script], { cwd });
  assert.equal(code, 2);
  assert.ok(!existsSync(join(cwd, 'over')), 'the program waited for the process');
  process.kill(Number(readFileSync(join(cwd, 'pid'), 'utf8')));
});

test('endless pages end with an error', async () => {
  const script = `
    let pages = 0;
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize')
        answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } });
      if (method === 'tools/list') setTimeout(() => answer({ tools: [], nextCursor: ++pages < 60 ? 'next' : '' }), 250);
    });
  `;
  const [, stderr, code] = await run(['matrix', '--timeout', '1', '--', process.execPath, '-e', script]);
  assert.deepEqual([/expected (all pages in 10|an answer in 1) s/.test(stderr), code], [true, 2], stderr);
});

test('a secret is removed even at the place where the log of a server is truncated', async () => {
  const env = { TOKEN: 'a-secret-of-forty-characters-0123456789z' };
  for (const length of [16_384, 16_384 + 16 * env.TOKEN.length]) {
    const script = `process.stderr.write(process.env.TOKEN + 'x'.repeat(${length - 20}), () => process.exit(3))`;
    const [, stderr] = await run(['check', '--env', 'TOKEN', '--', process.execPath, '-e', script], { env });
    assert.match(stderr, /^…?x+\n/);
  }
});

test('a server only receives the variables that are passed to it', async () => {
  const script = 'console.error(process.env.TOKEN, process.env.OTHER, process.env.PATH !== undefined); process.exit(3)';
  const env = { TOKEN: 'secret', OTHER: 'secret too' };
  const server = ['--', process.execPath, '-e', script];
  const [, none] = await run(['check', ...server], { env });
  assert.match(none, /^undefined undefined true\n/);
  const [, one] = await run(['check', '--env', 'TOKEN', '--env', 'UNSET', ...server], { env });
  // The value is masked in the server's log.
  assert.match(one, /^… undefined true\n/);
});

describe('a live server over stdio', () => {
  const sdk = (name) => JSON.stringify(import.meta.resolve(`@modelcontextprotocol/sdk/${name}`));
  const SERVER = `
    import { Server } from ${sdk('server/index.js')};
    import { StdioServerTransport } from ${sdk('server/stdio.js')};
    import { ListToolsRequestSchema } from ${sdk('types.js')};
    console.error('hello from the server', process.env.TOKEN);
    const server = new Server({ name: 'fake', version: '1' }, { capabilities: { tools: {} } });
    const inputSchema = { type: 'object', properties: { b: { const: 'x' }, a: { type: 'string' } } };
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => params?.cursor === 'second'
      ? { tools: [{ name: 'two', inputSchema }] }
      : { tools: [{ name: 'one', inputSchema }], nextCursor: 'second' });
    await server.connect(new StdioServerTransport());
  `;

  test('all pages of its tools are read, and its order of keys is kept', async () => {
    const cwd = place({ 'server.mjs': SERVER });
    const server = ['--', process.execPath, 'server.mjs'];
    const [stdout, stderr, code] = await run(['check', '--dialect', 'gemini', '--json', ...server], { cwd });
    assert.deepEqual([stderr, code], ['', 1]);
    const { sources, findings } = JSON.parse(stdout);
    assert.deepEqual(sources, [{ source: `${process.execPath} server.mjs`, count: 2 }]);
    const found = findings.map(({ tool, pointer }) => `${tool} ${pointer}`);
    assert.ok(found.includes('two /tools/1/inputSchema/properties/b/const'), found.join('\n'));
    const [written] = await run(['sanitize', '--dialect', 'mistral', '--compact', ...server], { cwd });
    assert.match(written, /"properties":\{"b":\{"const":"x"\},"a":\{"type":"string"\}\}/);
  });

  test('a server that ends at once, and one that does not exist, are errors', async () => {
    const script = 'console.error("no token\\u009b2J\\u202e"); process.exit(3)';
    const [stdout, stderr, code] = await run(['check', '--', process.execPath, '-e', script]);
    assert.deepEqual([stdout, code], ['', 2]);
    assert.match(stderr, /^no token\\u009b2J\\u202e\ntoolwire: .*: the server did not list its tools: /);
    const none = 'the server did not list its tools: expected a command, found none with this name';
    assert.deepEqual(await run(['check', '--', 'no-such-program-anywhere']), [
      '',
      `toolwire: no-such-program-anywhere: ${none}\n`,
      2,
    ]);
  });

  test('without the SDK, the message names the command that installs it', async () => {
    const cwd = place();
    for (const name of ['command.js', 'command-glue.js', 'command.wasm.br']) {
      writeFileSync(join(cwd, name), readFileSync(new URL(name, pathToFileURL(PROGRAM))));
    }
    writeFileSync(join(cwd, 'package.json'), '{"type":"module"}');
    // Not in the working folder, which may be a repository that is only checked.
    const poisoned = place();
    const sdk = join(poisoned, 'node_modules/@modelcontextprotocol/sdk');
    for (const name of [
      'client/index.js',
      'client/stdio.js',
      'client/sse.js',
      'client/streamableHttp.js',
      'types.js',
    ]) {
      mkdirSync(dirname(join(sdk, name)), { recursive: true });
      writeFileSync(join(sdk, name), "require('node:fs').writeFileSync('poisoned', '');");
    }
    writeFileSync(join(sdk, 'package.json'), '{"name":"@modelcontextprotocol/sdk","version":"1.32.2"}');
    const [, , refused] = await run(['check', '--', 'node'], { cwd: poisoned, program: join(cwd, 'command.js') });
    assert.equal(refused, 2);
    assert.ok(!existsSync(join(poisoned, 'poisoned')));
    const args = ['matrix', '--', 'npx', '-y', 'some-server'];
    const [, stderr, code] = await run(args, { cwd, program: join(cwd, 'command.js') });
    assert.equal(code, 2);
    assert.match(stderr, /`npx -y -p toolwire -p @modelcontextprotocol\/sdk toolwire … -- SERVER`/);
    const [, written] = await run(['matrix', '--url', 'https://me:a-secret@x.test/?key=a-secret'], {
      cwd,
      program: join(cwd, 'command.js'),
    });
    assert.match(written, /toolwire … --url URL`/);
    assert.doesNotMatch(written, /a-secret/);
  });

  test('Ctrl-C and SIGTERM end the server, too', {
    skip: process.platform === 'win32' && 'Windows has no POSIX signals',
  }, async () => {
    const script = `
      process.on('SIGTERM', () => process.exit(require('fs').writeFileSync('ended', '')));
      setInterval(() => {}, 1000);
      require('fs').writeFileSync('begun', '');
    `;
    const ended = async (signal) => {
      const cwd = place();
      // The wait is long, in case the machine is busy; it only takes 30 s if the file is never written.
      const written = async (name) => {
        for (let tries = 0; tries < 300 && !existsSync(join(cwd, name)); tries++) {
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return existsSync(join(cwd, name));
      };
      const child = spawn(process.execPath, [PROGRAM, 'check', '--', process.execPath, '-e', script], { cwd });
      const closes = once(child, 'close');
      assert.ok(await written('begun'), 'the server does not start');
      child.kill(signal);
      const closed = await closes;
      assert.ok(await written('ended'), 'the server still runs');
      return closed;
    };
    assert.deepEqual(await Promise.all([ended('SIGINT'), ended('SIGTERM')]), [
      [130, null],
      [143, null],
    ]);
  });
});

describe('a live server at a URL', () => {
  const TOOLS = [{ name: 'one', inputSchema: { type: 'object', properties: { a: { enum: [] } } } }];

  /** Starts a server with streamable HTTP, or only the older SSE, for clients with the token. */
  async function served(transport, work) {
    const http = createServer(async (request, response) => {
      if (request.headers.authorization !== 'Bearer secret') {
        return response.writeHead(401).end(`who are you, ${request.url} with ${request.headers.authorization}?`);
      }
      let body = '';
      for await (const piece of request) body += piece;
      const { id, method, params } = body === '' ? {} : JSON.parse(body);
      const result = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'f', version: '1' },
        },
        'tools/list': { tools: TOOLS },
      }[method];
      const message = JSON.stringify({ jsonrpc: '2.0', id, result });
      if (transport === 'slow') return;
      if (transport === 'http') {
        if (request.method !== 'POST') return response.writeHead(405).end();
        if (result === undefined) return response.writeHead(202).end();
        return response.writeHead(200, { 'content-type': 'application/json' }).end(message);
      }
      if (request.url === '/mcp' && request.method === 'GET') {
        http.stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        return response.write('event: endpoint\ndata: /messages\n\n');
      }
      if (request.url !== '/messages') return response.writeHead(404).end();
      response.writeHead(202).end();
      if (result !== undefined) http.stream.write(`event: message\ndata: ${message}\n\n`);
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    try {
      return await work(`http://127.0.0.1:${http.address().port}/mcp`);
    } finally {
      http.closeAllConnections();
      http.close();
    }
  }

  test('a small answer that decompresses to a large one is refused', async () => {
    const large = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${'{},'.repeat(12 << 20)}{}]}}`);
    const packed = gzipSync(large);
    assert.ok(packed.length < 100_000);
    for (const type of ['application/json', 'text/event-stream']) {
      const http = createServer(async (request, response) => {
        if (request.method !== 'POST') return response.writeHead(405).end();
        let body = '';
        for await (const piece of request) body += piece;
        const { id, method, params } = JSON.parse(body);
        if (id === undefined) return response.writeHead(202).end();
        const json = { 'content-type': 'application/json' };
        const serverInfo = { name: 'f', version: '1' };
        const result = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
        if (method === 'initialize')
          return response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        const headers = { 'content-type': type, 'content-encoding': 'gzip' };
        return response.writeHead(200, headers).end(packed);
      });
      http.listen(0, '127.0.0.1');
      await once(http, 'listening');
      const url = `http://127.0.0.1:${http.address().port}/mcp`;
      const [, stderr, code] = await run(['check', '--url', url]);
      http.closeAllConnections();
      http.close();
      assert.equal(code, 2);
      assert.match(stderr, /: expected at most 16 MiB from the server, found more\n$/);
    }
  });

  for (const transport of ['http', 'sse']) {
    test(`is read by ${transport}, with a header`, async () => {
      await served(transport, async (url) => {
        const args = ['check', '-d', 'openai-chat', '-q', '--url', url, '--header', 'Authorization: Bearer secret'];
        const [stdout, stderr, code] = await run(args);
        assert.deepEqual([stderr, code], ['', 1]);
        assert.match(stdout, /^http:.*: enum-empty: `one`: /);
      });
    });
  }

  test('a server that a file declares is read, with a variable in its header', async () => {
    await served('http', async (url) => {
      const headers = { Authorization: 'Bearer ${' + 'THE_TOKEN}' };
      const cwd = place({ '.mcp.json': { mcpServers: { far: { url, headers } } } });
      const args = ['check', '-d', 'openai-chat', '-q', '--servers', '.mcp.json', '--env', 'THE_TOKEN'];
      const [stdout, stderr, code] = await run(args, { cwd, env: { THE_TOKEN: 'secret' } });
      assert.deepEqual([stderr, code], ['', 1]);
      assert.match(stdout, /^\.mcp\.json \(far\): enum-empty: /);
    });
  });

  test('a server that refuses, one that is late, and one that does not exist are errors', async () => {
    await served('http', async (url) => {
      const [, stderr, code] = await run(['check', '--url', url]);
      assert.equal(code, 2);
      assert.match(stderr, /: the server did not list its tools: .*who are you/);
    });
    await served('http', async (url) => {
      const secret = [
        '--url',
        `${url}?key=the-query&more=of-it#behind`,
        '--header',
        'Authorization: Bearer the-token ',
      ];
      const [stdout, stderr] = await run(['check', '--format', 'github', ...secret]);
      assert.match(stderr, /who are you, \/mcp… with (Bearer )?…\?/);
      assert.doesNotMatch(stdout + stderr, /the-query|of-it|the-token/);
    });
    const none = 'the server did not list its tools: expected an address, found something else';
    const [, odd] = await run(['matrix', '--url', 'http://x.test:port/mcp']);
    assert.equal(odd, `toolwire: http://x.test:port/mcp: ${none}\n`);
    await served('slow', async (url) => {
      const header = ['--header', 'Authorization: Bearer secret'];
      const [, stderr, code] = await run(['check', '--url', url, '--timeout', '1', ...header]);
      assert.equal(code, 2);
      assert.match(stderr, /: expected an answer in 1 s, found none\n$/);
    });
    const [, stderr, code] = await run(['check', '--url', 'http://127.0.0.1:9/mcp']);
    assert.equal(code, 2);
    assert.match(stderr, /: expected a server at that address, found none/);
  });
});

test('links to folders are followed unless they are endless', {
  skip: process.platform === 'win32' && 'Windows lets only some users create symbolic links',
}, async () => {
  const cwd = place({ 'real/t.json': { type: 'object', properties: {} } });
  symlinkSync('real', join(cwd, 'link'));
  symlinkSync('..', join(cwd, 'real/up'));
  symlinkSync('gone', join(cwd, 'nowhere'));
  const count = async (pattern) => JSON.parse((await run(['check', '--json', pattern], { cwd }))[0]).sources.length;
  assert.deepEqual([await count('*/*.json'), await count('link/*.json'), await count('**/*.json')], [2, 1, 1]);
});

test('a file that cannot be written is an error', async () => {
  const args = ['check', '-d', 'codex', '--baseline', 'none/base.json', '--update-baseline', '-'];
  const [, stderr, code] = await run(args, { input: '{"type":"object","properties":{}}', cwd: place() });
  assert.equal(code, 2);
  assert.match(stderr, /toolwire: none\/base\.json: expected a writable file, found one that is not \(ENOENT\)/);
});

describe('fixed files', {
  skip: process.platform === 'win32' && 'Windows has no named pipes in folders, and limits paths differently',
}, () => {
  const before = '{"type": "object", "properties": {"a": {"enum": ["b"]}}}\n';
  const args = ['check', '--fix', '-d', 'moonshot'];

  test('one that cannot be written does not stop the others', async () => {
    // The name of a temporary file next to it is too long.
    const long = `${'b'.repeat(250)}.json`;
    const cwd = place({ 'a.json': before, [long]: before, 'c.json': before });
    const [, stderr, code] = await run([...args, 'a.json', long, 'c.json'], { cwd });
    assert.equal(code, 2);
    assert.ok(stderr.endsWith(`${long}: expected a writable file, found one that is not (ENAMETOOLONG)\n`));
    const isFixed = ['a.json', long, 'c.json'].map((name) => readFileSync(join(cwd, name), 'utf8') !== before);
    assert.deepEqual(isFixed, [true, false, true]);
    assert.equal(readdirSync(cwd).length, 3);
  });

  test('one that has changed since it was read is not overwritten', async () => {
    const cwd = place({ 'a.json': before, 'c.json': before });
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    const running = run([...args, 'a.json', 'c.json', 'pipe'], { cwd });
    // Opens only once the program has read the files before it.
    const pipe = await open(join(cwd, 'pipe'), 'w');
    const changed = before.replace('"b"', '"x"');
    writeFileSync(join(cwd, 'a.json'), changed);
    await pipe.writeFile('{"type": "object", "properties": {}}');
    await pipe.close();
    const [, stderr, code] = await running;
    assert.equal(code, 2);
    assert.match(stderr, /a\.json: expected an unchanged file, found one that has changed since it was read\n$/);
    assert.equal(readFileSync(join(cwd, 'a.json'), 'utf8'), changed);
    assert.notEqual(readFileSync(join(cwd, 'c.json'), 'utf8'), before);
  });
});

describe('a baseline', { skip: process.platform === 'win32' && 'Windows has no POSIX limits and permissions' }, () => {
  const inputSchema = { type: 'object', properties: { a: { enum: [] } } };
  const tools = Array.from({ length: 100 }, (_, at) => ({ name: `bad_${at}`, inputSchema }));
  const before = '{"version":1,"findings":[]}\n';
  const args = ['check', '-d', 'openai-chat', '--update-baseline', 't.json', '--baseline'];

  test('is not lost if the program is killed or the disk is full while it is written', async () => {
    const cwd = place({ 't.json': tools, 'base.json': before });
    const line = ['ulimit -f 1; exec "$0" "$@"', process.execPath, PROGRAM, ...args, 'base.json'];
    const { status, stderr } = spawnSync('sh', ['-c', ...line], { cwd, env: environment });
    assert.equal(status, 2, String(stderr));
    assert.match(String(stderr), /base\.json: expected a writable file, found one that is not \(EFBIG\)\n$/);
    assert.equal(readFileSync(join(cwd, 'base.json'), 'utf8'), before);
    assert.deepEqual(readdirSync(cwd).sort(), ['base.json', 't.json']);
  });

  const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;
  test('is written in place if it cannot be replaced', {
    skip: !canMount && 'only Linux has mount points of users',
  }, async () => {
    const cwd = place({ 't.json': tools, 'base.json': before });
    const line = [
      'mount --bind base.json base.json && exec "$0" "$@"',
      process.execPath,
      PROGRAM,
      ...args,
      'base.json',
    ];
    const { status, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', ...line], { cwd, env: environment });
    assert.equal(status, 0, String(stderr));
    assert.notEqual(readFileSync(join(cwd, 'base.json'), 'utf8'), before);
    assert.deepEqual(readdirSync(cwd).sort(), ['base.json', 't.json']);
  });

  test('keeps its permissions, and a link to it stays', async () => {
    const cwd = place({ 't.json': tools, 'base.json': before });
    chmodSync(join(cwd, 'base.json'), 0o640);
    symlinkSync('base.json', join(cwd, 'link'));
    assert.equal((await run([...args, join(cwd, 'link')], { cwd }))[2], 0);
    assert.equal(lstatSync(join(cwd, 'base.json')).mode & 0o777, 0o640);
    assert.notEqual(readFileSync(join(cwd, 'base.json'), 'utf8'), before);
    assert.deepEqual(readdirSync(cwd).sort(), ['base.json', 'link', 't.json']);
    assert.ok(lstatSync(join(cwd, 'link')).isSymbolicLink());
    // A link without a target is no reason to replace the link.
    symlinkSync('made.json', join(cwd, 'new'));
    assert.equal((await run([...args, join(cwd, 'new')], { cwd }))[2], 0);
    assert.ok(lstatSync(join(cwd, 'new')).isSymbolicLink());
    assert.equal(readFileSync(join(cwd, 'made.json'), 'utf8'), readFileSync(join(cwd, 'base.json'), 'utf8'));
  });
});

test('a baseline from a configuration file is not written through a link', {
  skip: process.platform === 'win32' && 'Windows lets only some users create symbolic links',
}, async () => {
  const outside = place({ 'target.json': { version: 1, findings: [] } });
  const before = readFileSync(join(outside, 'target.json'), 'utf8');
  const tools = [{ name: 'now', inputSchema: { type: 'object', properties: {} } }];
  const content = (baseline) => ({ 't.json': tools, 'toolwire.toml': `baseline = "${baseline}"\n` });
  const args = ['check', '-d', 'openai-chat', '--update-baseline', 't.json'];
  const places = [
    ['base.json', (cwd) => symlinkSync(join(outside, 'target.json'), join(cwd, 'base.json'))],
    ['base.json', (cwd) => symlinkSync(join(outside, 'made.json'), join(cwd, 'base.json'))],
    ['in/target.json', (cwd) => symlinkSync(outside, join(cwd, 'in'))],
    ['in/made.json', (cwd) => symlinkSync(outside, join(cwd, 'in'))],
  ];
  for (const [baseline, link] of places) {
    const cwd = place(content(baseline));
    link(cwd);
    const [, stderr, code] = await run(args, { cwd });
    assert.equal(code, 2, stderr);
    assert.ok(stderr.endsWith(`${baseline}: expected a writable file, found one that is not (ELOOP)\n`), stderr);
  }
  assert.deepEqual(readdirSync(outside), ['target.json']);
  assert.equal(readFileSync(join(outside, 'target.json'), 'utf8'), before);
  const cwd = place(content('in/base.json'));
  mkdirSync(join(cwd, 'in'));
  assert.equal((await run(args, { cwd }))[2], 0);
  assert.ok(existsSync(join(cwd, 'in/base.json')));
  // The same holds for a relative path on the command line: only an absolute path is followed.
  symlinkSync(join(outside, 'target.json'), join(cwd, 'link'));
  symlinkSync(outside, join(cwd, 'out'));
  const named = (path) => run(['check', '-d', 'codex', '--baseline', path, '--update-baseline', 't.json'], { cwd });
  for (const path of ['link', './link', 'out/target.json', 'out/made.json']) {
    const [, stderr, code] = await named(path);
    assert.equal(code, 2, stderr);
    assert.ok(stderr.endsWith(`${path}: expected a writable file, found one that is not (ELOOP)\n`), stderr);
  }
  assert.deepEqual(readdirSync(outside), ['target.json']);
  assert.equal(readFileSync(join(outside, 'target.json'), 'utf8'), before);
  assert.equal((await named(join(cwd, 'link')))[2], 0);
  assert.notEqual(readFileSync(join(outside, 'target.json'), 'utf8'), before);
});

test('a device instead of a file is refused, unless its name is given', {
  skip: process.platform === 'win32' && 'Windows has no device files',
}, async () => {
  const tools = '[{"name": "now", "inputSchema": {"type": "object", "properties": {}}}]';
  for (const [link, args] of [
    ['x.json', ['*.json']],
    ['toolwire.toml', ['-']],
    ['base.json', ['--baseline', 'base.json', '-']],
  ]) {
    const cwd = place();
    symlinkSync('/dev/zero', join(cwd, link));
    const [, stderr, code] = await run(['check', '-d', 'codex', ...args], { input: tools, cwd });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /expected a regular file, found a device, a pipe or a socket\n/);
    assert.ok(stderr.includes(link), stderr);
  }
  const [, stderr] = await run(['check', '-d', 'codex', '/dev/null'], { cwd: place() });
  assert.match(stderr, /^toolwire: \/dev\/null: expected /);
  assert.doesNotMatch(stderr, /regular file/);
});

test('a system file with a reported size of 0 is not read', {
  skip: !existsSync('/proc/self/environ') && 'this system has no /proc',
}, async () => {
  const cwd = place({ 't.json': { type: 'object', properties: {} } });
  symlinkSync('/proc/self/environ', join(cwd, 'toolwire.toml'));
  const [, stderr, code] = await run(['check', '-d', 'codex', '-q', 't.json'], { cwd });
  assert.deepEqual([stderr, code], ['', 0]);
});

test("a client's file keeps its bytes and its permissions", {
  skip: process.platform === 'win32' && 'Windows has no POSIX permissions',
}, async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'toolwire-install-'));
  const file = join(cwd, 'mcp.json');
  const before = '{"mcpServers": {"a": {"command": "x"}}}\r\n';
  writeFileSync(file, before, { mode: 0o600 });
  const link = join(cwd, 'link.json');
  symlinkSync(file, link);
  const printed = await run(['proxy', '--install', 'cursor', '--servers', link, '--yes'], { cwd });
  assert.equal(printed.at(-1), 0);
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.match(readFileSync(file, 'utf8'), /"proxy", "--client", "cursor", "--", "x"\]\}\}\}\r\n$/);
  const backup = join(
    cwd,
    readdirSync(cwd).find((name) => name.includes('toolwire-backup')),
  );
  assert.equal(readFileSync(backup, 'utf8'), before);
  assert.deepEqual(
    [file, backup].map((path) => statSync(path).mode & 0o777),
    [0o600, 0o600],
  );
  rmSync(cwd, { recursive: true });
});
