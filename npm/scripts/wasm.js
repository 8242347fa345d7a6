// Builds ../bindings-wasm/pkg with wasm-pack, which finds wasm-opt in node_modules/.bin: one WebAssembly for each entry point. Run as a
// program (`node wasm.js FOLDER`), it builds only the WebAssembly of that folder: `index`, or `command` for the playground.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { COMMAND, ENTRIES } from './entries.js';
import { QUICK } from './quick.js';

/** The sources of the WebAssembly, except for those of the command line. */
const SOURCES = [
  'Cargo.toml',
  'Cargo.lock',
  'core/Cargo.toml',
  'core/src',
  'bindings-wasm/Cargo.toml',
  'bindings-wasm/.cargo',
  'bindings-wasm/bindgen',
  'bindings-wasm/src',
];

export function buildWasm(root, entries = ENTRIES) {
  const workspace = join(root, '..');
  for (const entry of entries) {
    const sources = entry === COMMAND ? [...SOURCES, 'command/Cargo.toml', 'command/src'] : SOURCES;
    buildEntry(root, join(workspace, 'bindings-wasm'), digestOf(workspace, sources), entry);
  }
}

function buildEntry(root, crate, digest, { folder, features, quick = features, small }) {
  const stamp = join(crate, folder, 'made-from');
  // wasm-opt takes ten seconds even if cargo has nothing to build.
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  rmSync(stamp, { force: true });
  const PATH = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const options = ['--target', 'web', '--release', '--no-pack', '--mode', 'no-install', '--out-dir', folder];
  if (QUICK) options.push('--no-opt');
  const cargo = ['--locked', '--no-default-features', '--features', (QUICK ? quick : features).join(',')];
  const flags = withoutPaths(join(crate, '..'));
  // A separate folder, because cargo locks its target folder during a build, and the other packages are built at the same time.
  const CARGO_TARGET_DIR = join(process.env.CARGO_TARGET_DIR ?? join(crate, '..', 'target'), 'wasm');
  // RUSTFLAGS replaces the flags of .cargo/config.toml; the variable for the target adds to them.
  const chosen =
    small && !QUICK
      ? { RUSTFLAGS: flags, CARGO_PROFILE_RELEASE_OPT_LEVEL: small }
      : { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: flags };
  execFileSync('wasm-pack', ['build', '.', ...options, '--', ...cargo], {
    cwd: crate,
    stdio: 'inherit',
    env: { ...process.env, PATH, CARGO_TARGET_DIR, ...chosen },
  });
  writeFileSync(stamp, digest);
}

/**
 * Returns compiler flags in addition to those of .cargo/config.toml. Panic messages contain the paths of source files; without the
 * machine's own folders in them, builds are reproducible on other machines and reveal nothing about this one.
 */
export function withoutPaths(workspace) {
  const sources = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry', 'src');
  const registries = existsSync(sources) ? readdirSync(sources).map((name) => join(sources, name)) : [];
  const flags = [...registries.map((path) => [path, '/registry']), [workspace, '/toolwire']];
  for (const [path] of flags) {
    if (path.includes(' '))
      throw new Error(`expected a path without spaces, which cargo cannot pass on, found \`${path}\``);
  }
  return flags.map(([path, name]) => `--remap-path-prefix=${path}=${name}`).join(' ');
}

function digestOf(workspace, sources) {
  const hash = createHash('sha256');
  hash.update(process.env.RUSTUP_TOOLCHAIN ?? '').update(QUICK ? 'quick' : 'release');
  for (const [name, value] of Object.entries(process.env).sort())
    if (name.startsWith('CARGO_PROFILE_')) hash.update(`${name}=${value}`);
  const add = (path) => {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) add(join(path, name));
    } else {
      hash.update(path.slice(workspace.length)).update(readFileSync(path));
    }
  };
  for (const source of sources) add(join(workspace, source));
  return hash.digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = [...ENTRIES, COMMAND].filter(({ folder }) => folder === `pkg/${process.argv[2]}`);
  buildWasm(join(dirname(fileURLToPath(import.meta.url)), '..'), wanted);
}
