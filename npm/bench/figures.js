// Measures the time per real tool in Node, for text and for objects, in µs, and prints one line of JSON for
// scripts/figures.mjs, as core/examples/figures.rs does in Rust. The contenders take turns; the fastest round of each
// counts.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { dialects, Exchange, sanitize, sanitizeTools } from '../dist/index.js';

// A test runs each benchmark once.
const ONCE = process.env.TOOLWIRE_BENCH === 'once';
const ROUNDS = ONCE ? 1 : 7;
const LIST = 60;
const LISTS = 4;
const REQUESTS = 50;
const REPEATED = [
  ['moonshot', 'http://localhost/v1/chat/completions'],
  ['openai-strict', 'http://localhost/v1/chat/completions'],
  ['anthropic-strict', 'http://localhost/v1/messages'],
];
const MESSAGES = ['Find the file.', 'I will look for it.', 'Thank you. Go on.'];

const [, , data] = process.argv;
if (data === undefined) throw new Error('expected a file with one tool per line, found no argument');
const tools = readFileSync(data, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
const values = tools.map(({ inputSchema }) => inputSchema);
const texts = values.map((value) => JSON.stringify(value));
const some = tools.slice(0, LIST * LISTS);
const lists = Array.from({ length: Math.ceil(some.length / LIST) }, (_, at) => some.slice(at * LIST, (at + 1) * LIST));

const [alone, clone] = best([
  [texts, (text) => JSON.stringify(JSON.parse(text))],
  [values, (value) => structuredClone(value)],
]);
const figures = Object.fromEntries(
  dialects().map(({ name: dialect }) => {
    const options = { dialect };
    const [text, report, object, list, each] = best([
      [texts, (text) => attempt(() => sanitize(text, options).schema)],
      // The report is made when it is first read.
      [texts, (text) => attempt(() => sanitize(text, options).changes)],
      [values, (value) => attempt(() => sanitize(value, options).schema)],
      [lists, (list) => attempt(() => sanitizeTools(list, options).tools), some.length],
      [some, (tool) => attempt(() => sanitizeTools([tool], options).tools)],
    ]);
    return [dialect, { text, report, object, list, each }];
  }),
);
const repeated = Object.fromEntries(
  REPEATED.map(([dialect, url]) => {
    const messages = MESSAGES.map((content) => ({ role: 'user', content }));
    const body = (tools) => JSON.stringify({ model: 'm', messages, tools });
    const bodies = [body(tools.slice(0, LIST)), body(tools.slice(1, LIST))];
    let session = 0;
    const run = (toolListCache) => () => {
      // The padding makes each session's lists unique, so that they are not in the cache yet.
      const own = bodies.map((body) => body.replace('"tools":[', `"tools":[${' '.repeat(session)}`));
      session++;
      for (let request = 0; request < REQUESTS; request++) {
        const options = { dialect, toolListCache, onSetAside: () => {} };
        Exchange.open(url, own[request < REQUESTS / 2 ? 0 : 1], options)?.close();
      }
    };
    const [anew, kept] = best([
      [[0], run(0), REQUESTS],
      [[0], run(16), REQUESTS],
    ]);
    return [dialect, { anew, kept }];
  }),
);
console.log(JSON.stringify({ version: process.version, alone, clone, dialects: figures, repeated, ...started() }));

/** Runs a conversion. If the dialect cannot express the schema, the time until the error is measured. */
function attempt(run) {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Returns the fastest time of each contender, in µs per input, or per item for a contender with a number of items. */
function best(contenders) {
  const times = contenders.map(() => Number.POSITIVE_INFINITY);
  for (let round = -1; round < ROUNDS; round++) {
    contenders.forEach(([inputs, run, count = inputs.length], at) => {
      globalThis.gc?.({ type: 'minor' });
      const start = performance.now();
      for (const input of inputs) run(input);
      const time = ((performance.now() - start) * 1000) / count;
      if (round >= 0) times[at] = Math.min(times[at], time);
    });
  }
  return times;
}

/** Returns the costs of starting, in ms: medians over separate processes, with the file that the package exports for Node. */
function started() {
  const program = `
    const before = performance.now();
    const { sanitize } = await import(${JSON.stringify(new URL('../dist/index.node.js', import.meta.url).href)});
    const loaded = performance.now();
    sanitize({ type: 'object', properties: {} }, { dialect: 'codex' }).schema;
    console.log(JSON.stringify([loaded - before, performance.now() - loaded]));`;
  const runs = Array.from({ length: ONCE ? 1 : 21 }, () =>
    JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })),
  );
  const median = (at) => runs.map((run) => run[at]).sort((one, two) => one - two)[runs.length >> 1];
  return { imported: median(0), firstCall: median(1) };
}
