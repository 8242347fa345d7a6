// Four users who do not know toolwire, each with an empty folder, the published package and the documentation: an
// author of agents in TypeScript, one in Python, one in Rust, and the maintainer of a workflow. They only type what the
// pages contain. The APIs and servers are fakes on this machine. Each test prints the number of lines that the user
// needed.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { backend } from '../../npm/examples/fake/backend.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const PACKAGES = join(ROOT, 'target', 'roles');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'toolwire-roles-'));
/** The model's call; in strict mode, null means that the optional `unit` is absent. */
const CALL = { name: 'get-sum', input: { a: 2, b: 3, unit: null } };

const windows = process.platform === 'win32';
/** Returns a program of a page: the block whose fence names the file. */
const program = (name) => new RegExp(`^\`\`\`\\w+ ${name.replace('.', '\\.')}\n(.*?)^\`\`\`$`, 'ms').exec(readme)[1];
/** Returns the first block of a language. */
const first = (language) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(readme)[1];
const lines = (text) => text.split('\n').filter((line) => line.trim() !== '').length;

/** Returns the number of lines that concern toolwire. */
const ours = (text) =>
  lines(
    text
      .split('\n')
      .filter((line) => /toolwire|sanitize|restore/i.test(line))
      .join('\n'),
  );

/** Returns the path of the only package of a kind. */
function published(end) {
  const [name, ...others] = readdirSync(PACKAGES).filter((file) => file.endsWith(end));
  assert.ok(
    name !== undefined && others.length === 0,
    `expected one ${end} in target/roles; \`scripts/examples.sh roles\` makes it`,
  );
  return join(PACKAGES, name);
}

/** Creates an empty folder. */
function empty(name) {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

function run(cwd, command, args, env = {}) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, ...env } });
}

/** Runs a command asynchronously, because the fakes run in this process. */
async function asking(cwd, command, args, url) {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const PATH = [join(folder, 'bin'), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' };
  const { stdout } = await promisify(execFile)(command, args, { cwd, env, timeout: 60_000 });
  return stdout;
}

describe('with an empty folder and the README', { skip: windows && 'the fakes are shell scripts' }, () => {
  before(() => {
    mkdirSync(join(folder, 'bin'));
    const server = join(ROOT, 'npm/examples/fake/stdio-server.js');
    writeFileSync(join(folder, 'bin', 'npx'), `#!/bin/sh\nexec "${process.execPath}" "${server}"\n`, { mode: 0o755 });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('npm init: an agent in TypeScript', async (t) => {
    const project = empty('typescript');
    run(project, 'npm', ['init', '-y']);
    run(project, 'npm', ['install', '--offline', '--no-audit', '--no-fund', published('.tgz')]);
    // The SDKs, which the README installs together with toolwire.
    for (const sdk of ['openai', '@modelcontextprotocol']) {
      symlinkSync(join(ROOT, 'npm/examples/node_modules', sdk), join(project, 'node_modules', sdk));
    }
    const text = program('agent.ts');
    writeFileSync(join(project, 'agent.mjs'), text);
    const { url, got } = await backend(t, 'openai-strict', [CALL]);
    assert.match(await asking(project, process.execPath, ['agent.mjs'], url), /get-sum: 5/);
    assert.equal(got[0].tools[0].function.strict, true);
    t.diagnostic(`TypeScript: ${lines(text)} lines, of them ${ours(text)} of toolwire`);
  });

  test('python -m venv: an agent in Python', async (t) => {
    const project = empty('python');
    const python = join(ROOT, 'python/examples/.venv/bin/python');
    run(project, python, ['-m', 'venv', '.venv']);
    const own = join(project, '.venv/bin/python');
    run(project, own, ['-m', 'pip', 'install', '--quiet', '--no-index', published('.whl')]);
    // The SDKs, which the README installs together with toolwire.
    const paths = (of) => run(project, of, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']).trim();
    writeFileSync(join(paths(own), 'sdks.pth'), `${paths(python)}\n`);
    const text = program('agent.py');
    writeFileSync(join(project, 'agent.py'), text);
    const { url, got } = await backend(t, 'openai-strict', [CALL]);
    assert.match(await asking(project, own, ['agent.py'], url), /get-sum: 5/);
    assert.match(run(project, own, ['-c', 'import toolwire; print(toolwire.__file__)']), /site-packages/);
    assert.equal(got[0].tools[0].function.strict, true);
    t.diagnostic(`Python: ${lines(text)} lines, of them ${ours(text)} of toolwire`);
  });

  test('cargo new: the library in Rust', (t) => {
    const project = empty('rust');
    const text = first('rust');
    run(project, 'cargo', ['init', '--quiet', '--vcs', 'none', '--name', 'agent']);
    const crate = join(PACKAGES, 'toolwire');
    assert.ok(existsSync(join(crate, 'Cargo.toml')), 'expected the packed crate in target/roles/toolwire');
    const dependencies = `toolwire = { path = ${JSON.stringify(crate)} }\nserde_json = "1"\n`;
    writeFileSync(join(project, 'Cargo.toml'), readFileSync(join(project, 'Cargo.toml'), 'utf8') + dependencies);
    // The versions that are installed on this machine.
    cpSync(join(ROOT, 'Cargo.lock'), join(project, 'Cargo.lock'));
    writeFileSync(join(project, 'src/main.rs'), text);
    const target = { CARGO_TARGET_DIR: join(ROOT, 'target', 'roles', 'rust') };
    const done = spawnSync('cargo', ['run', '--quiet', '--offline'], {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, ...target },
    });
    assert.equal(done.status, 0, done.stderr);
    t.diagnostic(`Rust: ${lines(text)} lines`);
  });
});
