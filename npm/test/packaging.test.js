// The packed package, installed into small real projects: one call from every module system and TypeScript resolution.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const EXPECTED = '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}';
const CALL = `sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' })`;
const SEARCH = `console.log(JSON.stringify([${CALL}, searchTools([{ name: 'send_mail' }], 'mail')]));\n`;
const FOUND = `[${EXPECTED},["send_mail"]]`;

const TYPESCRIPT = `
import {
  applyDeferredLoading, check, normalizeEnvelope, sanitize, sanitizeJson, sanitizeWithReport, ToolwireError,
  type Change, type JsonSchema, type ObjectSchema, type ToolwireErrorCode,
} from 'toolwire';
import { answerToolSearchJson, searchTools } from 'toolwire/search';
const schema: JsonSchema = ${CALL};
const object: ObjectSchema = normalizeEnvelope({});
const tool: { type: 'object'; properties?: unknown; [keyword: string]: unknown } = object;
const parameters: Record<string, unknown> = object;
const text: string = sanitizeJson('{}', { dialect: 'codex' });
const bytes: Uint8Array = sanitizeJson(new Uint8Array([0x7b, 0x7d]), { dialect: 'codex' });
const changes: readonly Change[] = sanitizeWithReport({}, { dialect: 'codex-wire', maxBytes: null }).changes;
const request: { model: string; messages: never[] } = applyDeferredLoading({ model: 'm', messages: [] }, { mode: 'filter' });
const translated: { [name: string]: unknown } = applyDeferredLoading(request, { target: 'openai-responses' });
const code: ToolwireErrorCode = new ToolwireError('invalid-json', '', 'message').code;
const rules: string[] = check(schema, { dialect: 'codex' }).map(({ rule }) => rule);
// @ts-expect-error: the dialect is required
export const undialected = () => sanitize({}, {});
// @ts-expect-error: no such dialect
export const unknown = () => sanitize({}, { dialect: 'codec' });
// @ts-expect-error: no such option
export const misspelt = () => normalizeEnvelope({}, { shared: true });
// @ts-expect-error: text is a string or bytes
export const untexted = () => sanitizeJson({}, { dialect: 'codex' });
const names: string[] = searchTools([], 'mail', { limit: 3 });
const answer: string | null = answerToolSearchJson('{}', '[]');
// @ts-expect-error: no such mode in JavaScript
export const patterned = () => searchTools([], 'mail', { mode: 'regex' });
export const all = { names, answer, tool, parameters, text, bytes, changes, translated, code, rules };
console.log(JSON.stringify(schema));
`;

describe('the packed package', () => {
  let folder;
  let packed;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolwire-'));
    // dist/ is built already; building it again would build what is being tested.
    const [{ filename, files }] = JSON.parse(
      npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root),
    );
    packed = { file: join(folder, filename), files: files.map(({ path }) => path) };
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  test('holds what users need and nothing else', () => {
    const modules = [
      'deferred',
      'dialects',
      'envelope',
      'error',
      'index',
      'options',
      'report',
      'sanitize',
      'schema',
      'search',
    ];
    const declarations = modules.flatMap((name) => [`dist/${name}.d.cts`, `dist/${name}.d.ts`]);
    const other = [
      'LICENSE-APACHE',
      'LICENSE-MIT',
      'README.md',
      'dist/index.cjs',
      'dist/index.js',
      'dist/search.cjs',
      'dist/search.js',
      'package.json',
    ];
    assert.deepEqual(packed.files.sort(), [...declarations, ...other].sort());
  });

  test('ES modules', () => {
    const project = install('esm', { type: 'module' });
    writeFileSync(
      join(project, 'main.js'),
      `import { sanitize } from 'toolwire';\nconsole.log(JSON.stringify(${CALL}));\n`,
    );
    assert.equal(node(project, 'main.js'), EXPECTED);
    writeFileSync(join(project, 'search.js'), `import { sanitize, searchTools } from 'toolwire/search';\n${SEARCH}`);
    assert.equal(node(project, 'search.js'), FOUND);
  });

  test('CommonJS', () => {
    const project = install('cjs', { type: 'commonjs' });
    writeFileSync(
      join(project, 'main.js'),
      `const { sanitize } = require('toolwire');\nconsole.log(JSON.stringify(${CALL}));\n`,
    );
    assert.equal(node(project, 'main.js'), EXPECTED);
    writeFileSync(
      join(project, 'search.js'),
      `const { sanitize, searchTools } = require('toolwire/search');\n${SEARCH}`,
    );
    assert.equal(node(project, 'search.js'), FOUND);
    const { dependencies, devDependencies, ...installed } = JSON.parse(
      node(project, '-p', `JSON.stringify(require('toolwire/package.json'))`),
    );
    assert.equal(dependencies, undefined);
    assert.equal(installed.name, 'toolwire');
  });

  for (const [type, module, moduleResolution] of [
    ['module', 'node16', 'node16'],
    ['commonjs', 'node16', 'node16'],
    ['module', 'esnext', 'bundler'],
  ]) {
    test(`TypeScript, ${moduleResolution}, ${type}`, () => {
      const project = install(`typescript-${moduleResolution}-${type}`, { type });
      const compilerOptions = {
        module,
        moduleResolution,
        target: 'es2022',
        lib: ['es2022', 'dom'],
        strict: true,
        types: [],
        skipLibCheck: false,
        exactOptionalPropertyTypes: true,
      };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
      writeFileSync(join(project, 'main.ts'), TYPESCRIPT);
      run(process.execPath, [tsc, '-p', project], project);
      assert.equal(node(project, 'main.js'), EXPECTED);
    });
  }

  function install(name, manifest) {
    const project = join(folder, name);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name, private: true, ...manifest }));
    npm(['install', '--offline', '--no-audit', '--no-fund', packed.file], project);
    return project;
  }
});

function node(project, ...args) {
  return run(process.execPath, args, project).trim();
}

function npm(args, cwd) {
  return run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, cwd);
}

function run(command, args, cwd) {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
  }
}
