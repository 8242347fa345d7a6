// Bundles src/ into one file per entry and module system, and puts the WebAssembly where that file has it from. esbuild,
// because it is small, fast, and lets us say where a module's text comes from.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';

import { COMPANIONS, ENTRIES, filesOf, PROGRAM } from './entries.js';
import { stamped } from './stamp.js';

const EXTENSION = { esm: 'js', cjs: 'cjs' };
/** Where lines are broken, more or less: what a terminal shows of an error. */
const LINE = 200;
/** What stands for the WebAssembly until all lines are broken. */
const HERE = 'WebAssembly as base64';

export async function bundle(root, dist) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(dist, { recursive: true });
  for (const entry of [...ENTRIES, PROGRAM]) {
    const pkg = join(root, '..', 'bindings-wasm', entry.folder);
    const wasm = stamped(readFileSync(join(pkg, 'toolwire_wasm_bg.wasm')), `${entry.wasm} ${version}`);
    writeFileSync(join(dist, `${entry.wasm}.wasm`), wasm.bytes);
    const glue = await glueFactory(pkg);
    const base64 = wasm.bytes.toString('base64');
    for (const { module, file, source, formats, external } of filesOf(entry)) {
      for (const format of formats) {
        const plugin = provided(root, { ...wasm, name: entry.wasm, glue, source });
        await one(root, dist, module, file, format, plugin, { external, base64 });
      }
    }
  }
  for (const { name, beside } of COMPANIONS) {
    for (const [suffix, format] of [
      ['', 'esm'],
      ['', 'cjs'],
      ['.workerd', 'esm'],
    ]) {
      const neighbour = `${beside}${suffix}.${EXTENSION[format]}`;
      await one(root, dist, name, `${name}${suffix}`, format, next(beside, neighbour));
    }
  }
}

async function one(root, dist, module, file, format, plugin, { external = [], base64 = '' } = {}) {
  const outfile = join(dist, `${file}.${EXTENSION[format]}`);
  await build({
    entryPoints: [join(root, 'src', `${module}.ts`)],
    outfile,
    format,
    bundle: true,
    target: 'es2022',
    platform: 'neutral',
    external,
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: LINE,
    legalComments: 'none',
    plugins: [plugin],
  });
  // On a line of its own: of an error that nobody catches, Node shows the whole line that threw it, and that was 1.4 MB.
  const program = readFileSync(outfile, 'utf8');
  writeFileSync(
    outfile,
    program.replace(`"${HERE}"`, () => `\n"${base64}"\n`),
  );
}

/** Leaves a module of src/ where it is: in the file beside this one. */
function next(module, file) {
  return {
    name: 'beside',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^\\./${module}\\.js$`) }, () => ({ path: `./${file}`, external: true }));
    },
  };
}

/** Provides the modules that src/engine/imports.d.ts declares. */
function provided(root, { stamp, name, glue, source }) {
  const texts = {
    'wasm:glue': { contents: glue },
    'wasm:base64': { contents: `export default ${JSON.stringify(HERE)};` },
    'wasm:stamp': { contents: `export const entry = ${JSON.stringify(name)}, stamp = ${JSON.stringify(stamp)};` },
  };
  return {
    name: 'wasm',
    setup(build) {
      build.onResolve({ filter: /^wasm:module$/ }, () => ({ path: `./${name}.wasm`, external: true }));
      build.onResolve({ filter: /^wasm:source$/ }, () => ({ path: join(root, 'src/engine/source', `${source}.ts`) }));
      build.onResolve({ filter: /^wasm:/ }, ({ path }) => ({ path, namespace: 'wasm' }));
      build.onLoad({ filter: /^wasm:/, namespace: 'wasm' }, ({ path }) => texts[path]);
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
