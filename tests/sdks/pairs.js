// Runs the official SDKs as clients and servers in each version of MCP, all pairs, directly and through `toolwire proxy`, and prints
// the working features of each pair. Fails if a feature that works directly, or that both SDKs support, fails through the proxy.
//
// `node pairs.js [WORD…]` runs the pairs whose names contain all words. `REPORT=FILE` writes the table.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROGRAM } from '../program.js';
import { PEERS, table, verdict } from './table.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const NODE = process.execPath;
const PYTHON = join(HERE, '..', '..', 'python', '.venv', 'bin', 'python');
/** The folder with the SDK 1.x, which `python/dev` fills. */
const PYTHON_1 = join(HERE, '..', '..', 'python', '.venv', 'mcp-1');
/** The command of each SDK, to which the role and its arguments are appended. */
const PROGRAMS = {
  'TypeScript 1': [NODE, join(HERE, 'typescript1.js')],
  'TypeScript 2': [NODE, join(HERE, 'typescript2.js')],
  'Python 1': ['env', `PYTHONPATH=${PYTHON_1}`, PYTHON, join(HERE, 'python1.py')],
  'Python 2': [PYTHON, join(HERE, 'python2.py')],
  Rust: [join(PROGRAM, '..', '..', 'sdks', 'debug', 'pair')],
};
/** Time limit of a client for all features, in milliseconds. */
const PATIENCE = 100_000;

const limited = (role, version, line) => [NODE, join(HERE, 'version.js'), role, version, ...line];

/** Runs a client with a server, and returns the outcome of each feature. */
async function run(client, server, isProxied) {
  const own = limited('server', server.version, [...PROGRAMS[server.sdk], 'server']);
  const line = isProxied ? [PROGRAM, 'proxy', '--timeout', '20', '--', ...own] : own;
  const [command, ...args] = [
    ...PROGRAMS[client.sdk],
    'client',
    client.version,
    ...limited('client', client.version, line),
  ];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), PATIENCE);
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece) => (output += piece));
  child.stderr.on('data', (piece) => (errors += piece));
  await new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  clearTimeout(timer);
  const lines = output.split('\n').filter((text) => text.startsWith('{'));
  if (process.env.VERBOSE) console.log(output, errors.slice(-3000));
  return Object.fromEntries(lines.map(JSON.parse).map(({ feature, outcome, why }) => [feature, { outcome, why }]));
}

const words = process.argv.slice(2);
const pairs = PEERS.client.flatMap((client) => PEERS.server.map((server) => ({ client, server })));
const named = ({ client, server }) => `${client.sdk} ${client.version} → ${server.sdk} ${server.version}`;
const chosen = pairs.filter((pair) => words.every((word) => named(pair).includes(word)));
const results = [];
const waiting = [...chosen];
async function work() {
  for (let pair = waiting.shift(); pair; pair = waiting.shift()) {
    const { client, server } = pair;
    const direct = await run(client, server, false);
    const proxied = await run(client, server, true);
    const features = verdict(client, server, direct, proxied);
    results.push({ ...pair, features });
    const failed = Object.entries(features).filter(([, { outcome }]) => outcome === 'fails');
    console.log(`${named(pair)}: ${failed.length === 0 ? 'ok' : failed.map(([name]) => name).join(', ')}`);
    for (const [name, { why, direct }] of failed) console.log(`    ${name} (directly ${direct}): ${why}`);
  }
}
await Promise.all([work(), work()]);
const report = table(
  chosen.map((pair) => results.find(({ client, server }) => client === pair.client && server === pair.server)),
);
console.log(`\n${report.summary}`);
if (process.env.REPORT) writeFileSync(process.env.REPORT, report.markdown);
process.exitCode = report.failures > 0 ? 1 : 0;
