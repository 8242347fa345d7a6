// Tests which suites `make test-affected` chooses, in a small repository with the same Makefile.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const skip = process.platform === 'win32' && 'the scripts need a Unix shell';

describe('the affected suites', { skip }, () => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'affected-'));
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, ...clean } = process.env;
  const env = { ...clean, TOOLWIRE_TOOLS: join(folder, 'target/tools'), MAKEFLAGS: '' };
  const git = (...args) => {
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...author, ...args], { cwd: folder, env });
  };
  const write = (path) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), 'the same lines\n'.repeat(20));
  };
  const suites = () =>
    execFileSync('scripts/affected.sh', ['HEAD'], { cwd: folder, env, encoding: 'utf8' }).trim().split(' ');
  const suitesOf = (path) => {
    write(path);
    const found = suites();
    rmSync(join(folder, path));
    return found;
  };

  before(() => {
    for (const name of ['Makefile', 'scripts/affected.sh', 'scripts/step.sh']) {
      cpSync(join(ROOT, name), join(folder, name));
    }
    writeFileSync(join(folder, '.gitignore'), 'target\n');
    write('command/src/moved.rs');
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    git('commit', '--quiet', '--message=first');
  });
  after(() => rmSync(folder, { recursive: true }));

  test('contain the suites that read a file outside their folder', () => {
    const rows = {
      'npm/test/unpinned.js': ['test-packages', 'test-playground'],
      'core/examples/compare/main.rs': ['test-node', 'test-python'],
      'core/examples/bench.rs': ['test-node'],
      'python/bench/figures.py': ['test-node'],
      'core/tests/it/routing/wire.rs': ['test-node', 'test-python'],
      'tests/fixtures/check/x.json': ['test-playground'],
      'docs/typescript.md': ['test-packages', 'test-playground'],
      'docs/clients/cursor.md': ['test-npm-sdks'],
      'docs/deploy/x.yaml': ['test-npm-sdks'],
      'docs/sdks/x.md': ['test-npm-sdks', 'test-pypi-sdks'],
    };
    for (const [path, expected] of Object.entries(rows)) {
      const found = suitesOf(path);
      for (const suite of expected) assert.ok(found.includes(suite), `${path}: expected ${suite}, found ${found}`);
    }
    assert.deepEqual(suitesOf('core/fuzz/x.rs'), ['test-rust']);
  });

  test('contain those of the former path of a moved file', () => {
    mkdirSync(join(folder, 'python/tests'), { recursive: true });
    renameSync(join(folder, 'command/src/moved.rs'), join(folder, 'python/tests/moved.rs'));
    git('add', '--all');
    const found = suites();
    git('reset', '--quiet', '--hard');
    for (const suite of ['test-python', 'test-rust'])
      assert.ok(found.includes(suite), `expected ${suite}, found ${found}`);
  });

  test('are unknown for an unknown base, and make fails', () => {
    const done = spawnSync('make', ['test-affected', 'BASE=none'], { cwd: folder, env, encoding: 'utf8' });
    assert.notEqual(done.status, 0, done.stdout);
    assert.match(done.stderr, /expected a commit or a branch as BASE/);
  });
});
