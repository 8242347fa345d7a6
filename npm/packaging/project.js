// The projects of the packaging tests, and a function that runs commands in them.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
/** The folder of the npm package. */
export const ROOT = join(here, '..');
/** The folder of the projects, in which the packed package is installed. */
export const PROJECTS = join(here, 'projects');
/** The output of `sanitize` in every project, followed by that of `searchTools`. */
export const SANITIZED = '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}';
export const FOUND = '["send_mail"]';

/** The result of install.js: the tarball, and the files in it. */
export const packed = {
  list: join(PROJECTS, 'node_modules', 'packed.json'),
  get() {
    return JSON.parse(readFileSync(packed.list, 'utf8'));
  },
};

/** Returns the path of a command-line tool of the packaging tests. */
export function tool(name) {
  return join(here, 'node_modules', '.bin', name);
}

/** Returns the folder of a project, with an empty dist/. */
export function project(name) {
  const folder = join(PROJECTS, name);
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  mkdirSync(join(folder, 'dist'));
  return folder;
}

/** Runs a command and returns its output. If it fails, the error contains all of its output. */
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
