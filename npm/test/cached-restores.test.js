// A `Restore` is parsed once, and the instance caches the most recently used ones. Their number, size and order of use
// must not matter: each call is restored by its own `Restore`.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Restore, sanitizeTools } from '../dist/index.js';

/** Returns a restore for a tool with one integer argument with this name, and a description of a given length. */
function restoreOf(member, length = 0) {
  const inputSchema = {
    type: 'object',
    description: 'd'.repeat(length),
    properties: { [member]: { type: 'integer' } },
    required: [member],
  };
  return sanitizeTools([{ name: 'a.b', inputSchema }], { dialect: 'moonshot', repair: true }).restore;
}

function check(restore, member) {
  const found = restore.call('a_b', { [member]: '1' });
  assert.deepEqual([found.name, found.arguments, found.valid], ['a.b', { [member]: 1 }, true]);
  const reply = { content: [{ type: 'tool_use', id: 't', name: 'a_b', input: { [member]: '2' } }] };
  const expected = { content: [{ type: 'tool_use', id: 't', name: 'a.b', input: { [member]: 2 } }] };
  assert.deepEqual(restore.reply(reply).reply, expected);
  assert.equal(restore.reply(JSON.stringify(reply)).reply, JSON.stringify(expected));
  assert.equal(restore.reply(reply).calls[0].valid, true);
  assert.equal(restore.clientCall(reply.content[0]).repaired.valid, true);
  assert.deepEqual(
    new TextDecoder().decode(restore.reply(new TextEncoder().encode(JSON.stringify(reply))).reply),
    JSON.stringify(expected),
  );
}

test('more restores than the cache holds can be used in turn', () => {
  const all = Array.from({ length: 40 }, (_, index) => [`m${index}`, restoreOf(`m${index}`)]);
  for (let round = 0; round < 3; round++) for (const [member, restore] of all) check(restore, member);
  for (const [member, restore] of all) check(Restore.from(JSON.stringify(restore)), member);
});

test('large restores can be used in turn', () => {
  const all = [1_000, 3_000_000, 3_000_000, 6_000_000].map((length, index) => [
    `m${index}`,
    restoreOf(`m${index}`, length),
  ]);
  for (let round = 0; round < 2; round++) for (const [member, restore] of all) check(restore, member);
});

test('reading the arguments of a call may use other restores', () => {
  const restore = restoreOf('own');
  const others = Array.from({ length: 20 }, (_, index) => [`m${index}`, restoreOf(`m${index}`)]);
  const args = {
    get own() {
      for (const [member, other] of others) check(other, member);
      return '1';
    },
  };
  for (let round = 0; round < 2; round++) assert.deepEqual(restore.call('a_b', args).arguments, { own: 1 });
});

test('bytes that are not UTF-8 are returned unchanged', () => {
  const bytes = Uint8Array.of(0x22, 0xff, 0x22);
  const found = restoreOf('a').call('unknown', bytes).arguments;
  assert.deepEqual([...found], [...bytes]);
  assert.notEqual(found, bytes);
});
