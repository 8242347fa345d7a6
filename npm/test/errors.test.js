// Tests errors: one class, codes that are part of the API, messages that explain, and an instance that still works afterwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';

import {
  applyDeferredLoading,
  check,
  dialects,
  normalizeEnvelope,
  sanitize,
  stripDeferralBetas,
  ToolwireError,
} from '../dist/index.js';

function caught(call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof ToolwireError, String(error));
    return error;
  }
  return assert.fail('expected an error');
}

test('errors have their own class', () => {
  const error = caught(() => sanitize('{"a": ', { dialect: 'codex' }).schema);
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'ToolwireError');
  // Logs often contain only the message, or print the class.
  assert.equal(error.message, `${error.code}${error.pointer && ` at \`${error.pointer}\``}: ${error.detail}`);
  assert.match(inspect(ToolwireError), /^\[class ToolwireError extends Error\]/);
  assert.equal(error.code, 'invalid-json');
  assert.equal(error.pointer, '/a');
  assert.match(error.message, /line 1, column 7/);
  assert.equal('changes' in error, false);
  assert.match(error.stack, /^ToolwireError: /);
  assert.deepEqual(Object.keys(error).sort(), ['code', 'pointer']);
});

test('an unknown dialect names the known ones', () => {
  const { code, pointer, message } = caught(() => sanitize({}, { dialect: 'codec' }).schema);
  assert.deepEqual([code, pointer], ['unknown-dialect', '/dialect']);
  for (const { name } of dialects()) assert.ok(message.includes(`\`${name}\``), message);
});

test('a missing dialect, missing options, and options that are not an object are errors', () => {
  assert.equal(caught(() => sanitize({}, {}).schema).pointer, '/dialect');
  assert.equal(caught(() => sanitize({}).schema).pointer, '/dialect');
  assert.equal(caught(() => check({}, null)).pointer, '/dialect');
  assert.equal(caught(() => sanitize({}, 'codex').schema).code, 'invalid-option');
  assert.equal(caught(() => normalizeEnvelope({}, []).schema).code, 'invalid-option');
});

test('a header is a string or missing', () => {
  assert.equal(stripDeferralBetas(undefined), null);
  assert.equal(stripDeferralBetas(null), null);
  for (const value of [7, ['a'], { 'anthropic-beta': 'a' }]) {
    const { code, pointer, message } = caught(() => stripDeferralBetas(value));
    assert.deepEqual([code, pointer], ['invalid-value', '']);
    assert.match(message, /expected the value of an `anthropic-beta` header to be a string, found /);
  }
});

test('an unknown option names the known ones', () => {
  const { code, pointer, message } = caught(() => normalizeEnvelope({}, { shared: true }).schema);
  assert.deepEqual([code, pointer], ['unknown-option', '/shared']);
  assert.match(message, /`share`/);
});

test('an undefined option counts as missing', () => {
  assert.deepEqual(sanitize({ type: 'string' }, { dialect: 'codex', maxBytes: undefined, share: undefined }).schema, {
    type: 'string',
  });
});

test('too-lossy carries the changes', () => {
  const lossy = { type: 'object', properties: {}, description: 'd', examples: [1] };
  const { changes } = sanitize(lossy, { dialect: 'codex-wire' });
  const schema = { type: 'object', properties: { a: {}, b: { type: 'string', pattern: 'x' } } };
  const error = caught(() => sanitize(schema, { dialect: 'codex-wire', allow: 'same' }).schema);
  assert.equal(error.code, 'too-lossy');
  assert.ok(error.changes.length > 0);
  assert.deepEqual(Object.keys(error.changes[0]), Object.keys(changes[0]));
});

test('a value that is not a request is an error', () => {
  assert.equal(caught(() => applyDeferredLoading({}).request).code, 'invalid-request');
});

test('errors leave no state behind', () => {
  const options = { dialect: 'codex' };
  const input = { properties: { a: { const: 1 } } };
  const before = JSON.stringify(sanitize(input, options).schema);
  for (let round = 0; round < 1000; round++) {
    caught(() => sanitize({ a: [round, 1n] }, options).schema);
    caught(() => sanitize(`{"a":[${round},]}`, options).schema);
    caught(() => sanitize({}, { dialect: `d${round}` }).schema);
  }
  assert.equal(JSON.stringify(sanitize(input, options).schema), before);
});

test('a stack overflow is an error of this call only', () => {
  const options = { dialect: 'codex' };
  const value = { properties: { a: { const: 1 }, list: { items: { items: { items: {} } } } } };
  const expected = JSON.stringify(sanitize(value, options).schema);
  const kinds = new Set();
  (function deeper() {
    try {
      deeper();
    } catch {
      // The stack is almost full: each frame on the way back retries with a little more free space.
    }
    if (kinds.has('done') || kinds.size > 50) return;
    try {
      assert.equal(JSON.stringify(sanitize(value, options).schema), expected);
      kinds.add('done');
    } catch (error) {
      assert.ok(error instanceof RangeError || error.code === 'internal', error);
      kinds.add(error);
    }
  })();
  assert.ok(kinds.size > 1, 'the stack was never exhausted');
  assert.equal(JSON.stringify(sanitize(value, options).schema), expected);
});
