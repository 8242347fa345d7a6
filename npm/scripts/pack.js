// Packs what `npm publish` publishes.
//
// `node pack.js OUT` packs the package `toolwire`, whose manifest gets the packages of all platforms as optional dependencies. They are not in
// npm/package.json, because its lock file would need their hashes, and they are packed after the commit that contains the lock file.
// `node pack.js OUT PROGRAM [PLATFORM]` packs the package of a platform, by default this machine's, with its program.

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PLATFORMS, packageOf } from './platforms.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const LICENCES = ['LICENSE-MIT', 'LICENSE-APACHE'];
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const [out, program, platform = `${process.platform}-${process.arch}`] = process.argv.slice(2);
if (out === undefined) throw new Error('expected the folder for the tarball, found none');
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'toolwire-pack-'));
try {
  if (program === undefined) library();
  else native();
  const options = ['--json', '--ignore-scripts', '--pack-destination', resolve(out)];
  const [{ filename, files }] = JSON.parse(run('npm', ['pack', ...options, folder]));
  console.log(JSON.stringify({ file: join(resolve(out), filename), files: files.map(({ path }) => path) }));
} finally {
  rmSync(folder, { recursive: true });
}

function library() {
  for (const name of ['dist', 'README.md', 'LICENSE-fflate', ...LICENCES])
    cpSync(join(root, name), join(folder, name), { recursive: true, dereference: true });
  const optionalDependencies = Object.fromEntries(PLATFORMS.map((one) => [packageOf(one), manifest.version]));
  write({ ...manifest, optionalDependencies, scripts: undefined, devDependencies: undefined });
}

function native() {
  const found = PLATFORMS.find(({ name }) => name === platform);
  if (found === undefined) throw new Error(`expected a platform of platforms.js, found \`${platform}\``);
  const [os, cpu] = platform.split('-');
  const { version, license, repository } = manifest;
  write({
    name: packageOf(found),
    version,
    description: `The program of the package toolwire for ${platform}.`,
    license,
    repository,
    os: [os],
    cpu: [cpu],
    // Package managers that run packages from archives have to unpack this one.
    preferUnplugged: true,
    files: ['bin', 'LICENSE-*'],
  });
  mkdirSync(join(folder, 'bin'));
  const path = join(folder, 'bin', os === 'win32' ? 'toolwire.exe' : 'toolwire');
  copyFileSync(program, path);
  chmodSync(path, 0o755);
  writeFileSync(
    join(folder, 'README.md'),
    `The program of the package [toolwire](https://www.npmjs.com/package/toolwire) for ${platform}.\n`,
  );
  for (const name of LICENCES) copyFileSync(join(root, '..', name), join(folder, basename(name)));
}

function write(value) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(value, undefined, 2)}\n`);
}

function run(command, args) {
  return execFileSync(command, args, { encoding: 'utf8', shell: process.platform === 'win32' });
}
