// Bundles src/ into one file per entry and module system, and puts the WebAssembly where that file has it from. esbuild,
// because it is small, fast, and lets us say where a module's text comes from.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

import { build } from 'esbuild';

import { COMPANIONS, ENTRIES, filesOf, PROGRAM } from './entries.js';
import { stamped } from './stamp.js';

const EXTENSION = { esm: 'js', cjs: 'cjs' };
/** Where lines are broken, more or less: what a terminal shows of an error. */
const LINE = 200;

export async function bundle(root, dist) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(dist, { recursive: true });
  for (const entry of [...ENTRIES, PROGRAM]) {
    const pkg = join(root, '..', 'bindings-wasm', entry.folder);
    const wasm = stamped(readFileSync(join(pkg, 'toolwire_wasm_bg.wasm')), `${entry.wasm} ${version}`);
    if (entry === PROGRAM) writeFileSync(join(dist, `${entry.wasm}.wasm.br`), brotliCompressSync(wasm.bytes));
    else writeFileSync(join(dist, `${entry.wasm}.wasm`), wasm.bytes);
    if (filesOf(entry).some(({ source }) => source === 'inlined')) inline(dist, entry.wasm, wasm);
    const glue = await glueFactory(pkg);
    for (const { module, file, source, formats, external } of filesOf(entry)) {
      for (const format of formats) {
        const plugin = provided(root, { ...wasm, name: entry.wasm, glue, source });
        await one(root, dist, module, file, format, plugin, external);
      }
    }
  }
  for (const { name, beside, external } of COMPANIONS) {
    for (const [suffix, format] of [
      ['', 'esm'],
      ['', 'cjs'],
      ['.workerd', 'esm'],
    ]) {
      const neighbour = `${beside}${suffix}.${EXTENSION[format]}`;
      await one(root, dist, name, `${name}${suffix}`, format, next(beside, neighbour), external);
    }
  }
  for (const { name } of [...ENTRIES, ...COMPANIONS]) await forNode(dist, name);
}

/**
 * The ES module for Node: the CommonJS file's names. Where an ES module imports a CommonJS file, Node looks through it for names, which takes
 * 5 ms more for the script with the WebAssembly; so that is left to `require`. And one program has one instance, whatever its modules are.
 */
async function forNode(dist, name) {
  const entryPoints = [join(dist, `${name}.js`)];
  const { metafile } = await build({ entryPoints, write: false, metafile: true, format: 'esm', outdir: dist });
  const [{ exports }] = Object.values(metafile.outputs);
  const names = exports.join(', ');
  // Never run: where Node, Deno and Bun look for them.
  appendFileSync(join(dist, `${name}.cjs`), `0&&(module.exports={${names}});\n`);
  writeFileSync(join(dist, `${name}.node.js`), `export { ${names} } from './${name}.cjs';\n`);
}

async function one(root, dist, module, file, format, plugin, external = []) {
  await build({
    entryPoints: [join(root, 'src', `${module}.ts`)],
    outfile: join(dist, `${file}.${EXTENSION[format]}`),
    format,
    bundle: true,
    target: 'es2022',
    platform: 'neutral',
    external,
    minify: true,
    // Stack traces and `inspect` show them.
    keepNames: true,
    lineLimit: LINE,
    legalComments: 'none',
    plugins: [plugin],
  });
}

/**
 * The WebAssembly as text in a script, once for ES modules and CommonJS: what Node loads by `import` and by `require`, browsers as a module,
 * and bundlers for its side effect. Compressed, because it is half of the package.
 */
function inline(dist, name, { stamp, bytes }) {
  const folder = join(dist, 'inline');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs","sideEffects":true}\n');
  // In a process of its own: the library takes over what becomes of errors that nobody catches.
  const deflater = fileURLToPath(new URL('deflate.js', import.meta.url));
  const deflated = execFileSync(process.execPath, [deflater], { input: bytes, maxBuffer: bytes.length }).toString(
    'base64',
  );
  // On a line of its own: of an error that nobody catches, Node shows the whole line that threw it.
  const script = `globalThis[Symbol.for(${JSON.stringify(stamp)})]??={size:${bytes.length},deflated:\n"${deflated}"\n};\n`;
  writeFileSync(join(folder, `${name}.js`), script);
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
    'wasm:stamp': { contents: `export const entry = ${JSON.stringify(name)}, stamp = ${JSON.stringify(stamp)};` },
  };
  return {
    name: 'wasm',
    setup(build) {
      build.onResolve({ filter: /^wasm:module$/ }, () => ({ path: `./${name}.wasm`, external: true }));
      build.onResolve({ filter: /^wasm:inline$/ }, () => ({ path: `./inline/${name}.js`, external: true }));
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
