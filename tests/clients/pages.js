// Runs the lines of docs/clients unchanged.

import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PROGRAM } from '../program.js';
import { redirect } from './redirect.js';

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const { version: VERSION } = JSON.parse(readFileSync(file('../../npm/package.json'), 'utf8'));
/** Time limit for the start of a relay, in milliseconds. */
const PATIENCE = 30_000;
/** The relay's address on the pages. */
const ADDRESS = '127.0.0.1:8787';

export const read = (page) => readFileSync(file(`../../docs/clients/${page}.md`), 'utf8');

/** Returns the block of a page whose fence names the file. */
export function block(page, name) {
  const found = read(page).match(new RegExp(`^\`\`\`\\w+ ${name.replaceAll('.', '\\.')}\\n(.*?)^\`\`\`$`, 'ms'));
  if (found === null) throw new Error(`docs/clients/${page}.md: expected a block \`${name}\``);
  return found[1];
}

/** Returns a block with the address of a relay that runs elsewhere. */
export const blockAt = (page, name, url) => block(page, name).replaceAll(ADDRESS, new URL(url).host);

/**
 * Creates a folder with an `npx` that starts the packages of this repository, and returns the environment for it. `servers` are the MCP
 * servers by the name of their package.
 */
export function environment(folder, servers = {}) {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const cases = Object.entries({ toolwire: PROGRAM, [`toolwire@${VERSION}`]: PROGRAM, ...servers });
  const start = (path) => (path === PROGRAM ? `"${path}"` : `"${process.execPath}" "${path}"`);
  const lines = cases.map(([name, path]) => `${name}) exec ${start(path)} "$@" ;;`);
  const options = 'while :; do case "$1" in -y) shift ;; -p) shift 2 ;; *) break ;; esac; done';
  const text = `#!/bin/sh\n${options}\nname=$1\nshift\ncase "$name" in\n${lines.join('\n')}\nesac\necho "unknown package $name" >&2\nexit 9\n`;
  writeFileSync(join(bin, 'npx'), text, { mode: 0o755 });
  // As the launcher of the npm package sets it.
  const TOOLWIRE_PROGRAM = JSON.stringify(['npx', '-y', 'toolwire']);
  return { ...process.env, TOOLWIRE_PROGRAM, PATH: [bin, process.env.PATH].join(delimiter) };
}

/** Starts the relay by a line of a page, at a free port unless the line has an address, with a fake in the place of the API. */
export async function relayOf(line, env, fake) {
  const listen = line.includes('--listen') ? '' : '--listen 127.0.0.1:0';
  const redirected = await redirect(/--upstream['"]? ['"]?([^\s'"]+)/.exec(line)[1], fake);
  const child = spawn('/bin/sh', ['-c', `exec ${line.trim()} ${listen}`], {
    env: { ...env, ...redirected.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const relay = await listening(child);
  const close = async () => {
    await relay.close();
    redirected.close();
  };
  return { ...relay, close };
}

/** Waits until a relay listens. Returns its URL, and a function that ends it and waits for its exit. */
export async function listening(child) {
  let log = '';
  const exit = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', (error) => {
      log += error.message;
      resolve();
    });
  });
  const close = () => {
    child.kill();
    return exit;
  };
  const timer = setTimeout(close, PATIENCE);
  try {
    for await (const piece of child.stderr.iterator({ destroyOnReturn: false })) {
      log += piece;
      const found = /(http:\S+)\/toolwire\/last/.exec(log);
      if (found) {
        child.stderr.resume();
        return { url: found[1], close };
      }
    }
  } finally {
    clearTimeout(timer);
  }
  await close();
  throw new Error(`expected the address of a relay within ${PATIENCE / 1000} s, found: ${log}`);
}
