// Prints the effect of the patch in contrib/mcp-inspector: the findings before and after, and its cost.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { CONTRIBUTION, listTools, patchedRelease, RELEASE, TOOLWIRE } from './release.js';
import { tools as bad } from './server.js';

const folder = mkdtempSync(join(tmpdir(), 'toolwire-inspector-'));
const patched = patchedRelease(folder, { toolwire: TOOLWIRE });
const server = fileURLToPath(new URL('server.js', import.meta.url));
const listOf = (path) => JSON.parse(readFileSync(path)).tools;

async function listed(inspector, tools) {
  const list = join(folder, 'list.json');
  writeFileSync(list, JSON.stringify(tools));
  const command = [process.execPath, server, list];
  const start = performance.now();
  const { code, output, errors } = await listTools({
    inspector,
    command,
    folder,
    options: ['--strict', '--format', 'json'],
  });
  const time = performance.now() - start;
  // An envelope of an error follows on standard error, so the result is still the whole output.
  if (!output) throw new Error(errors);
  const { schemaFindings = [], modelAdvice = [] } = JSON.parse(output);
  return { code, time, found: schemaFindings, advice: modelAdvice };
}

console.log('list: tools | Inspector: findings, tools | advice: findings, tools | tools with either | exit code');
for (const [name, tools] of [
  ['doubtful tools', listOf(join(CONTRIBUTION, 'tools.json'))],
  ['inspector/server.js', bad],
  ['scenario.json', listOf(fileURLToPath(new URL('../scenario.json', import.meta.url)))],
]) {
  const before = await listed(RELEASE, tools);
  const after = await listed(patched, tools);
  if (JSON.stringify(before.found) !== JSON.stringify(after.found) || before.code !== after.code) {
    throw new Error(`the patch changes what the Inspector finds in ${name}`);
  }
  const findings = before.found.reduce((sum, { findings }) => sum + findings.length, 0);
  const names = [before.found, after.advice].map((list) => new Set(list.map(({ toolName }) => toolName)));
  const either = new Set([...names[0], ...names[1]]).size;
  console.log(
    `${name}: ${tools.length} | ${findings}, ${names[0].size} |`,
    `${after.advice.length}, ${names[1].size} | ${either} | ${after.code}`,
  );
}

const tools = listOf(join(CONTRIBUTION, 'tools.json'));
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
const runs = { release: [], patched: [] };
for (let run = 0; run < 5; run++) {
  runs.release.push((await listed(RELEASE, tools)).time);
  runs.patched.push((await listed(patched, tools)).time);
}
console.log(
  `one run: ${median(runs.release).toFixed(0)} ms, with the patch ${median(runs.patched).toFixed(0)} ms (median of 5)`,
);

const start = performance.now();
const { checkTools, init } = await import('../../../npm/dist/slim.js');
init(readFileSync(join(TOOLWIRE, 'dist', 'toolwire.wasm')));
const code = readFileSync(join(patched, 'clients', 'cli', 'build', 'index.js'), 'utf8');
const dialects = JSON.parse(code.match(/MODEL_APIS = (\[[^\]]*\])/)[1]);
checkTools([], { dialects });
console.log(`loading toolwire: ${(performance.now() - start).toFixed(0)} ms`);
for (let run = 0; run < 20; run++) checkTools(tools, { dialects });
const times = [];
for (let run = 0; run < 50; run++) {
  const begin = performance.now();
  checkTools(tools, { dialects });
  times.push(performance.now() - begin);
}
console.log(`one tool in ${dialects.length} dialects: ${((median(times) / tools.length) * 1000).toFixed(0)} µs`);

const sizeOf = (path) => `${statSync(path).size} bytes, gzipped ${gzipSync(readFileSync(path), { level: 9 }).length}`;
const part = code.split('// src/handlers/model-advice.ts\n')[1].split('// src/handlers/emit-result.ts')[0];
console.log(`code of the patch: ${part.length} bytes, gzipped ${gzipSync(part, { level: 9 }).length}`);
for (const name of ['slim.js', 'toolwire.wasm']) console.log(`${name}: ${sizeOf(join(TOOLWIRE, 'dist', name))}`);
rmSync(folder, { recursive: true, force: true });
