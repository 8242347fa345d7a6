// Builds ../bindings-wasm/pkg with wasm-pack, which finds wasm-opt in node_modules/.bin: one WebAssembly for each entry.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { ENTRIES, PROGRAM } from './entries.js';

/** Everything the WebAssembly is made from. */
const SOURCES = [
  'Cargo.toml',
  'Cargo.lock',
  'core/Cargo.toml',
  'core/src',
  'bindings-wasm/Cargo.toml',
  'bindings-wasm/.cargo',
  'bindings-wasm/src',
];

export function buildWasm(root) {
  const workspace = join(root, '..');
  const digest = digestOf(workspace);
  for (const entry of [...ENTRIES, PROGRAM]) buildEntry(root, join(workspace, 'bindings-wasm'), digest, entry);
}

function buildEntry(root, crate, digest, { folder, features }) {
  const stamp = join(crate, folder, 'made-from');
  // wasm-opt takes ten seconds even where cargo finds nothing to do.
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const PATH = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const options = ['--target', 'web', '--release', '--no-pack', '--mode', 'no-install', '--out-dir', folder];
  const cargo = ['--features', features.join(',')];
  execFileSync('wasm-pack', ['build', '.', ...options, '--', ...cargo], {
    cwd: crate,
    stdio: 'inherit',
    env: { ...process.env, PATH },
  });
  writeFileSync(stamp, digest);
}

function digestOf(workspace) {
  const hash = createHash('sha256');
  hash.update(process.env.RUSTUP_TOOLCHAIN ?? '');
  const add = (path) => {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) add(join(path, name));
    } else {
      hash.update(path.slice(workspace.length)).update(readFileSync(path));
    }
  };
  for (const source of SOURCES) add(join(workspace, source));
  return hash.digest('hex');
}
