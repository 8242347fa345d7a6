// Compares toolwire with the other npm packages that make tool schemas fit an API, on the same real tools: plain object in,
// plain object out. Toolwire and the other package take turns in every round; the table gives the median round of each
// and their ratio, and the number of results that our `check` refuses, because a package that does less work is faster.

import { readFileSync } from 'node:fs';

import { check, dialects, sanitize } from '../../dist/index.js';
import { PEERS, versionOf } from './peers.js';

// A test runs each benchmark once.
const ONCE = process.env.TOOLWIRE_BENCH === 'once';
const ROUNDS = ONCE ? 1 : 21;
const [, , data] = process.argv;
if (data === undefined) throw new Error('expected a file with one tool per line, found no argument');

const schemas = readFileSync(data, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line).inputSchema);
const known = new Set(dialects().map(({ name }) => name));

console.log(`npm: ${schemas.length} tools, Node ${process.version}, µs per tool, median of ${ROUNDS} rounds\n`);
line('', '', 'gives up', '', 'refused', '', 'µs', '', '', '');
line('peer', 'our dialect', 'peer', 'ours', 'peer', 'ours', 'peer', 'ours', 'share', 'peer/ours');
for (const peer of PEERS) await compare(peer);

async function compare({ name, description, dialect, load, spelled = (schema) => schema }) {
  const title = `${name} ${versionOf(name)}`;
  if (!known.has(dialect)) return line(title, `${dialect}: not supported yet`);
  const convert = await load();
  const ours = (schema) => sanitize(schema, { dialect }).schema;
  const shared = (schema) => sanitize(schema, { dialect, share: true }).schema;
  const theirs = schemas.filter((schema) => !fails(convert, schema));
  const both = theirs.filter((schema) => !fails(ours, schema));
  const oursFails = schemas.filter((schema) => fails(ours, schema)).length;
  const before = JSON.stringify(both);
  const [peer, our, share] = medians([convert, ours, shared], both);
  if (JSON.stringify(both) !== before) throw new Error(`${name}: expected an unchanged input, found a changed one`);
  // An API does not refuse what it only ignores or reinterprets.
  const isRefused = (schema) => check(schema, { dialect }).some(({ severity }) => severity === 'refused');
  const refused = (run) => both.filter((schema) => isRefused(run(schema))).length;
  const [failing, bad, ourBad] = [
    schemas.length - theirs.length,
    refused((schema) => spelled(convert(schema))),
    refused(ours),
  ];
  const ratio = `${fixed(peer / our)}x`;
  line(title, dialect, failing, oursFails, bad, ourBad, fixed(peer), fixed(our), fixed(share), ratio);
  console.log(`  ${description}`);
}

/** Returns the median time of each function per input, in µs. */
function medians(functions, inputs) {
  const times = functions.map(() => []);
  for (let round = -3; round < ROUNDS; round++) {
    functions.forEach((run, at) => {
      globalThis.gc?.({ type: 'minor' });
      const start = performance.now();
      for (const input of inputs) run(input);
      if (round >= 0) times[at].push(((performance.now() - start) * 1000) / inputs.length);
    });
  }
  return times.map((list) => list.sort((one, two) => one - two)[ROUNDS >> 1]);
}

function fails(convert, schema) {
  try {
    convert(schema);
    return false;
  } catch {
    return true;
  }
}

function fixed(number) {
  // A peer may fail for each of a few tools.
  return Number.isFinite(number) ? number.toFixed(1) : '–';
}

function line(peer, dialect, ...cells) {
  console.log([peer.padEnd(34), dialect.padEnd(18), ...cells.map((cell) => String(cell).padStart(9))].join(' '));
}
