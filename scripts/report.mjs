// Builds the pages of `toolwire report` for the servers of a lock file: node scripts/report.mjs LOCK PROGRAM OUT
//
// Packages are installed in a container, with the network and without their scripts. Servers run in a container without
// the network (`--network none`), without capabilities, with a file system that they cannot write. No container has
// secrets or a folder of the host that a server can write: a list arrives on standard output, up to a size. One server
// that fails costs only its own page. PROGRAM is the program for Linux, which needs no library (musl).

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const [lockFile, program, out] = process.argv.slice(2).map((path) => resolve(path));
if (out === undefined) throw new Error('usage: node scripts/report.mjs LOCK PROGRAM OUT');

/** Images of the containers. A digest in the variables keeps them from changing unnoticed. */
const IMAGE = process.env.REPORT_IMAGE ?? 'node:22-bookworm-slim';
const PYTHON_IMAGE = process.env.REPORT_PYTHON_IMAGE ?? 'python:3.12-slim-bookworm';
const SECONDS = 120;
const MAX_LIST = 4 << 20;

/**
 * Text of a program or a server for the log. A runner reads commands at the beginning of a line (`::name::`) and older
 * ones anywhere (`##[name]`), and a terminal acts on control characters.
 */
function shown(text) {
  const lines = text.slice(-4000).split(/[\r\n\u2028\u2029]+/);
  const escaped = (one) => `\\u{${one.codePointAt(0).toString(16)}}`;
  const plain = (line) => line.replaceAll('##[', '## [').replace(/[\p{Cc}\p{Cf}]/gu, escaped);
  return lines.map((line) => `  | ${plain(line)}`).join('\n');
}

/** Starts a program with only these variables. Returns its standard output. */
function run(command, args, seconds, accepted = [0], maxBuffer = 1 << 22) {
  const { PATH, HOME, DOCKER_HOST } = process.env;
  const env = { PATH, HOME, ...(DOCKER_HOST ? { DOCKER_HOST } : {}) };
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: seconds * 1000,
    maxBuffer,
  });
  if (error || !accepted.includes(status)) throw new Error(`${command}: ${error?.message ?? stderr.toString()}`);
  if (status !== 0) console.error(shown(stderr.toString()));
  return stdout;
}

let containers = 0;

/** Runs a command in a container. */
function contained(image, options, command, seconds, maxBuffer) {
  containers += 1;
  const name = `toolwire-report-${process.pid}-${containers}`;
  const limits = ['--memory', '1g', '--pids-limit', '256', '--cpus', '1', '--stop-timeout', '5'];
  const closed = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
  const temporary = ['--tmpfs', '/tmp', '--env', 'HOME=/tmp'];
  const fixed = ['run', '--rm', '--name', name, ...closed, ...limits, ...temporary, '--workdir', '/server'];
  try {
    return run('docker', [...fixed, ...options, image, ...command], seconds, [0], maxBuffer);
  } catch (error) {
    // The container may outlive its client. Usually, it does not exist any more.
    spawnSync('docker', ['kill', name], { stdio: 'ignore', timeout: 60_000 });
    throw error;
  }
}

/** Installs a package; returns the command that starts it, in the folder that becomes /server. */
function install(server, folder) {
  const [kind, name] = [server.package.slice(0, server.package.indexOf(':')), server.package.replace(/^[a-z]+:/, '')];
  if (kind === 'file') {
    cpSync(resolve(name), folder, { recursive: true });
    return { image: IMAGE, command: server.command };
  }
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const options = ['--user', user, '--volume', `${folder}:/server`];
  if (kind === 'npm') {
    const npm = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', '/server'];
    contained(IMAGE, options, [...npm, '--', `${name}@${server.version}`], 600);
    return { image: IMAGE, command: server.command ?? [`node_modules/.bin/${basename(name)}`] };
  }
  const pip = ['python3', '-m', 'pip', 'install', '--only-binary', ':all:', '--target', '/server/lib'];
  contained(PYTHON_IMAGE, options, [...pip, '--', `${name}==${server.version}`], 600);
  return { image: PYTHON_IMAGE, command: server.command ?? [`lib/bin/${basename(name)}`] };
}

/** The list is a file in the memory of the container. The output of the server never reaches this shell's output. */
const ASK = `name=$1
shift
mkdir /tmp/lists && /toolwire report --lists --out /tmp/lists --name "$name" -- "$@" >&2 && cat "/tmp/lists/$name.json"`;

/** Returns the list of the tools of a server in a container. */
function list(server, { image, command }, folder) {
  const volumes = [`${folder}:/server:ro`, `${program}:/toolwire:ro`].flatMap((it) => ['--volume', it]);
  const options = ['--network', 'none', '--user', '65534:65534', '--env', 'PYTHONPATH=/server/lib', ...volumes];
  const ask = ['timeout', '--kill-after', '5', String(SECONDS), 'sh', '-c', ASK, 'sh', server.name, ...command];
  return contained(image, options, ask, SECONDS + 60, MAX_LIST);
}

/** A folder of another user, for instance, must not end the run. */
function remove(path) {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    console.error(shown(`expected a folder that can be removed: ${error.message}`));
  }
}

/** The names of the servers that have a page. toolwire checks the file, and knows which servers are left out. */
function published(servers, work) {
  const [stubs, checked] = ['stubs', 'checked'].map((name) => join(work, name));
  for (const folder of [stubs, checked]) mkdirSync(folder);
  // A name that is no name of a page is reported by toolwire, which then finds a list without a server, or no list.
  const names = servers.map((server) => String(server?.name)).filter((name) => /^[a-z0-9-]{1,64}$/.test(name));
  const files = names.map((name) => join(stubs, `${name}.json`));
  for (const file of files) writeFileSync(file, '[{"name":"a","inputSchema":{"type":"object"}}]');
  if (files.length === 0) files.push(lockFile);
  run(program, ['report', '--no-patterns', '--lists', '--lock', lockFile, '--out', checked, ...files], 600);
  return new Set(readdirSync(checked).map((file) => basename(file, '.json')));
}

const work = mkdtempSync(join(tmpdir(), 'toolwire-report-'));
const found = [];
try {
  if (existsSync(out) && readdirSync(out).length > 0) throw new Error('expected an empty folder for the pages');
  const { servers } = JSON.parse(readFileSync(lockFile, 'utf8'));
  if (!Array.isArray(servers)) throw new Error('expected a lock file with a list `servers`');
  const names = published(servers, work);
  const lists = join(work, 'lists');
  mkdirSync(lists);
  for (const server of servers.filter(({ name }) => names.has(name))) {
    const [folder, checked] = ['server', 'list'].map((kind) => join(work, kind, server.name));
    try {
      for (const path of [folder, checked]) mkdirSync(path, { recursive: true });
      const file = join(lists, `${server.name}.json`);
      writeFileSync(file, list(server, install(server, folder), folder));
      run(program, ['report', '--no-patterns', '--lists', '--lock', lockFile, '--out', checked, file], 600);
      if (!existsSync(join(checked, `${server.name}.json`))) throw new Error('expected a list of tools, found none');
      found.push(file);
    } catch (error) {
      console.error(`${server.name}: no page\n${shown(error.message)}`);
    }
    remove(folder);
  }
  if (found.length === 0) throw new Error('expected the list of at least one server, found none');
  const pages = join(work, 'pages');
  mkdirSync(pages);
  // Exit code 2: one of the lists has no page.
  run(program, ['report', '--no-patterns', '--lock', lockFile, '--out', pages, ...found], 3600, [0, 2]);
  if (!existsSync(join(pages, 'index.html'))) throw new Error('expected pages, found none');
  writeFileSync(join(pages, '.nojekyll'), '');
  cpSync(pages, out, { recursive: true });
  console.log(`${found.length} of ${servers.length} servers, ${servers.length - names.size} left out`);
} catch (error) {
  console.error(`no pages\n${shown(error.message)}`);
  process.exitCode = 1;
} finally {
  remove(work);
}
