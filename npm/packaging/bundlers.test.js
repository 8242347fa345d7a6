// Bundles for browsers. A bundle runs with the globals that every browser has and none of Node's: no `Buffer`, no `process`.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import vm from 'node:vm';

import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import webpack from 'webpack';

import { project, run, SANITIZED } from './project.js';

/** A module without content. */
const EMPTY_MODULE = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/** Runs a script as a page would, and returns what it logged. `fetch` reads files from the folder of the bundle. */
async function page(folder, file) {
  const lines = [];
  const fetch = async (url) => {
    const bytes = readFileSync(join(folder, new URL(url, 'https://page.invalid/').pathname));
    return { arrayBuffer: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) };
  };
  const browser = { console: { log: (line) => lines.push(line) }, fetch, atob, TextDecoder, TextEncoder, URL };
  const global = vm.createContext({
    ...browser,
    document: {
      baseURI: 'https://page.invalid/',
      currentScript: { tagName: 'SCRIPT', src: `https://page.invalid/${file}` },
    },
    location: new URL('https://page.invalid/'),
  });
  vm.runInContext('globalThis.self = globalThis.window = globalThis', global);
  await vm.runInContext(readFileSync(join(folder, file), 'utf8'), global, { filename: file });
  // A bundle of modules returns no promise to await: its output appears within a few turns of the event loop.
  for (let turn = 0; turn < 100 && lines.length === 0; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
  return lines.join('\n');
}

/** Returns the number of `.wasm` files next to a bundle: 0 if the bundle contains the WebAssembly, 1 if it is a separate file. */
function wasmFiles(folder) {
  return readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.wasm')).length;
}

const bundlers = {
  async esbuild(entry) {
    const folder = project('esbuild');
    const outdir = join(folder, 'dist');
    const options = {
      bundle: true,
      format: 'iife',
      target: 'es2022',
      minify: true,
      loader: { '.wasm': 'binary' },
      logLevel: 'silent',
    };
    await esbuild({ ...options, entryPoints: [join(folder, entry)], outdir });
    return outdir;
  },
  async vite(entry) {
    const root = project('vite');
    const output = { format: 'iife', entryFileNames: entry };
    const build = { outDir: 'dist', assetsInlineLimit: 0, rollupOptions: { input: join(root, entry), output } };
    await vite({ root, configFile: false, logLevel: 'error', build });
    return join(root, 'dist');
  },
  async webpack(entry) {
    const context = project('webpack');
    const path = join(context, 'dist');
    const output = { path, filename: entry, publicPath: '/' };
    const options = {
      context,
      mode: 'production',
      target: 'web',
      entry: `./${entry}`,
      output,
      performance: { hints: false },
    };
    const statistics = await new Promise((resolve, reject) => {
      webpack(options, (error, result) => (error ? reject(error) : resolve(result)));
    });
    assert.equal(statistics.hasErrors() || statistics.hasWarnings(), false, statistics.toString());
    return path;
  },
};

for (const [name, bundle] of Object.entries(bundlers)) {
  describe(name, () => {
    test('toolwire includes the WebAssembly', async () => {
      const folder = await bundle('main.js');
      assert.equal(await page(folder, 'main.js'), SANITIZED);
      assert.equal(wasmFiles(folder), 0);
    });
    test('toolwire/slim works with the WebAssembly as a separate file', async () => {
      const folder = await bundle('slim.js');
      assert.equal(await page(folder, 'slim.js'), SANITIZED);
      // With esbuild's loader `binary`, the bundle contains the WebAssembly.
      assert.equal(wasmFiles(folder), name === 'esbuild' ? 0 : 1);
    });
  });
}

describe('esbuild, for Node', () => {
  for (const format of ['esm', 'cjs']) {
    for (const beside of ['nothing', 'the file of another release']) {
      test(`${format}, next to ${beside}`, async () => {
        const folder = project('esbuild');
        const outfile = join(folder, 'dist', format === 'esm' ? 'main.mjs' : 'main.cjs');
        const options = { bundle: true, platform: 'node', format, logLevel: 'silent' };
        const { warnings } = await esbuild({ ...options, entryPoints: [join(folder, 'main.js')], outfile });
        assert.deepEqual(warnings, []);
        if (beside !== 'nothing') writeFileSync(join(folder, 'dist', 'toolwire.wasm'), EMPTY_MODULE);
        assert.equal(run(process.execPath, [outfile], folder), SANITIZED);
      });
    }
  }
});
