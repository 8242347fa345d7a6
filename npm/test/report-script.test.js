// scripts/report.mjs with a made-up container and a made-up program: servers that are hostile cost only their own pages.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../scripts/report.mjs', import.meta.url));
const skip = process.platform === 'win32' ? 'the script is for Linux' : false;
const folder = mkdtempSync(join(tmpdir(), 'toolwire-report-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the calls to a file, and answers as the server with this name. */
const DOCKER = `#!${process.execPath}
const { appendFileSync } = require('node:fs');
const args = process.argv.slice(2);
appendFileSync(${JSON.stringify(join(folder, 'calls'))}, JSON.stringify(args) + '\\n');
const name = args[args.lastIndexOf('sh') + 1];
const list = JSON.stringify({ tools: [{ name: 'a', inputSchema: { type: 'object' } }] });
const answers = { good: list, packed: list, text: '{"tools":"x"}', large: ' '.repeat(8 << 20), nothing: '' };
if (name === 'loud') {
  process.stderr.write('::add-mask::a\\r::error::b\\n a ##[error]c\\u001b[2J\\n');
  process.exit(1);
}
process.stdout.write(answers[name] ?? '');
`;

/** Copies lists as \`report --lists\` does, or writes pages. */
const PROGRAM = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const args = process.argv.slice(2);
const value = (option) => args[args.indexOf(option) + 1];
const lock = JSON.parse(readFileSync(value('--lock'), 'utf8'));
if (!Array.isArray(lock['leave-out'])) {
  process.stderr.write('expected a list');
  process.exit(2);
}
for (const file of args.slice(args.indexOf('--out') + 2)) {
  const name = basename(file, '.json');
  if (lock['leave-out'].includes(name)) continue;
  const text = readFileSync(file, 'utf8');
  const list = text === '' ? null : JSON.parse(text);
  if (!Array.isArray(list?.tools ?? list)) process.exit(2);
  writeFileSync(join(value('--out'), args.includes('--lists') ? name + '.json' : name + '.html'), text);
}
if (!args.includes('--lists')) writeFileSync(join(value('--out'), 'index.html'), '');
`;

/** Runs the script; returns the names of the pages, the calls of the container and the log. */
function report(lock) {
  const path = mkdtempSync(join(folder, 'run-'));
  const at = (name) => join(path, name);
  mkdirSync(at('bin'));
  mkdirSync(at('made-up'));
  for (const [name, text] of [
    ['bin/docker', DOCKER],
    ['toolwire', PROGRAM],
  ]) {
    writeFileSync(at(name), text);
    chmodSync(at(name), 0o755);
  }
  writeFileSync(at('lock.json'), JSON.stringify(lock));
  writeFileSync(join(folder, 'calls'), '');
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, 'lock.json', 'toolwire', 'out'], {
    cwd: path,
    env: { ...process.env, PATH: `${at('bin')}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  const pages = status === 0 ? readdirSync(at('out')).sort() : [];
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n').filter(Boolean).map(JSON.parse);
  return { status, stdout, stderr, pages, calls };
}

const local = (name) => ({
  name,
  package: 'file:made-up',
  version: '1.0.0',
  license: 'MIT',
  command: ['node', 'a.js'],
});

test('hostile servers cost only their own pages', { skip }, () => {
  const servers = ['good', 'text', 'large', 'nothing', 'loud', 'gone'].map(local);
  const { status, stdout, stderr, pages, calls } = report({ version: 1, servers, 'leave-out': ['gone'] });
  assert.equal(status, 0, stderr);
  assert.deepEqual(pages, ['.nojekyll', 'good.html', 'index.html']);
  assert.match(stdout, /^1 of 6 servers, 1 left out\n$/);
  for (const name of ['text', 'large', 'nothing', 'loud']) assert.match(stderr, new RegExp(`^${name}: no page$`, 'm'));
  // No line of a server is a command of the runner.
  assert.doesNotMatch(stderr, /^\s*::|##\[/m);
  assert.ok(!stderr.includes('\r') && !stderr.includes('\u001b'));
  assert.match(stderr, /^ {2}\| ::error::b$/m);
  const started = calls.filter(([command]) => command === 'run');
  assert.equal(started.length, 5);
  for (const call of started) {
    assert.deepEqual(call.slice(call.indexOf('--network'), call.indexOf('--network') + 2), ['--network', 'none']);
    const mounts = call.filter((_, index) => call[index - 1] === '--volume');
    assert.ok(mounts.length === 2 && mounts.every((mount) => mount.endsWith(':ro')), String(mounts));
  }
});

test('packages are installed in a container', { skip }, () => {
  const packed = { name: 'packed', package: 'npm:@made-up/server', version: '1.0.0', license: 'MIT' };
  const python = { ...packed, name: 'snake', package: 'pypi:made-up' };
  const { calls, pages } = report({ version: 1, servers: [packed, python], 'leave-out': [] });
  assert.ok(pages.includes('packed.html'));
  const [npm, , pip] = calls;
  assert.deepEqual(npm.slice(-2), ['--', '@made-up/server@1.0.0']);
  assert.ok(npm.includes('--ignore-scripts'));
  assert.deepEqual(pip.slice(-2), ['--', 'made-up==1.0.0']);
});

test('a lock file that toolwire refuses starts nothing', { skip }, () => {
  const { status, calls, stderr } = report({ version: 1, servers: [local('good')] });
  assert.equal(status, 1);
  assert.deepEqual(calls, []);
  assert.match(stderr, /^no pages\n {2}\| .*expected a list$/m);
});
