// `node locked.js FOLDER [LOCK]`: everything that npm installed in FOLDER is what the lock file names, and was held to its hash.
// `npm ci` alone takes entries without a hash, and lock files that were written behind a mirror have some: packages for other platforms.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, lock = join(folder, 'package-lock.json')] = process.argv.slice(2);
const packages = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
const named = packages(lock);
// npm writes it beside what it installs.
const installed = Object.entries(packages(join(folder, 'node_modules', '.package-lock.json')));
const faults = installed
  .filter(([path, { link }]) => !link && existsSync(join(folder, path)))
  .filter(([path, { integrity }]) => integrity === undefined || integrity !== named[path]?.integrity)
  .map(([path, { version, integrity }]) =>
    named[path]?.integrity === undefined
      ? `${path}: expected a hash in ${lock}, found none`
      : `${path}: expected ${named[path].version} with ${named[path].integrity}, found ${version} with ${integrity}`,
  );
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
