// Runs every benchmark once with three tools, so that a benchmark that does not match the measured functions fails a test. The
// benchmarks that compare other packages run where these are installed (`make bench-peers`).

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const skip =
  (process.platform === 'win32' && 'the scripts need a Unix shell') ||
  (!existsSync(join(ROOT, 'core/Cargo.toml')) && 'the sources of the core are missing');
const env = { ...process.env, TOOLWIRE_BENCH: 'once', PYTHONPATH: join(ROOT, 'python/src') };
const target = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
const EXAMPLES = ['figures', 'growth', 'bench', 'requests', 'reading', 'arguments', 'program'];
const PYTHON = 'python/.venv/bin/python';
const PYTHON_OF_PEERS = 'python/bench/peers/.venv/bin/python';

/** The dialects that the page compares in sessions, too. */
const REPEATED = { moonshot: 1, 'openai-strict': 1, 'anthropic-strict': 1 };

describe('the benchmarks', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchmarks-'));
  const tools = join(folder, 'tools.jsonl');
  const calls = join(folder, 'calls.jsonl');
  const run = async (command, ...args) => {
    const { stdout } = await promisify(execFile)(command, args, { cwd: ROOT, env, maxBuffer: 1 << 26 });
    assert.doesNotMatch(stdout, /NaN|undefined|None/);
    return stdout;
  };

  before(() => {
    const lines = readFileSync(join(ROOT, 'tests/sample/mcp_tools.jsonl'), 'utf8').split('\n', 3);
    writeFileSync(tools, `${lines.join('\n')}\n`);
    // With the features of the whole workspace, like the tests in Rust.
    const examples = EXAMPLES.flatMap((name) => ['--example', name]);
    const build = ['build', '--quiet', '--locked', '--workspace', '--bin', 'toolwire', ...examples];
    execFileSync('cargo', build, { cwd: ROOT });
    writeFileSync(calls, execFileSync(process.execPath, ['npm/bench/peers/calls.js', tools], { cwd: ROOT }));
  });
  after(() => rmSync(folder, { recursive: true }));

  const example = (name) => join(target, 'debug/examples', name);
  for (const [name, ...args] of [['bench', tools], ['requests'], ['reading', tools], ['arguments']]) {
    test(`in Rust: ${name}`, async () => assert.notEqual(await run(example(name), ...args), ''));
  }
  for (const [name, ...args] of [['run', tools], ['requests']]) {
    test(`in Node: ${name}`, async () =>
      assert.notEqual(await run(process.execPath, '--expose-gc', `npm/bench/${name}.js`, ...args), ''));
  }
  for (const [name, ...args] of [['tools', tools], ['requests']]) {
    test(`in Python: ${name}`, async () => assert.notEqual(await run(PYTHON, `python/bench/${name}.py`, ...args), ''));
  }

  test('write the page, with all dialects', async () => {
    const page = join(folder, 'performance.md');
    cpSync(join(ROOT, 'docs/performance.md'), page);
    await run(process.execPath, 'scripts/figures.mjs', tools, page);
    const text = readFileSync(page, 'utf8');
    assert.doesNotMatch(text, /NaN|undefined|None/);
    assert.match(text, / at commit [0-9a-f]{7,}, .*\n.* over 3 real tools/);
    const { dialects } = await import('../dist/index.js');
    for (const { name } of dialects()) {
      // Ratios, lists and microseconds.
      assert.equal(text.split(`\n| \`${name}\` | `).length, name in REPEATED ? 5 : 4, name);
    }
  });

  const peers = {
    npm: {
      installed: 'npm/bench/peers/node_modules',
      command: (name) => [process.execPath, '--expose-gc', `npm/bench/peers/${name}.js`],
    },
    Python: {
      installed: PYTHON_OF_PEERS,
      command: (name) => [PYTHON_OF_PEERS, `python/bench/peers/${name}.py`],
    },
  };
  for (const [where, { installed, command }] of Object.entries(peers)) {
    const missing = !existsSync(join(ROOT, installed)) && 'the peers are not installed';
    for (const [name, ...args] of [['run', tools], ['session', tools], ['arguments', calls], ['repairs']]) {
      test(`peers in ${where}: ${name}`, { skip: missing }, async () =>
        assert.notEqual(await run(...command(name), ...args), ''),
      );
    }
  }

  const built = join(target, 'peers');
  test('peers in Rust', { skip: !existsSync(built) && 'the peers are not installed' }, async () => {
    const manifest = ['--manifest-path', 'core/benches/peers/Cargo.toml', '--target-dir', built];
    const cargo = (...args) => run('cargo', args[0], '--quiet', '--offline', '--locked', ...manifest, ...args.slice(1));
    await cargo('build');
    for (const [name, input] of [
      ['toolwire-peers', tools],
      ['session', tools],
      ['arguments', calls],
    ]) {
      assert.notEqual(await run(join(built, 'debug', name), input), '');
    }
  });
});

describe('the age of figures', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'figures-'));
  const git = (cwd, ...args) => {
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
    const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, ...clean } = process.env;
    return execFileSync('git', [...author, ...args], { cwd, env: clean, encoding: 'utf8' }).trim();
  };
  const age = (cwd) => spawnSync(process.execPath, ['scripts/figures.mjs', 'age'], { cwd, encoding: 'utf8' });
  const pages = ['performance', 'comparison'];
  const whole = join(folder, 'whole');
  const write = (text) => {
    for (const page of pages) writeFileSync(join(whole, `docs/${page}.md`), text);
  };
  const commits = (count) => {
    for (let made = 0; made < count; made++) git(whole, 'commit', '--quiet', '--allow-empty', '--message=more');
  };
  after(() => rmSync(folder, { recursive: true }));

  test('is at most 200 commits, and unknown without the history', () => {
    cpSync(join(ROOT, 'scripts/figures.mjs'), join(whole, 'scripts/figures.mjs'), { recursive: true });
    cpSync(join(ROOT, 'docs/performance.md'), join(whole, 'docs/performance.md'));
    git(whole, 'init', '--quiet', '--initial-branch=main');
    git(whole, 'add', 'scripts', 'docs');
    git(whole, 'commit', '--quiet', '--message=first');
    write('Figures of today.');
    assert.match(age(whole).stderr, /expected `at commit …`/);
    write('at commit 1234567');
    assert.match(age(whole).stderr, /expected a commit of this repository, found 1234567/);
    write(`at commit ${git(whole, 'rev-parse', '--short', 'HEAD')}`);
    commits(200);
    assert.deepEqual([age(whole).status, age(whole).stderr], [0, '']);
    git(whole, 'add', 'docs');
    git(whole, 'commit', '--quiet', '--message=201');
    assert.equal(age(whole).status, 1);
    assert.match(age(whole).stderr, /expected figures of at most 200 commits ago: run `make figures`/);

    const shallow = join(folder, 'shallow');
    git(folder, 'clone', '--quiet', '--depth=1', `file://${whole}`, 'shallow');
    assert.deepEqual([age(shallow).status, age(shallow).stderr], [0, '']);
    assert.match(age(shallow).stdout, /^skipped: docs\/performance.md: the history of commit [0-9a-f]+ is missing/);
    rmSync(join(shallow, '.git'), { recursive: true });
    assert.match(age(shallow).stdout, /^skipped: /);
  });
});
