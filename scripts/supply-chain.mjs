// Checks that everything that is run or built with is pinned: actions by commit, packages by hash, crates from one
// registry with licenses that deny.toml allows. Reads only files and `cargo metadata`; cargo-deny (scripts/rust.sh)
// checks more.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const run = (program, ...args) => execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
const tracked = (pattern) =>
  run('git', 'ls-files', '--cached', '--others', '--exclude-standard', pattern).split('\n').filter(Boolean);

/** The workspace, and the packages with their own lock file whose product users install, or which write a part of it. */
const MANIFESTS = ['Cargo.toml', 'bindings-wasm/bindgen/Cargo.toml', 'examples/cliproxyapi/Cargo.toml'];

const faults = [...actions(), ...npm(), ...pip(), ...crates()];
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

/** Finds actions that are pinned by tag, which can be moved, and actions with different commits. */
function* actions() {
  const known = new Map();
  for (const name of readdirSync(join(root, '.github/workflows'))) {
    const path = `.github/workflows/${name}`;
    for (const [, action, pin] of read(path).matchAll(/uses: ([\w-]+\/[\w./-]+)(.*)$/gm)) {
      if (!/^@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(pin)) {
        yield `${path}: expected ${action} pinned by a commit, with its version in a comment, found \`${action}${pin}\``;
      }
      const other = known.get(action) ?? pin;
      if (other !== pin) yield `${path}: expected ${action}${other}, as elsewhere, found \`${pin}\``;
      known.set(action, pin);
    }
  }
  if (known.size === 0) yield '.github/workflows: expected actions, found none';
}

/** Finds entries without a hash, and entries with a host, because each machine configures its own registry. */
function* npm() {
  for (const path of tracked('*package-lock.json')) {
    const entries = Object.entries(JSON.parse(read(path)).packages).filter(([name, { link }]) => name !== '' && !link);
    for (const [name, { version, integrity, resolved }] of entries) {
      // A package is packed after the commit that contains the lock file, so our own entries have only an exact version.
      const isOwn = path === 'scripts/ci/package-lock.json' && /^node_modules\/(@toolwire\/cli-|toolwire$)/.test(name);
      if (!isOwn && !/^sha512-/.test(integrity ?? ''))
        yield `${path}: expected a hash for ${name} ${version}, found ${integrity ?? 'none'}`;
      if (resolved !== undefined) yield `${path}: expected no address for ${name}, found ${resolved}`;
    }
  }
}

function* pip() {
  for (const path of tracked('python/*requirements*.txt')) {
    const lines = read(path).replaceAll('\\\n', ' ').split('\n');
    for (const line of lines.filter((line) => /^[a-z0-9]/i.test(line))) {
      if (!/^\S+==\S+ .*--hash=sha256:[0-9a-f]{64}/.test(line))
        yield `${path}: expected a version and its hashes, found \`${line}\``;
    }
  }
}

function* crates() {
  const allowed = new Set(
    [...(/^allow = \[(.*?)^\]/ms.exec(read('deny.toml'))?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(([, name]) => name),
  );
  for (const manifest of MANIFESTS) {
    const options = ['--format-version', '1', '--locked', '--all-features', '--manifest-path', manifest];
    for (const { name, version, license, source } of JSON.parse(run('cargo', 'metadata', ...options)).packages) {
      if (source !== null && source !== 'registry+https://github.com/rust-lang/crates.io-index') {
        yield `${manifest}: ${name} ${version}: expected a crate of crates.io, found one of ${source}`;
      }
      if (!isAllowed(license ?? 'none', allowed))
        yield `${manifest}: ${name} ${version}: expected a licence that deny.toml allows, found ${license}`;
    }
  }
}

/** Evaluates the part of SPDX that manifests use: an `AND` of parenthesized `OR`s, or a single `OR`. */
function isAllowed(expression, allowed) {
  return expression.split(' AND ').every((part) =>
    part
      .replace(/^\(|\)$/g, '')
      .split(/ OR | ?\/ ?/)
      .some((licence) => allowed.has(licence)),
  );
}
