// Bundles src/ into one file per entry and module system, the WebAssembly inside as base64. esbuild, because it is small, fast, and
// lets us say where a module's text comes from.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';

import { ENTRIES } from './wasm.js';

export async function bundle(root, dist) {
  for (const entry of ENTRIES) await bundleEntry(root, dist, entry);
}

async function bundleEntry(root, dist, { name, folder }) {
  const pkg = join(root, '..', 'bindings-wasm', folder);
  const shared = {
    entryPoints: [join(root, 'src', `${name}.ts`)],
    bundle: true,
    target: 'es2022',
    platform: 'neutral',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    plugins: [wasm(pkg)],
  };
  await build({ ...shared, format: 'esm', outfile: join(dist, `${name}.js`) });
  await build({ ...shared, format: 'cjs', outfile: join(dist, `${name}.cjs`) });
}

/** Provides the modules that src/engine/imports.d.ts declares. */
function wasm(pkg) {
  return {
    name: 'wasm',
    setup(build) {
      build.onResolve({ filter: /^wasm:/ }, ({ path }) => ({ path, namespace: 'wasm' }));
      build.onLoad({ filter: /^wasm:base64$/, namespace: 'wasm' }, () => ({
        contents: readFileSync(join(pkg, 'toolwire_wasm_bg.wasm')),
        loader: 'base64',
      }));
      build.onLoad({ filter: /^wasm:glue$/, namespace: 'wasm' }, async () => ({ contents: await glueFactory(pkg) }));
    },
  };
}

/**
 * wasm-bindgen's glue holds its one instance in module scope. As the body of a function it can be had more than once, so
 * that a broken instance can be replaced.
 */
async function glueFactory(pkg) {
  const result = await build({
    stdin: {
      contents: `export * from './toolwire_wasm.js';`,
      resolveDir: pkg,
    },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'glue',
    target: 'es2022',
    // The asynchronous start, which would fetch the WebAssembly by this, is not used.
    define: { 'import.meta.url': '""' },
  });
  return `export function newGlue() { ${result.outputFiles[0].text}; return glue; }`;
}
