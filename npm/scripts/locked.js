// `node locked.js FOLDER [LOCK]`: checks that every package that npm installed in FOLDER is in the lock file, with the same hash.
// `npm ci` alone accepts entries without a hash, which lock files written behind a mirror contain for packages of other platforms.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, lock = join(folder, 'package-lock.json')] = process.argv.slice(2);
const packages = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
const named = packages(lock);
// npm writes this lock file into node_modules when it installs.
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
