// Builds dist/: the WebAssembly (only if one of its sources changed), the bundles, the declarations.

import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle } from './bundle.js';
import { buildWasm } from './wasm.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

buildWasm(root);
rmSync(dist, { recursive: true, force: true });
await bundle(root, dist);
declarations();
for (const licence of ['LICENSE-MIT', 'LICENSE-APACHE']) copyFileSync(join(root, '..', licence), join(root, licence));
// The bundles contain code of fflate.
copyFileSync(join(root, 'node_modules/fflate/LICENSE'), join(root, 'LICENSE-fflate'));

/** Writes one declaration file per module and module system, because TypeScript requires a `.d.cts` for a `.cjs`. */
function declarations() {
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd: root, stdio: 'inherit' });
  // The types of internal modules are not published.
  for (const internal of ['engine', 'values']) rmSync(join(dist, internal), { recursive: true });
  for (const name of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
    const text = readFileSync(join(dist, name), 'utf8');
    writeFileSync(
      join(dist, name.replace(/\.d\.ts$/, '.d.cts')),
      text.replaceAll(/(from '\.\/[a-z-]+)\.js'/g, "$1.cjs'"),
    );
  }
}
