// Packs the package as `npm publish` would, and installs the tarball into projects/, from where the tests use it. dist/ must already be
// built: this script does not rebuild it, because the existing build is the one to be tested.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PROJECTS, packed, ROOT, run } from './project.js';

rmSync(join(PROJECTS, 'node_modules'), { recursive: true, force: true });
for (const name of readdirSync(PROJECTS)) if (name.endsWith('.tgz')) rmSync(join(PROJECTS, name));
const pack = (...args) =>
  JSON.parse(run(process.execPath, [join(ROOT, 'scripts', 'pack.js'), PROJECTS, ...args], ROOT));
const { file, files } = pack();
const program = run('bash', [join(ROOT, '..', 'scripts', 'package.sh'), 'compile'], ROOT, { TOOLWIRE_BUILD: 'quick' });
const platform = pack(join(ROOT, '..', program));
// `--no-save`, because the next build makes other tarballs of the same version. The packages of other platforms are missing.
const options = ['--offline', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'];
run('npm', ['install', ...options, file, platform.file], PROJECTS);
const installed = JSON.parse(readFileSync(join(PROJECTS, 'node_modules', 'toolwire', 'package.json'), 'utf8'));
if (installed.dependencies !== undefined) throw new Error('expected no dependencies at run time, found some');
writeFileSync(packed.list, JSON.stringify({ file, files, platform }));
