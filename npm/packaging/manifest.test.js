// Checks the contents of the package and its manifest with linters that know how runtimes and TypeScript resolve it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

import { packed, ROOT, run, tool } from './project.js';

const MODULES =
  'adapt ai deferred dialect-names dialects error error-code exchange fetch framework index init langchain language-model mastra mcp options repair report restore restore-arguments rules sanitize schema search slim tools tool-set tool-types validate wasm-source';
const ENTRIES = 'ai fetch index langchain mastra mcp slim';

test('contains only the files that users need', () => {
  const expected = [
    ...['LICENSE-APACHE', 'LICENSE-MIT', 'LICENSE-fflate', 'README.md', 'package.json'],
    ...['dist/command.js', 'dist/toolwire.wasm', 'dist/inline/package.json', 'dist/inline/toolwire.js'],
    ...['ai', 'fetch', 'index', 'langchain', 'mastra', 'mcp'].flatMap((name) => [
      `dist/${name}.node.js`,
      `dist/${name}.workerd.js`,
    ]),
    ...ENTRIES.split(' ').flatMap((name) => [`dist/${name}.js`, `dist/${name}.cjs`]),
    ...MODULES.split(' ').flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.d.cts`]),
  ];
  assert.deepEqual(packed.get().files.sort(), expected.sort());
});

test('publint finds no problem', async () => {
  const { messages, pkg } = await publint({ pkgDir: ROOT, strict: true });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg, { color: false })),
    [],
  );
});

test('`@arethetypeswrong/cli` finds no problem', () => {
  // Ignores the resolution of Node before 12, which did not know `exports` (TypeScript 7 has dropped it), and the `.wasm` files, which are
  // not TypeScript modules: the bundler determines what importing one returns, and declares its type.
  const options = ['--profile', 'node16', '--exclude-entrypoints', 'toolwire.wasm', '--format', 'json'];
  const { analysis } = JSON.parse(run(tool('attw'), [packed.get().file, ...options], ROOT));
  const problems = Object.values(analysis.problems).flat();
  assert.deepEqual(
    problems.filter(({ resolutionKind }) => resolutionKind !== 'node10'),
    [],
  );
  assert.deepEqual(Object.keys(analysis.entrypoints).sort(), [
    '.',
    './ai',
    './fetch',
    './langchain',
    './mastra',
    './mcp',
    './package.json',
    './slim',
  ]);
});

test('every entry of `exports` is a file in the package', () => {
  const { exports } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'));
  const targets = (entry) => (typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(targets));
  const { files } = packed.get();
  for (const target of targets(exports)) assert.ok(files.includes(target.replace('./', '')), target);
});
