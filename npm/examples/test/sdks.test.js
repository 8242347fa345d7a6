// The logic of the suites of tests/sdks, without SDKs.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compared } from '../../../tests/sdks/checks.js';
import { findings, judged } from '../../../tests/sdks/findings.js';
import { FEATURES, PEERS, skipped, table, verdict } from '../../../tests/sdks/table.js';
import { limited, MODERN } from '../../../tests/sdks/version.js';

const peer = (sdk, version) => ({ sdk, version });
const all = (outcome) => Object.fromEntries(FEATURES.map((feature) => [feature, { outcome, why: 'a reason' }]));
const legacy = peer('TypeScript 1', '2025-11-25');
const modern = peer('Python 2', MODERN);

test('a feature that works only without the proxy fails', () => {
  const proxied = { ...all('passes'), sampling: { outcome: 'fails', why: 'refused' } };
  const features = verdict(legacy, legacy, all('passes'), proxied);
  assert.deepEqual(features.sampling, { outcome: 'fails', why: 'refused', direct: 'passes' });
  const report = table([{ client: legacy, server: legacy, features }]);
  assert.equal(report.failures, 1);
  assert.match(
    report.summary,
    /^1 pairs, 11 features of both peers: 11 pass directly, 10 through the proxy, 0 fail .* 1 only/,
  );
  assert.match(report.markdown, /\| ✗ \|/);
});

test('a feature fails if the client ended before it, or could not connect', () => {
  assert.equal(verdict(legacy, legacy, all('passes'), {}).call.outcome, 'fails');
  const proxied = { connect: { outcome: 'fails', why: 'no version' } };
  assert.deepEqual(verdict(modern, legacy, {}, proxied).call, { outcome: 'fails', why: 'no version', direct: 'fails' });
});

test('a feature that fails without the proxy is not a failure of the proxy, if the peers agree on a version', () => {
  const broken = { ...all('passes'), tasks: { outcome: 'fails', why: 'not called' } };
  assert.equal(verdict(legacy, legacy, broken, broken).tasks.outcome, 'alone');
  assert.equal(verdict(legacy, legacy, {}, broken).tasks.outcome, 'fails');
});

test('what an SDK or a version lacks is named', () => {
  assert.match(skipped(legacy, peer('Python 2', '2025-11-25'), 'tasks'), /server Python 2: /);
  assert.match(skipped(legacy, peer('TypeScript 1', '2025-06-18'), 'tasks'), /MCP 2025-06-18/);
  assert.match(skipped(peer('Rust', MODERN), legacy, 'tasks'), /different tasks/);
  assert.equal(skipped(legacy, legacy, 'tasks'), undefined);
  assert.equal(skipped(legacy, modern, 'sampling'), undefined);
});

test('every SDK is a client and a server in each of its versions', () => {
  assert.equal(PEERS.client.length * PEERS.server.length, 169);
});

test('a peer is kept to its version', () => {
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } };
  assert.equal(limited('client', '2025-06-18', initialize).params.protocolVersion, '2025-06-18');
  assert.equal(limited('server', MODERN, initialize).reply.error.code, -32022);
  const discover = { jsonrpc: '2.0', id: 1, method: 'server/discover' };
  assert.equal(limited('server', '2025-06-18', discover).reply.error.code, -32601);
  assert.equal(limited('client', '2025-06-18', discover), discover);
});

test('a conformance check that is worse through the proxy fails the suite, unless it is explained', () => {
  const direct = { a: ['SUCCESS', 'SUCCESS'], b: ['FAILURE'], c: ['SUCCESS'] };
  assert.deepEqual(compared(direct, direct, {}), { direct: 3, proxied: 3, failures: 0, lines: [] });
  const worse = compared(direct, { a: ['SUCCESS', 'FAILURE'], b: ['FAILURE'] }, { c: 'a reason' });
  assert.equal(worse.failures, 1);
  assert.deepEqual(worse.lines, [
    'WORSE: a: SUCCESS SUCCESS directly, SUCCESS FAILURE through the proxy',
    'c: SUCCESS directly, absent through the proxy (a reason)',
  ]);
  assert.equal(compared(direct, direct, { c: 'a reason' }).failures, 1);
  assert.equal(compared(direct, { ...direct, d: ['FAILURE'] }, {}).failures, 1);
  assert.equal(compared({}, {}, {}).failures, 1);
});

test('an error of the Inspector about an input fails the suite, and so does a lost tool', () => {
  const report = (severity, path) =>
    `${severity}: tool "a"\n  Path: ${path}\n  Issue: Bare \`true\`.\n  Suggestion: none\n\n`;
  const list = JSON.stringify({ tools: [{ name: 'a' }] });
  const input = report('Error', 'inputSchema.properties.a');
  const output = report('Error', 'outputSchema.properties.a');
  const directly = findings(6, list, input + output + report('Warning', 'inputSchema.properties.b'));
  const { lines, ...counts } = directly;
  assert.deepEqual(counts, { code: 6, tools: 1, errors: 2, inputs: 1, warnings: 1 });
  assert.equal(lines.length, 3);
  assert.equal(judged(directly, [findings(6, list, output)]), true);
  assert.equal(judged(directly, [findings(6, list, input)]), false);
  assert.equal(judged(directly, [findings(0, '{"tools":[]}', '')]), false);
  assert.equal(judged(findings(0, list, ''), [findings(0, list, '')]), false);
});
