// Bundles src/ into one file per entry point and module system, and puts the WebAssembly where that file loads it from. Uses esbuild:
// it is small and fast, and a plugin can provide the text of a module.

import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';

import { build } from 'esbuild';

import { COMPANIONS, ENTRIES, filesOf } from './entries.js';
import { QUICK } from './quick.js';
import { stamped } from './stamp.js';

const EXTENSION = { esm: 'js', cjs: 'cjs' };
/** Approximate line length of the bundles, because a terminal prints the whole line of an error. */
const LINE = 200;

export async function bundle(root, dist) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(dist, { recursive: true });
  for (const entry of ENTRIES) {
    const pkg = join(root, '..', 'bindings-wasm', entry.folder);
    const wasm = stamped(readFileSync(join(pkg, 'toolwire_wasm_bg.wasm')), `${entry.wasm} ${version}`);
    writeFileSync(join(dist, `${entry.wasm}.wasm`), wasm.bytes);
    if (filesOf(entry).some(({ source }) => source === 'inlined')) inline(dist, entry.wasm, wasm);
    const glue = await glueFactory(pkg);
    for (const { module, file, source, formats } of filesOf(entry)) {
      for (const format of formats) {
        const plugin = provided(root, { ...wasm, name: entry.wasm, glue, source });
        await one(root, dist, module, file, format, plugin);
      }
    }
  }
  for (const { name, beside, external } of COMPANIONS) {
    for (const [suffix, format] of [
      ['', 'esm'],
      ['', 'cjs'],
      ['.workerd', 'esm'],
    ]) {
      const neighbor = `${beside}${suffix}.${EXTENSION[format]}`;
      await one(root, dist, name, `${name}${suffix}`, format, next(beside, neighbor), external);
    }
  }
  for (const { name } of [...ENTRIES, ...COMPANIONS]) await forNode(dist, name);
  await program(root, dist);
}

/** Writes the launcher of the program. */
async function program(root, dist) {
  const entryPoints = [join(root, 'src', 'program.js')];
  await build({
    entryPoints,
    outfile: join(dist, 'command.js'),
    format: 'esm',
    bundle: true,
    platform: 'node',
    target: 'node18',
  });
  chmodSync(join(dist, 'command.js'), 0o755);
}

/**
 * Writes the ES module for Node, which re-exports the CommonJS file. If an ES module imports the script with the WebAssembly, Node scans
 * that CommonJS script for export names, which takes 5 ms; `require` does not. It also makes both module systems share one instance.
 */
async function forNode(dist, name) {
  const entryPoints = [join(dist, `${name}.js`)];
  const { metafile } = await build({ entryPoints, write: false, metafile: true, format: 'esm', outdir: dist });
  const [{ exports }] = Object.values(metafile.outputs);
  const names = exports.join(', ');
  // Never executed: Node, Deno and Bun read the export names from this expression.
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
    // Names appear in stack traces and in the output of `inspect`.
    keepNames: true,
    lineLimit: LINE,
    legalComments: 'none',
    plugins: [plugin],
  });
}

/**
 * Writes the WebAssembly as text in a script, one for both module systems: Node loads it by `import` and by `require`, browsers as a
 * module, and bundlers for its side effect. It is compressed, because it is half of the package.
 */
function inline(dist, name, { stamp, bytes }) {
  const folder = join(dist, 'inline');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs","sideEffects":true}\n');
  const deflated = deflate(bytes).toString('base64');
  // On a separate line, because Node prints the whole line that threw an uncaught error.
  const script = `globalThis[Symbol.for(${JSON.stringify(stamp)})]??={size:${bytes.length},deflated:\n"${deflated}"\n};\n`;
  writeFileSync(join(folder, `${name}.js`), script);
}

function deflate(bytes) {
  if (QUICK) return deflateRawSync(bytes, { level: 1 });
  // In a separate process, because the library installs a handler for uncaught errors.
  const deflater = fileURLToPath(new URL('deflate.js', import.meta.url));
  return execFileSync(process.execPath, [deflater], { input: bytes, maxBuffer: bytes.length });
}

/** Returns a plugin that replaces the import of a module of src/ with an import of a file next to the bundle. */
function next(module, file) {
  return {
    name: 'beside',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^\\./${module}\\.js$`) }, () => ({ path: `./${file}`, external: true }));
    },
  };
}

/** Returns a plugin that provides the modules that src/engine/imports.d.ts declares. */
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
 * Returns a module with a factory for wasm-bindgen's glue. The glue keeps its only instance in module scope; in a function body, it can
 * be created again to replace a broken instance.
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
    // Only used by the asynchronous initialization, which fetches the WebAssembly and is not used here.
    define: { 'import.meta.url': '""' },
  });
  return `export function newGlue() { ${result.outputFiles[0].text}; return glue; }`;
}
