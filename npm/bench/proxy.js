// Measures the time that `toolwire proxy` adds to a call and to the start, compared with the bare server in the same
// run, and the proxy's memory over many calls.
//
//   node bench/proxy.js [CALLS]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { RELEASE } from '../../tests/program.js';

const CALLS = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), 'toolwire-bench-'));
const SERVER = join(folder, 'server.mjs');
// 40 tools whose schemas have to be rewritten, like those of a large server.
writeFileSync(
  SERVER,
  `import { createInterface } from 'node:readline';
const schema = { type: 'object', properties: { $ref: { type: 'string' }, mode: { const: 'x' }, count: { type: 'integer' } }, required: ['$ref'] };
const tools = Array.from({ length: 40 }, (_, at) => ({ name: 'tool.' + at, description: 'A tool.', inputSchema: schema }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const result = method === 'tools/list' ? { tools } : { content: [{ type: 'text', text: 'done' }] };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`,
);

/** A server, or a proxy for one, that receives one request at a time. */
async function peer([program, ...args]) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const ask = async (method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
    return JSON.parse((await lines.next()).value);
  };
  const close = async () => {
    child.stdin.end();
    await once(child, 'close');
  };
  return { ask, close, pid: child.pid };
}

const median = (times) => times.sort((one, other) => one - other)[times.length >> 1];
const memory = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function started(args) {
  const begin = performance.now();
  const { ask, close } = await peer(args);
  await ask('tools/list');
  const time = performance.now() - begin;
  await close();
  return time;
}

const bare = [process.execPath, SERVER];
const proxied = [RELEASE, 'proxy', '--', ...bare];
const starts = { bare: [], proxied: [] };
for (let round = 0; round < 11; round++) {
  starts.bare.push(await started(bare));
  starts.proxied.push(await started(proxied));
}

const [one, other] = [await peer(bare), await peer(proxied)];
await Promise.all([one.ask('tools/list'), other.ask('tools/list')]);
const times = { bare: [], proxied: [] };
const grown = [];
for (let call = 0; call < CALLS; call++) {
  // Both take turns, so that the machine's load affects them equally.
  for (const [name, { ask }, tool, args] of [
    ['bare', one, 'tool.7', { $ref: 'a', count: 1 }],
    ['proxied', other, 'tool_7', { dollar_ref_: 'a', count: '1' }],
  ]) {
    const begin = performance.now();
    await ask('tools/call', { name: tool, arguments: args });
    times[name].push(performance.now() - begin);
  }
  if (call % Math.ceil(CALLS / 10) === 0) grown.push(Math.round(memory(other.pid)));
}
await Promise.all([one.close(), other.close()]);
rmSync(folder, { recursive: true });

const table = {
  start: [median(starts.bare), median(starts.proxied)],
  call: [median(times.bare), median(times.proxied)],
};
for (const [what, [without, between]] of Object.entries(table)) {
  console.log(
    `${what}: ${without.toFixed(3)} ms bare, ${between.toFixed(3)} ms with the proxy, ${(between / without).toFixed(2)} times`,
  );
}
console.log(`memory of the proxy over ${CALLS} calls, in MB: ${grown.join(' ')}`);
