// Lists the tools of a server with bad schemas with the MCP Inspector and its option `--strict`, directly and through `toolwire proxy`, and
// prints the findings. Fails if an input has an error through the proxy, if the proxy adds findings, or if the Inspector finds nothing directly.
//
// `node inspector.js FILE` lists the tools of a JSON file instead.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PROGRAM } from '../program.js';
import { findings, judged } from './findings.js';
import { listTools } from './inspector/release.js';

const own = [
  process.execPath,
  fileURLToPath(new URL('inspector/server.js', import.meta.url)),
  ...process.argv.slice(2).map((file) => resolve(file)),
];

const folder = mkdtempSync(join(tmpdir(), 'toolwire-inspector-'));

/** Runs the Inspector with a server, and returns its exit code, the tools that it lists, and its findings. */
async function inspected(command) {
  const { code, output, errors } = await listTools({ command, folder });
  if (process.env.VERBOSE) console.log(output, errors);
  return findings(code, output, errors);
}

const runs = {};
for (const [name, line] of [
  ['directly', own],
  ['portable', [PROGRAM, 'proxy', '--defer', 'off', '--', ...own]],
  ['typescript-sdk', [PROGRAM, 'proxy', '--client', 'typescript-sdk', '--defer', 'off', '--', ...own]],
]) {
  runs[name] = await inspected(line);
  const { code, tools, errors, inputs, warnings, lines } = runs[name];
  console.log(
    `${name}: exit code ${code}, ${tools} tools, ${errors} errors (${inputs} of inputs), ${warnings} warnings`,
  );
  if (lines.length <= 20) for (const text of lines) console.log(`    ${text}`);
}
rmSync(folder, { recursive: true, force: true });
const { directly, ...proxied } = runs;
process.exitCode = judged(directly, Object.values(proxied)) ? 0 : 1;
