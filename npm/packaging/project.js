// Where the projects of the packaging tests are, and how their commands are run.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
/** The package's own folder. */
export const ROOT = join(here, '..');
/** The folder of the projects, where the packed package is installed. */
export const PROJECTS = join(here, 'projects');
/** What `sanitize` gives in every project, and what `searchTools` does. */
export const SANITIZED = '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}';
export const FOUND = '["send_mail"]';

/** What install.js packed: the tarball, and the files in it. */
export const packed = {
  list: join(PROJECTS, 'node_modules', 'packed.json'),
  get() {
    return JSON.parse(readFileSync(packed.list, 'utf8'));
  },
};

/** A tool of the packaging tests, as a command. */
export function tool(name) {
  return join(here, 'node_modules', '.bin', name);
}

/** The folder of a project, with an empty dist/. */
export function project(name) {
  const folder = join(PROJECTS, name);
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  mkdirSync(join(folder, 'dist'));
  return folder;
}

/** Runs a command, and shows everything it said if it fails. */
export function run(command, args, cwd, env = {}) {
  try {
    return execFileSync(command, args, {
      cwd,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...process.env, ...env },
      shell: process.platform === 'win32',
      timeout: 300_000,
    }).trim();
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}: ${error.message}\n${error.stdout}\n${error.stderr}`);
  }
}
