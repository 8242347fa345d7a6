// The patch in contrib/mcp-inspector: its code with stubs, and the pinned release with it, if tests/sdks contains the release.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { CONTRIBUTION, listTools, patchedRelease, RELEASE, TOOLWIRE } from '../../../tests/sdks/inspector/release.js';
import { transformSync } from '../../node_modules/esbuild/lib/main.js';

const folder = mkdtempSync(join(tmpdir(), 'toolwire-inspector-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const read = (name) => readFileSync(join(CONTRIBUTION, name), 'utf8').replaceAll('\r\n', '\n');
const { tools } = JSON.parse(read('tools.json'));
const expected = read('expected.txt').trimEnd().split('\n');
const lineOf = ({ toolName, path, rule, issue, models }) =>
  `${toolName} ${path}: ${rule}: ${issue.replace('Some models refuse this: ', '')} [${models.join(', ')}]`;

/** The lines that a patch adds to a file in one hunk. */
const added = (patch, file, hunk) =>
  patch
    .split(`+++ b/${file}\n`)[1]
    .split('\n--- ')[0]
    .split(/^@@.*\n/m)
    .slice(1)
    [hunk].split('\n')
    .filter((line) => line.startsWith('+'))
    .map((line) => line.slice(1))
    .join('\n');
const CODE = added(read('lint.patch'), 'clients/cli/build/index.js', 0);

/** Loads the code of the patch with stubs, next to some packages. */
async function loaded(name, packages) {
  const modules = join(folder, name, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const [name, target] of Object.entries(packages)) symlinkSync(target, join(modules, name), 'junction');
  const stubs = [
    'export const printed = [];',
    'const toolsFromResult = (result) => result.tools;',
    'const awaitableError = (text) => printed.push(text);',
  ].join('\n');
  const file = join(folder, name, 'advice.mjs');
  writeFileSync(file, `${stubs}\n${CODE}\nexport { adviseListResult, writeModelAdvice };\n`);
  return import(pathToFileURL(file));
}

test('the patch advises about 17 of 20 doubtful tools', async () => {
  assert.equal(tools.length, 20);
  const { adviseListResult, writeModelAdvice, printed } = await loaded('with', { toolwire: TOOLWIRE });
  const advice = await adviseListResult({ tools });
  assert.deepEqual(advice.map(lineOf), expected);
  assert.equal(new Set(advice.map(({ toolName }) => toolName)).size, 17);
  for (const { severity, reason, suggestion, rule } of advice) {
    assert.equal(severity, 'advice');
    assert.match(reason, /^[a-z-]+: ./);
    assert.ok(suggestion.endsWith(`docs/rules.md#${rule}`));
  }
  await writeModelAdvice([{ ...advice[0], toolName: 'a\u001b[2J\u202e\u2028b\nc' }]);
  assert.ok(printed.pop().startsWith('Advice: tool "a\\u{1b}[2J\\u{202e}\\u{2028}b\\u{a}c"\n'));
  await writeModelAdvice(advice.slice(0, 1));
  await writeModelAdvice([]);
  assert.equal(printed.length, 1);
  assert.match(printed[0], /^Advice: tool "list_tags"\n {2}Path: inputSchema\n {2}Issue: Some models refuse this: /);
  assert.match(printed[0], /across 1 tool\. It does not change the exit code\.\n$/);
});

test('the patch says nothing about tools that every model accepts, nor without toolwire', async () => {
  const fine = { name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } };
  const { adviseListResult } = await loaded('fine', { toolwire: TOOLWIRE });
  assert.deepEqual(await adviseListResult({ tools: [fine] }), []);
  const without = await loaded('without', {});
  assert.deepEqual(await without.adviseListResult({ tools }), []);
  assert.deepEqual(without.printed, []);
});

test('a broken package is one line, and no failure', async () => {
  const broken = join(folder, 'broken-package');
  mkdirSync(broken);
  const exports = { './slim': './slim.js', './toolwire.wasm': './slim.js' };
  writeFileSync(join(broken, 'package.json'), JSON.stringify({ name: 'toolwire', type: 'module', exports }));
  writeFileSync(join(broken, 'slim.js'), 'export const init = () => { throw new Error("other release"); };');
  const { adviseListResult, printed } = await loaded('broken', { toolwire: broken });
  assert.deepEqual(await adviseListResult({ tools }), []);
  assert.deepEqual(printed, ['No advice about models: other release\n']);
});

test('both patches have the same code', () => {
  const plain = (code) =>
    code
      .replace(/^import .*\n/gm, '')
      .replace(/\nexport \{[^}]*\};/g, '')
      .replace(/^\/\/.*\n/gm, '')
      .replace('var MODEL_APIS', 'const MODEL_APIS')
      .replaceAll('readFile3', 'readFile')
      .trim();
  const typed = added(read('source.patch'), 'clients/cli/src/handlers/model-advice.ts', 0);
  const { code } = transformSync(typed, { loader: 'ts', format: 'esm', target: 'es2022', charset: 'utf8' });
  assert.equal(plain(CODE), plain(code));
});

const installed = existsSync(join(RELEASE, 'package.json'));
const skip = installed ? false : 'tests/sdks has no Inspector: `scripts/setup.sh npm tests/sdks` installs it';

test('the pinned release with the patch', { skip, timeout: 120_000 }, async () => {
  const list = join(folder, 'list.json');
  writeFileSync(list, JSON.stringify(tools));
  const server = fileURLToPath(new URL('../../../tests/sdks/inspector/server.js', import.meta.url));
  const run = (inspector, options) =>
    listTools({ inspector, command: [process.execPath, server, list], folder, options });
  const strict = ['--strict', '--format', 'json'];
  const released = await run(RELEASE, strict);
  assert.equal(released.code, 0, released.errors);

  const alone = patchedRelease(join(folder, 'alone'));
  assert.deepEqual(await run(alone, strict), released, 'without toolwire, nothing changes');

  const patched = patchedRelease(join(folder, 'patched'), { toolwire: TOOLWIRE });
  const { code, output, errors } = await run(patched, strict);
  const { modelAdvice, ...envelope } = JSON.parse(output);
  assert.deepEqual(envelope, JSON.parse(released.output), 'the findings of the Inspector stay the same');
  assert.deepEqual(modelAdvice.map(lineOf), expected);
  assert.equal(code, released.code);
  assert.ok(errors.startsWith(released.errors), 'the advice follows the report of the Inspector');
  assert.deepEqual(await run(patched, []), await run(RELEASE, []), 'without `--strict`, nothing changes');
});
