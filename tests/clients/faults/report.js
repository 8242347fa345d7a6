// The result of a session with faults, and the verdict on all sessions.

import { isUnreachable, TOOLS } from './tools.js';

const REACHABLE = TOOLS.filter((tool) => !isUnreachable(tool));

/** Returns the numbers of received tools and successful calls, and the names of the other tools. */
export function counted(seen, accepted, refused) {
  const received = new Set(seen.succeeded());
  const lost = REACHABLE.filter(({ mark }) => !received.has(mark) || !accepted.includes(mark));
  return {
    tools: REACHABLE.filter(({ mark }) => seen.tools.has(mark)).length,
    succeeded: REACHABLE.length - lost.length,
    lost: lost.map(({ fault, definition }) => `${fault} (${definition.name.slice(0, 20)})`),
    refused,
  };
}

/** Returns a table, and the number of sessions in which a tool or a call fails through the proxy. */
export function summary(results) {
  const all = REACHABLE.length;
  const lines = results.map(
    ({ name, isOne, isProxied, tools, succeeded }) =>
      `| ${name} | ${isOne ? 'one server' : 'a server for each fault'} | ${isProxied ? 'through the proxy' : 'directly'} | ${tools} of ${all} | ${succeeded} of ${all} |`,
  );
  const head = '| client | servers | | tools in requests | calls that succeed |\n|---|---|---|--:|--:|';
  const failures = results.filter(({ isProxied, succeeded }) => isProxied && succeeded < all).length;
  return { failures, text: `${head}\n${lines.join('\n')}` };
}
