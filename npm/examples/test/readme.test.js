// Compiles the first programs of the READMEs as TypeScript, exactly as written there, and runs them with a local server and API.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { backend } from '../fake/backend.js';

const run = promisify(execFile);
const examples = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(examples, 'dist', 'readme');
/** The model's call. `unit` is optional, so strict mode makes the model write null. */
const CALL = { name: 'get-sum', input: { a: 2, b: 3, unit: null } };

before(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'bin'), { recursive: true });
  // The server that the programs start, without network access.
  const server = join(examples, 'fake', 'stdio-server.js');
  writeFileSync(join(folder, 'bin', 'npx'), `#!/bin/sh\nexec "${process.execPath}" "${server}"\n`, { mode: 0o755 });
});

for (const page of ['README.md', 'npm/README.md']) {
  test(`${page} begins with a program that runs`, async (t) => {
    const text = readFileSync(join(examples, '..', '..', page), 'utf8');
    const program = /^```ts agent\.ts\n(.*?)^```$/ms.exec(text)?.[1];
    assert.ok(program, `expected a program \`agent.ts\` in ${page}`);
    writeFileSync(join(folder, 'agent.ts'), program);
    const options =
      '--outDir . --module nodenext --target es2022 --strict --exactOptionalPropertyTypes --skipLibCheck --ignoreConfig --types node';
    const tsc = join(examples, '../node_modules/typescript/bin/tsc');
    const compiled = await run(process.execPath, [tsc, ...options.split(' '), 'agent.ts'], { cwd: folder }).catch(
      (e) => e,
    );
    assert.equal(compiled.stdout, '');
    const { url, got } = await backend(t, 'openai-strict', [CALL]);
    const PATH = [join(folder, 'bin'), process.env.PATH].join(delimiter);
    const env = { ...process.env, PATH, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' };
    const { stdout } = await run(process.execPath, ['agent.js'], { cwd: folder, env, timeout: 60_000 });
    assert.match(stdout, /get-sum: 5/);
    assert.equal(got[0].tools[0].function.strict, true);
    assert.ok(program.trim().split('\n').length <= 20);
  });
}

for (const page of [
  'README.md',
  'npm/README.md',
  'docs/deferred-loading.md',
  'docs/sdks/ai-sdk.md',
  'docs/sdks/langchain.md',
  'docs/servers/frameworks.md',
]) {
  test(`every other program of ${page} runs`, async () => {
    const text = readFileSync(join(examples, '..', '..', page), 'utf8');
    const programs = [...text.matchAll(/^```js (\S+)\n(.*?)^```$/gms)];
    assert.ok(programs.length > 0, `expected programs in ${page}`);
    for (const [, name, program] of programs) {
      writeFileSync(join(folder, name), program);
      const env = { ...process.env, ANTHROPIC_API_KEY: 'none', OPENAI_API_KEY: 'none' };
      const { stderr } = await run(process.execPath, [name], { cwd: folder, env, timeout: 60_000 });
      assert.equal(stderr, '', `${page}: ${name}`);
    }
  });
}
