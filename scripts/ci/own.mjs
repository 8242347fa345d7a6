// Writes package.json and package-lock.json next to this file, which contain only toolwire's own packages, with exact versions. The entries
// have no hashes, because packages are packed after the commit that contains the lock file.
import { readFileSync, writeFileSync } from 'node:fs';

import { PLATFORMS, packageOf } from '../../npm/scripts/platforms.js';

const write = (name, value) => writeFileSync(new URL(name, import.meta.url), `${JSON.stringify(value, null, 2)}\n`);
const manifest = JSON.parse(readFileSync(new URL('../../npm/package.json', import.meta.url), 'utf8'));
const { version, license, bin, engines, peerDependencies, peerDependenciesMeta } = manifest;
const name = 'toolwire-in-ci';
const dependencies = { toolwire: version };
const optionalDependencies = Object.fromEntries(PLATFORMS.map((platform) => [packageOf(platform), version]));
const programs = PLATFORMS.map((platform) => {
  const [os, cpu] = platform.name.split('-');
  return [`node_modules/${packageOf(platform)}`, { version, cpu: [cpu], license, optional: true, os: [os] }];
});

write('package.json', {
  name,
  description: 'What the action and the hook of pre-commit install.',
  private: true,
  dependencies,
});
write('package-lock.json', {
  name,
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name, dependencies },
    ...Object.fromEntries(programs.sort()),
    'node_modules/toolwire': {
      version,
      license,
      optionalDependencies,
      bin,
      engines,
      peerDependencies,
      peerDependenciesMeta,
    },
  },
});
