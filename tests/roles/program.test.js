// The native program in environments that contain nothing else of this repository: installed from npm, from PyPI, by cargo and by the install
// script, the files of the image, and the bundle for Claude Desktop. Each checks a file, runs in front of a real MCP server, and in front of an API.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

// In the set-up of npm/.
const { unzipSync } = createRequire(new URL('../../npm/package.json', import.meta.url))('fflate');

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = join(ROOT, 'target/roles');
const BUNDLE = join(PACKAGES, 'bundle');
const SERVER = join(ROOT, 'npm/examples/fake/many-tools.js');
const folder = mkdtempSync(join(tmpdir(), 'toolwire-program-'));
const TOOLS = [{ name: 'bad', inputSchema: { type: 'object', properties: { a: { enum: [] } } } }];
const { version } = JSON.parse(readFileSync(join(ROOT, 'npm/package.json'), 'utf8'));
/** Time limit for the answer of a program, in milliseconds. */
const PATIENCE = 60_000;

function empty(name) {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'tools.json'), JSON.stringify(TOOLS));
  return path;
}

const run = (cwd, command, args, env = {}) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, ...env } });

function checks(cwd, [command, ...words], file = 'tools.json') {
  const line = [...words, 'check', '--dialect', 'openai-chat', file];
  const { status, stdout, stderr } = spawnSync(command, line, { cwd, encoding: 'utf8', timeout: PATIENCE });
  assert.equal(status, 1, stderr);
  assert.match(stdout, /enum-empty/);
}

async function runsProxy(cwd, command) {
  const line = [...command, 'proxy', '--client', 'cursor', '--', process.execPath, SERVER];
  assert.deepEqual(await toolsOf(cwd, line), ['search_tools', 'call_tool']);
}

/** Returns the names of the tools that a proxy lists. */
async function toolsOf(cwd, [command, ...line]) {
  const child = spawn(command, line, { cwd, stdio: ['pipe', 'pipe', 'ignore'], timeout: PATIENCE });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { value } = await lines.next();
    return JSON.parse(value).result;
  };
  const clientInfo = { name: 'client', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const { tools } = await ask(2, 'tools/list', {});
  child.stdin.end();
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  return tools.map(({ name }) => name);
}

async function runsRelay(t, cwd, [command, ...words]) {
  const asked = [];
  const api = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    asked.push(JSON.parse(body));
    response.setHeader('Content-Type', 'application/json').end('{"choices":[]}');
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  t.after(() => api.close());
  const upstream = ['--upstream', `http://127.0.0.1:${api.address().port}`, '--dialect', 'openai-strict'];
  const line = [...words, 'relay', '--listen', '127.0.0.1:0', ...upstream];
  const child = spawn(command, line, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: PATIENCE });
  t.after(() => child.kill());
  let log = '';
  for await (const piece of child.stderr.iterator({ destroyOnReturn: false })) {
    log += piece;
    if (/127\.0\.0\.1:\d+.*\n/.test(log)) break;
  }
  const [, address] = /(127\.0\.0\.1:\d+)/.exec(log) ?? assert.fail(log);
  const health = spawnSync(command, [...words, 'health', address], { cwd, encoding: 'utf8', timeout: PATIENCE });
  assert.equal(health.status, 0, health.stderr);
  const tools = [{ type: 'function', function: { name: 'a.b', parameters: { properties: { n: { const: 1 } } } } }];
  const reply = await fetch(`http://${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [], tools }),
  });
  assert.equal(reply.status, 200, await reply.text());
  assert.equal(asked[0].tools[0].function.name, 'a_b');
  child.kill();
  await once(child, 'exit');
  assert.equal(spawnSync(command, [...words, 'health', address], { cwd, timeout: PATIENCE }).status, 1);
}

async function works(t, cwd, command) {
  assert.equal(run(cwd, command[0], [...command.slice(1), '--version']), `toolwire ${version}\n`);
  checks(cwd, command);
  await runsProxy(cwd, command);
  await runsRelay(t, cwd, command);
}

const only = (path, pattern) => {
  const found = readdirSync(path).filter((name) => pattern.test(name));
  assert.equal(found.length, 1, `${pattern} in ${path}: ${found}; \`scripts/examples.sh roles\` makes it`);
  return join(path, found[0]);
};

describe('the program', { skip: process.platform === 'win32' && 'the packages are made by shell scripts' }, () => {
  before(() => assert.ok(readdirSync(BUNDLE).length > 0));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('npm install', async (t) => {
    const project = empty('npm');
    run(project, 'npm', ['init', '-y']);
    const tarballs = [only(PACKAGES, /^toolwire-\d.*\.tgz$/), only(BUNDLE, /^toolwire-cli-.*\.tgz$/)];
    run(project, 'npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs]);
    // The exit of npx is not that of the program's signal, so the relay is started by its name.
    checks(project, ['npx', '--no-install', 'toolwire']);
    await works(t, project, [join(project, 'node_modules/.bin/toolwire')]);
  });

  test('pip install', async (t) => {
    const project = empty('pip');
    run(project, join(ROOT, 'python/.venv/bin/python'), ['-m', 'venv', '.venv']);
    const python = join(project, '.venv/bin/python');
    run(project, python, ['-m', 'pip', 'install', '--quiet', '--no-index', only(PACKAGES, /\.whl$/)]);
    await works(t, project, [join(project, '.venv/bin/toolwire')]);
    await works(t, project, [python, '-I', '-m', 'toolwire']);
  });

  test('cargo install --path', async (t) => {
    const project = empty('cargo');
    // With the target folder of another test, which has compiled the core.
    const target = ['--target-dir', join(PACKAGES, 'rust')];
    const options = ['--quiet', '--debug', '--locked', '--offline', '--no-track', '--root', project, ...target];
    run(ROOT, 'cargo', ['install', ...options, '--path', 'cli']);
    await works(t, project, [join(project, 'bin/toolwire')]);
  });

  test('the install script', async (t) => {
    const project = empty('script');
    const env = {
      TOOLWIRE_DOWNLOAD: `file://${BUNDLE}`,
      TOOLWIRE_INSTALL: join(project, 'bin'),
      PATH: process.env.PATH,
    };
    assert.match(run(project, 'sh', [join(BUNDLE, 'install.sh')], env), /^installed toolwire /);
    await works(t, project, [join(project, 'bin/toolwire')]);
    // An archive that is not that of the release.
    const other = join(project, 'other');
    mkdirSync(other);
    for (const name of readdirSync(BUNDLE).filter((name) => name.endsWith('.tar.gz')))
      writeFileSync(join(other, name), 'x');
    const done = spawnSync('sh', [join(BUNDLE, 'install.sh')], {
      encoding: 'utf8',
      env: { ...process.env, ...env, TOOLWIRE_DOWNLOAD: `file://${other}` },
    });
    assert.equal(done.status, 1);
    assert.match(done.stderr, /expected the checksum/);
  });

  test('the bundle for Claude Desktop', async () => {
    const project = empty('mcpb');
    const servers = join(project, 'servers.json');
    writeFileSync(servers, JSON.stringify({ mcpServers: { many: { command: process.execPath, args: [SERVER] } } }));
    for (const [name, content] of Object.entries(unzipSync(readFileSync(only(BUNDLE, /\.mcpb$/))))) {
      mkdirSync(join(project, dirname(name)), { recursive: true });
      writeFileSync(join(project, name), content);
    }
    // As Claude Desktop starts it.
    const manifest = JSON.parse(readFileSync(join(project, 'manifest.json'), 'utf8'));
    const { command, args } = manifest.server.mcp_config;
    const values = { __dirname: project, 'user_config.servers': servers };
    const fill = (text) => text.replace(/\$\{([\w.]+)\}/g, (_, name) => values[name]);
    chmodSync(fill(command), 0o755);
    const names = await toolsOf(project, [fill(command), ...args.map(fill)]);
    assert.deepEqual([names.length, names[0]], [120, 'account_archive']);
  });

  const isImage = process.platform === 'linux' && process.getuid() === 0;
  test('the files of the image', { skip: !isImage && 'only root may change the root folder' }, async (t) => {
    const image = join(BUNDLE, 'image', process.arch === 'arm64' ? 'arm64' : 'amd64');
    const linked = spawnSync('ldd', [join(image, 'usr/bin/toolwire')], { encoding: 'utf8' }).stdout;
    if (!/statically linked|not a dynamic/.test(linked)) {
      t.skip('a quick build is not static; `make package` makes the program of the image');
      return;
    }
    const inside = ['chroot', '--userspec=65532:65532', image, '/usr/bin/toolwire'];
    writeFileSync(join(image, 'tmp/tools.json'), JSON.stringify(TOOLS));
    t.after(() => rmSync(join(image, 'tmp/tools.json')));
    checks(folder, inside, '/tmp/tools.json');
    await runsRelay(t, folder, inside);
  });
});
