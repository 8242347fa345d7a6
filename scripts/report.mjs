// Builds the pages of `toolwire report` for the servers of a lock file: node scripts/report.mjs LOCK PROGRAM OUT
//
// Packages are installed with the network, without their scripts and without secrets. Servers run in a container without
// the network (`--network none`), without capabilities, with a file system that they cannot write, and without secrets.
// A server that fails affects only its own page. PROGRAM is the program for Linux, which needs no library (musl).

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const [lockFile, program, out] = process.argv.slice(2).map((path) => resolve(path));
if (out === undefined) throw new Error('usage: node scripts/report.mjs LOCK PROGRAM OUT');

/** Images of the containers. A digest in the variables keeps them from changing unnoticed. */
const IMAGE = process.env.REPORT_IMAGE ?? 'node:22-bookworm-slim';
const PYTHON_IMAGE = process.env.REPORT_PYTHON_IMAGE ?? 'python:3.12-slim-bookworm';
const SECONDS = 120;

/** Starts a program with only these variables. */
function run(command, args, seconds) {
  const { PATH, HOME, DOCKER_HOST } = process.env;
  const env = { PATH, HOME, ...(DOCKER_HOST ? { DOCKER_HOST } : {}) };
  const { status, error, stderr } = spawnSync(command, args, {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: seconds * 1000,
    maxBuffer: 1 << 22,
  });
  if (error || status !== 0) throw new Error(`${command}: ${error ?? String(stderr).slice(-2000)}`);
}

/** Installs a package; returns the command that starts it, in the folder that becomes /server. */
function install(server, folder) {
  const [kind, name] = [server.package.slice(0, server.package.indexOf(':')), server.package.replace(/^[a-z]+:/, '')];
  if (kind === 'file') {
    cpSync(resolve(name), folder, { recursive: true });
    return { image: IMAGE, command: server.command };
  }
  const pinned = kind === 'npm' ? `${name}@${server.version}` : `${name}==${server.version}`;
  if (kind === 'npm') {
    run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder, pinned], 600);
    return { image: IMAGE, command: server.command ?? [`node_modules/.bin/${basename(name)}`] };
  }
  run('python3', ['-m', 'pip', 'install', '--only-binary', ':all:', '--target', join(folder, 'lib'), pinned], 600);
  return { image: PYTHON_IMAGE, command: server.command ?? [`lib/bin/${basename(name)}`] };
}

/** Lists the tools of a server in a container. */
function list(server, { image, command }, folder, lists) {
  const limits = ['--memory', '1g', '--pids-limit', '256', '--cpus', '1', '--stop-timeout', '5'];
  const closed = ['--network', 'none', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
  const mounts = [`${folder}:/server:ro`, `${program}:/toolwire:ro`, `${lists}:/lists`].flatMap((it) => [
    '--volume',
    it,
  ]);
  const inside = [
    'timeout',
    String(SECONDS),
    '/toolwire',
    'report',
    '--lists',
    '--out',
    '/lists',
    '--name',
    server.name,
  ];
  const user = ['--user', '65534:65534', '--tmpfs', '/tmp', '--env', 'HOME=/tmp', '--env', 'PYTHONPATH=/server/lib'];
  const container = ['run', '--rm', ...closed, ...limits, ...user, ...mounts, '--workdir', '/server', image];
  run('docker', [...container, ...inside, '--', ...command], SECONDS + 60);
}

const lock = JSON.parse(readFileSync(lockFile, 'utf8'));
const work = mkdtempSync(join(tmpdir(), 'toolwire-report-'));
const found = [];
try {
  for (const server of lock.servers) {
    const leftOut = (lock['leave-out'] ?? []).some((name) => name === server.name || name === server.package);
    if (leftOut || !/^[a-z0-9][a-z0-9-]*$/.test(server.name)) continue;
    const [folder, lists] = ['server', 'lists'].map((kind) => join(work, kind, server.name));
    mkdirSync(folder, { recursive: true });
    mkdirSync(lists, { recursive: true });
    // The user of the container writes the list.
    chmodSync(lists, 0o777);
    try {
      list(server, install(server, folder), folder, lists);
      const file = join(lists, `${server.name}.json`);
      if (existsSync(file)) found.push(file);
    } catch (error) {
      console.error(`${server.name}: ${error.message}`);
    }
  }
  if (found.length === 0) throw new Error('expected the list of at least one server, found none');
  mkdirSync(out, { recursive: true });
  run(program, ['report', '--no-patterns', '--lock', lockFile, '--out', out, ...found], 3600);
  writeFileSync(join(out, '.nojekyll'), '');
  console.log(`${found.length} of ${lock.servers.length} servers`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
