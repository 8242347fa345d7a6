// Tests in workerd, the engine of Cloudflare Workers, with bundles like those of Cloudflare's command line: with the condition
// `workerd`, and with each `.wasm` as a separate module.

import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';

import { build } from 'esbuild';

import { project, run, tool } from './project.js';

/** Bundles a worker and runs its `test` in workerd. */
async function runs(entry, conditions) {
  const folder = project('worker');
  const dist = join(folder, 'dist');
  const modules = new Map();
  const wasm = {
    name: 'wasm',
    setup(build) {
      build.onResolve({ filter: /\.wasm$/ }, async ({ path, resolveDir, kind, pluginData }) => {
        if (pluginData === wasm) return undefined;
        const { path: file, errors } = await build.resolve(path, { resolveDir, kind, pluginData: wasm });
        if (errors.length > 0) return { errors };
        modules.set(basename(file), file);
        return { path: `./${basename(file)}`, external: true };
      });
    },
  };
  const options = { bundle: true, format: 'esm', target: 'es2022', conditions, plugins: [wasm], logLevel: 'silent' };
  await build({ ...options, entryPoints: [join(folder, entry)], outfile: join(dist, 'worker.js') });
  for (const [name, file] of modules) copyFileSync(file, join(dist, name));
  const embedded = [...modules.keys()].map((name) => `(name = "${name}", wasm = embed "${name}")`);
  writeFileSync(
    join(dist, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (
  compatibilityDate = "2026-01-01",
  modules = [${['(name = "worker.js", esModule = embed "worker.js")', ...embedded].join(', ')}],
))]);\n`,
  );
  run(tool('workerd'), ['test', 'config.capnp'], dist);
  return [...modules.keys()].sort();
}

test('toolwire and toolwire/fetch share one WebAssembly', async () => {
  assert.deepEqual(await runs('main.js', ['workerd', 'worker', 'browser']), ['toolwire.wasm']);
});

test('toolwire/slim runs with the imported module', async () => {
  assert.deepEqual(await runs('slim.js', ['workerd', 'worker', 'browser']), ['toolwire.wasm']);
});

test('the ordinary file does not run in workerd', async () => {
  await assert.rejects(runs('compiling.js', ['worker', 'browser']), /CompileError: .*Wasm code generation disallowed/);
});
