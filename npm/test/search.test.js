// Tests `ToolIndex`: it is independent of other indexes and of the shared calls, and lives as long as it is referenced.

import assert from 'node:assert/strict';
import { test } from 'node:test';

let trap = false;
const { Instance } = WebAssembly;

/** An instance whose searches in an index can be made to trap. */
WebAssembly.Instance = class extends Instance {
  get exports() {
    const { searchIndex, ...exports } = super.exports;
    const trapping = (...values) => {
      if (!trap) return searchIndex(...values);
      trap = false;
      throw new WebAssembly.RuntimeError('unreachable');
    };
    return { ...exports, searchIndex: trapping };
  }
};

const { normalizeEnvelope, searchTools, ToolIndex } = await import('../dist/index.js');

const tools = (count, word) =>
  Array.from({ length: count }, (_, number) => ({ name: `${word}_${number}`, description: `About ${word}` }));

test('indexes are independent of each other and of the shared calls', () => {
  const mails = new ToolIndex(tools(3, 'mail'));
  const rooms = new ToolIndex(JSON.stringify({ tools: tools(2, 'room') }));
  for (let round = 0; round < 3; round++) {
    assert.deepEqual([mails.size, rooms.size], [3, 2]);
    assert.deepEqual(mails.search('mail'), ['mail_0', 'mail_1', 'mail_2']);
    assert.deepEqual(mails.search('room'), []);
    assert.deepEqual(searchTools([{ name: 'other' }], 'other'), ['other']);
    assert.deepEqual(rooms.search('room', { limit: 1 }), ['room_0']);
    assert.deepEqual(normalizeEnvelope({}).schema, { type: 'object', properties: {} });
  }
});

test('an index does not change with its list', () => {
  const list = tools(1, 'mail');
  const index = new ToolIndex(list);
  list[0].name = 'renamed';
  list.push({ name: 'mail_late' });
  assert.deepEqual(index.search('mail'), ['mail_0']);
});

test('a large index still works after a large value', () => {
  const index = new ToolIndex(tools(20_000, 'mail'));
  normalizeEnvelope({ description: 'x'.repeat(40_000_000) }).schema;
  assert.equal(index.size, 20_000);
  assert.deepEqual(index.search('mail 19999', { limit: 1 }), ['mail_19999']);
});

test('an invalid tool list or query is an error, and the index is kept', () => {
  assert.throws(() => new ToolIndex(7), { code: 'invalid-request', pointer: '' });
  assert.throws(() => new ToolIndex('[{'), { code: 'invalid-json' });
  const index = new ToolIndex(tools(1, 'mail'));
  assert.throws(() => index.search(7), { code: 'invalid-value', pointer: '/query' });
  assert.throws(() => index.search(' '), { code: 'empty-query' });
  assert.deepEqual(index.search('mail'), ['mail_0']);
});

test('after a trap the index reports that it is lost', () => {
  const index = new ToolIndex(tools(1, 'mail'));
  trap = true;
  assert.throws(() => index.search('mail'), { code: 'internal', message: /its data is lost: create it again/ });
  assert.throws(() => index.search('mail'), { code: 'internal', message: /create it again/ });
  assert.deepEqual(new ToolIndex(tools(1, 'mail')).search('mail'), ['mail_0']);
});
