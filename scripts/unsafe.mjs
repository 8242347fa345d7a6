// Checks that every `unsafe` in our code is in the list of SECURITY.md with its reason, and that every crate denies
// `unsafe_code` by default.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.rs'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));

// Only code counts, not comments and strings.
const code = (text) => text.replace(/\/\/.*$/gm, '').replace(/"(?:[^"\\]|\\.)*"/gs, '""');
const found = new Map();
for (const path of files) {
  const places = code(read(path)).match(/\bunsafe\b/g)?.length ?? 0;
  if (places > 0) found.set(path, places);
}
const listed = new Map(
  [...read('SECURITY.md').matchAll(/^\| `([^`]+\.rs)` \| (\d+) \| \S.* \|$/gm)].map(([, path, places]) => [
    path,
    Number(places),
  ]),
);

const faults = [];
for (const path of new Set([...found.keys(), ...listed.keys()])) {
  const [actual, listedCount] = [found.get(path) ?? 0, listed.get(path) ?? 0];
  if (actual !== listedCount)
    faults.push(`${path}: expected ${actual} places in SECURITY.md's list of \`unsafe\`, found ${listedCount}`);
}
for (const crate of [
  'core/src',
  'core/http/src',
  'core/fuzz/src',
  'command/src',
  'cli/src',
  'bindings-wasm/src',
  'bindings-py/src',
  'examples/cliproxyapi/src',
]) {
  const manifest = read(`${crate.replace(/\/src$/, '')}/Cargo.toml`);
  const refuses =
    /#!\[(?:forbid|deny)\([^)]*\bunsafe_code\b/.test(read(`${crate}/lib.rs`)) ||
    /^unsafe_code = "(?:deny|forbid)"$/m.test(manifest);
  const inherits = /^\[lints\]\nworkspace = true$/m.test(manifest);
  if (!refuses && !inherits) faults.push(`${crate}: expected \`unsafe_code\` denied or forbidden, found neither`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
