// Measures the time per real MCP tool, in µs, for text and for values, compared with V8's parsing and printing; the
// time of the first call; and sizes. The contenders take turns in every round, each with all tools at once ("batched");
// the table gives the median round.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import { applyDeferredLoading, normalizeEnvelope, sanitize } from '../dist/index.js';

// A test runs each benchmark once.
const ONCE = process.env.TOOLWIRE_BENCH === 'once';
const ROUNDS = ONCE ? 1 : 41;
const data = process.argv[2] ?? new URL('../../../shared/data/mcp_tools.jsonl', import.meta.url);
if (!existsSync(data)) {
  console.log(
    `expected tools as JSON lines, found nothing at ${data}; name another file: npm run bench -- tools.jsonl`,
  );
  process.exit(1);
}

const values = readFileSync(data, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line).inputSchema);
const texts = values.map((value) => JSON.stringify(value));
const bytes = texts.map((text) => new TextEncoder().encode(text));
const request = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
const requests = values.map((input_schema, at) => ({ ...request, tools: [{ name: `tool_${at}`, input_schema }] }));
const requestTexts = requests.map((value) => JSON.stringify(value));

const size = texts.reduce((total, text) => total + text.length, 0);
const wire = { dialect: 'codex-wire' };
const codex = { dialect: 'codex' };
const share = { ...codex, share: true };

/** Groups of contenders. In each group, the others are compared with the first. */
const groups = {
  'text → text': {
    'JSON.parse + JSON.stringify': [texts, (text) => JSON.stringify(JSON.parse(text))],
    'sanitize codex, text': [texts, (text) => sanitize(text, codex).schema],
    'sanitize codex-wire, text': [texts, (text) => sanitize(text, wire).schema],
    'sanitize codex, Uint8Array': [bytes, (text) => sanitize(text, codex).schema],
    'normalizeEnvelope, text': [texts, (text) => normalizeEnvelope(text).schema],
    'applyDeferredLoading, one tool, text': [requestTexts, (text) => applyDeferredLoading(text).request],
  },
  'object → object': {
    structuredClone: [values, (value) => structuredClone(value)],
    'JSON.parse(JSON.stringify())': [values, (value) => JSON.parse(JSON.stringify(value))],
    'sanitize codex': [values, (value) => sanitize(value, codex).schema],
    'sanitize codex, share': [values, (value) => sanitize(value, share).schema],
    'sanitize codex-wire': [values, (value) => sanitize(value, wire).schema],
    normalizeEnvelope: [values, (value) => normalizeEnvelope(value).schema],
    'normalizeEnvelope, share': [values, (value) => normalizeEnvelope(value, { share: true }).schema],
    'applyDeferredLoading, one tool': [requests, (value) => applyDeferredLoading(value).request],
    'applyDeferredLoading, one tool, share': [
      requests,
      (value) => applyDeferredLoading(value, { share: true }).request,
    ],
  },
};

console.log(
  `${values.length} tools, ${(size / values.length / 1000).toFixed(2)} KB each; Node ${process.version}; ${ROUNDS} rounds, median\n`,
);
for (const [title, contenders] of Object.entries(groups)) report(title, contenders);
firstCall();
sizes();

function report(title, contenders) {
  const names = Object.keys(contenders);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -5; round < ROUNDS; round++) {
    for (const name of names) {
      const [inputs, run] = contenders[name];
      globalThis.gc?.({ type: 'minor' });
      const start = performance.now();
      for (const input of inputs) run(input);
      const time = performance.now() - start;
      if (round >= 0) times[name].push((time * 1000) / inputs.length);
    }
  }
  const median = (name) => times[name].sort((one, two) => one - two)[ROUNDS >> 1];
  const first = median(names[0]);
  console.log(title.padEnd(40), 'µs each'.padStart(12), 'ratio'.padStart(7));
  for (const name of names) {
    const time = median(name);
    console.log(`  ${name}`.padEnd(40), time.toFixed(2).padStart(12), (time / first).toFixed(2).padStart(7));
  }
  console.log();
}

/** Measures the costs of starting, in separate processes. */
function firstCall() {
  const program = `
    const before = performance.now();
    const { sanitize } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)});
    const loaded = performance.now();
    sanitize({ type: 'object', properties: {} }, { dialect: 'codex' }).schema;
    console.log(JSON.stringify([loaded - before, performance.now() - loaded]));`;
  const runs = Array.from({ length: ONCE ? 1 : 9 }, () =>
    JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })),
  );
  const median = (at) =>
    runs
      .map((run) => run[at])
      .sort((one, two) => one - two)
      [runs.length >> 1].toFixed(1);
  console.log(`import ${median(0)} ms, first call ${median(1)} ms (median of ${runs.length} processes)\n`);
}

function sizes() {
  const kilobytes = (file) => {
    const content = readFileSync(new URL(file, import.meta.url));
    return `${(content.length / 1000).toFixed(1)} KB, ${(gzipSync(content, { level: 9 }).length / 1000).toFixed(1)} KB gzip`;
  };
  console.log(`toolwire.wasm: ${kilobytes('../dist/toolwire.wasm')}`);
  console.log(`index.js: ${kilobytes('../dist/index.js')}`);
}
