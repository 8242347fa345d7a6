// Measures an agent's session: the same tools in each of 50 requests, with one change of the list in between. The time covers everything
// for a request's `tools`, from the tools as their server lists them to JSON text for the body, including the first request. The peers
// have no cache: they convert the tools again for each request, as an SDK call does.

import { readFileSync } from 'node:fs';

import { sanitizeTools, ToolSet } from '../../dist/index.js';
import { PEERS, versionOf } from './peers.js';

// A test runs each benchmark once.
const ONCE = process.env.TOOLWIRE_BENCH === 'once';
const ROUNDS = ONCE ? 1 : 15;
const REQUESTS = 50;
const [, , data] = process.argv;
if (data === undefined) throw new Error('expected a file with one tool per line, found no argument');

const list = readFileSync(data, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
// The result of `tools/list` after a change: new objects throughout, and one tool with a different description.
const changed = JSON.parse(JSON.stringify(list));
changed[0].description = `${changed[0].description ?? ''} (changed)`;
const at = (request) => (request < REQUESTS / 2 ? list : changed);

console.log(
  `npm: ${list.length} tools, ${REQUESTS} requests, Node ${process.version}, µs per request, median of ${ROUNDS} rounds\n`,
);
line('peer', 'our dialect', 'peer', 'sanitizeTools', 'ToolSet', 'peer/ToolSet');
for (const peer of PEERS) {
  const convert = await peer.load();
  const { dialect } = peer;
  const theirs = (tools) => JSON.stringify(tools.flatMap((tool) => converted(convert, tool)));
  const times = medians([
    () => session(theirs),
    () => session((tools) => JSON.stringify(sanitizeTools(tools, { dialect }).tools)),
    () => {
      const set = new ToolSet(list);
      let length = 0;
      for (let request = 0; request < REQUESTS; request++) {
        // An MCP client is notified of a change; until then, nothing has to be updated.
        if (request === REQUESTS / 2) set.update(changed);
        length += set.sanitize({ dialect }).json.length;
      }
      return length;
    },
  ]);
  const [their, each, ours] = times.map((time) => time / REQUESTS);
  line(`${peer.name} ${versionOf(peer.name)}`, dialect, ...[their, each, ours].map(fixed), `${fixed(their / ours)}x`);
}

function session(make) {
  let length = 0;
  for (let request = 0; request < REQUESTS; request++) length += make(at(request)).length;
  return length;
}

/** Converts a tool. A tool that the peer cannot convert is left out of the request. */
function converted(convert, { name, description, inputSchema }) {
  try {
    return [{ name, description, parameters: convert(inputSchema) }];
  } catch {
    return [];
  }
}

/** Returns the time of each function, in µs. The functions take turns. */
function medians(functions) {
  const times = functions.map(() => []);
  for (let round = -2; round < ROUNDS; round++) {
    functions.forEach((run, at) => {
      globalThis.gc?.({ type: 'minor' });
      const start = performance.now();
      run();
      if (round >= 0) times[at].push((performance.now() - start) * 1000);
    });
  }
  return times.map((list) => list.sort((one, two) => one - two)[ROUNDS >> 1]);
}

function fixed(number) {
  return number.toFixed(number < 100 ? 1 : 0);
}

function line(peer, dialect, ...cells) {
  console.log([peer.padEnd(34), dialect.padEnd(18), ...cells.map((cell) => String(cell).padStart(14))].join(' '));
}
