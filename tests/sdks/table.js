// The peers, the features that their SDKs lack, and the verdict on a pair.

import { MODERN } from './version.js';

export const FEATURES = [
  'connect',
  'call',
  'error',
  'progress',
  'cancellation',
  'sampling',
  'elicitation',
  'tasks',
  'resources',
  'prompts',
  'apps',
];

const VERSIONS = {
  'TypeScript 1': ['2025-06-18', '2025-11-25'],
  'TypeScript 2': ['2025-06-18', '2025-11-25', MODERN],
  'Python 1': ['2025-06-18', '2025-11-25'],
  'Python 2': ['2025-06-18', '2025-11-25', MODERN],
  Rust: ['2025-06-18', '2025-11-25', MODERN],
};
const all = Object.entries(VERSIONS).flatMap(([sdk, versions]) => versions.map((version) => ({ sdk, version })));
export const PEERS = { client: all, server: all };

/** Features that an SDK lacks: the role, the SDK, the version (if only this version lacks it), the feature, and the reason. */
export const LACKS = [
  ['server', 'TypeScript 2', undefined, 'tasks', 'its server has no tasks'],
  ['client', 'TypeScript 2', MODERN, 'tasks', '`ext-tasks` needs a transport that the host writes'],
  ['client', 'Python 2', undefined, 'tasks', 'it has no tasks'],
  ['server', 'Python 2', undefined, 'tasks', 'it has no tasks'],
];

/** Returns why a pair cannot have a feature, or undefined. */
export function skipped(client, server, feature) {
  for (const [role, sdk, version, lacked, reason] of LACKS) {
    const peer = role === 'client' ? client : server;
    if (lacked === feature && peer.sdk === sdk && (version === undefined || version === peer.version))
      return `${role} ${sdk}: ${reason}`;
  }
  if (feature === 'tasks') {
    for (const { version } of [client, server]) if (version === '2025-06-18') return `MCP ${version} has no tasks`;
    if ((client.version === MODERN) !== (server.version === MODERN)) return 'the two versions have different tasks';
  }
  return undefined;
}

const at = (found, feature) =>
  found[feature] ?? { outcome: 'fails', why: found.connect?.why ?? 'the client has ended' };

/**
 * Returns the outcome of each feature through the proxy, and directly: `passes`, `missing` (not in the SDK), `alone` (fails without the
 * proxy, too, although the peers agree on a version), or `fails`.
 */
export function verdict(client, server, direct, proxied) {
  return Object.fromEntries(
    FEATURES.map((feature) => {
      const missing = skipped(client, server, feature);
      if (missing) return [feature, { outcome: 'missing', why: missing }];
      const [found, alone] = [at(proxied, feature), at(direct, feature)];
      const isOwn =
        found.outcome === 'fails' && alone.outcome === 'fails' && at(direct, 'connect').outcome === 'passes';
      return [feature, { ...found, outcome: isOwn ? 'alone' : found.outcome, direct: alone.outcome }];
    }),
  );
}

/** Returns the number of failures, a line for each kind of peer, and all pairs as Markdown. */
export function table(results) {
  const counts = { passes: 0, missing: 0, alone: 0, fails: 0 };
  let direct = 0;
  let tried = 0;
  for (const { features } of results)
    for (const { outcome, direct: alone } of Object.values(features)) {
      counts[outcome] += 1;
      if (alone) tried += 1;
      if (alone === 'passes') direct += 1;
    }
  const summary =
    `${results.length} pairs, ${tried} features of both peers: ${direct} pass directly, ${counts.passes} through the proxy, ` +
    `${counts.alone} fail with and without it, ${counts.fails} only through it; ${counts.missing} are not in an SDK`;
  const sign = ({ outcome, direct: alone }) =>
    ({ passes: alone === 'passes' ? '✓' : '+', missing: '–', alone: '∅', fails: '✗' })[outcome];
  const rows = results.map(
    ({ client, server, features }) =>
      `| ${client.sdk}, ${client.version} | ${server.sdk}, ${server.version} | ${FEATURES.map((name) => sign(features[name])).join(' | ')} |`,
  );
  const head = `| client | server | ${FEATURES.join(' | ')} |\n|---|---|${FEATURES.map(() => '---').join('|')}|`;
  return { failures: counts.fails, summary, markdown: `${summary}\n\n${head}\n${rows.join('\n')}\n` };
}
