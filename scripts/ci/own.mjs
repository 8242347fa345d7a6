// Writes toolwire's own entry into package.json and package-lock.json next to this file: an exact version, and members
// copied from npm/package.json. The entry has no hash, because the package is packed after the commit that contains the
// lock file. All other entries have a hash.
import { readFileSync, writeFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
const write = (name, value) => writeFileSync(new URL(name, import.meta.url), `${JSON.stringify(value, null, 2)}\n`);
const { version, license, bin, engines, peerDependencies, peerDependenciesMeta } = read('../../npm/package.json');
const own = { version, license, bin, engines, peerDependencies, peerDependenciesMeta };

const manifest = read('package.json');
manifest.dependencies.toolwire = version;
write('package.json', manifest);
const lock = read('package-lock.json');
lock.packages[''].dependencies = manifest.dependencies;
lock.packages['node_modules/toolwire'] = own;
const [[root, first], ...rest] = Object.entries(lock.packages);
const inOrder = rest.sort(([one], [other]) => (one < other ? -1 : 1));
lock.packages = Object.fromEntries([[root, first], ...inOrder]);
write('package-lock.json', lock);
