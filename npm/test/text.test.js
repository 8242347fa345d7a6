// Tests the text path: types of input and output, bytes that are not UTF-8, strings that UTF-8 cannot encode.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { check, normalizeEnvelope, sanitize } from '../dist/index.js';

const bytes = (text) => new TextEncoder().encode(text);
const unrepaired = '{"x":"ü€😀\\ud83d", "n": 1.0 }';
const repaired = '{"type":"object","properties":{},"x":"ü€😀\\ud83d","n":1.0}';
const fine = ' {"type":"object","properties":{},"x":"ü"} ';

test('a string gives a string, bytes give bytes, a Buffer gives a Buffer', () => {
  assert.equal(normalizeEnvelope(unrepaired).schema, repaired);
  const plain = normalizeEnvelope(bytes(unrepaired)).schema;
  assert.equal(Object.getPrototypeOf(plain), Uint8Array.prototype);
  assert.deepEqual(plain, bytes(repaired));
  const buffer = normalizeEnvelope(Buffer.from(unrepaired)).schema;
  assert.ok(Buffer.isBuffer(buffer));
  assert.equal(buffer.toString(), repaired);
  assert.equal(normalizeEnvelope(Buffer.from(unrepaired)).schema.toString(), repaired);
});

test('only the bytes of a view of a larger buffer are read', () => {
  const whole = bytes(`###${unrepaired}###`);
  assert.deepEqual(normalizeEnvelope(whole.subarray(3, whole.length - 3)).schema, bytes(repaired));
});

test('returned bytes are not overwritten by the next call', () => {
  const first = normalizeEnvelope(bytes(unrepaired)).schema;
  normalizeEnvelope(bytes('{"overwritten":true}')).schema;
  assert.deepEqual(first, bytes(repaired));
});

test('unchanged text is returned as the same object', () => {
  assert.equal(normalizeEnvelope(fine).schema, fine);
  for (const input of [bytes(fine), Buffer.from(fine)]) assert.equal(normalizeEnvelope(input).schema, input);
});

test('a byte order mark at the start of a string is kept', () => {
  assert.equal(normalizeEnvelope('{"x":"\ufeff"}').schema, '{"type":"object","properties":{},"x":"\ufeff"}');
});

test('bytes that are not UTF-8 are refused with their position', () => {
  const broken = (before, ...rest) => Uint8Array.of(...bytes(before), ...rest);
  const cases = [
    [broken('{"a":["', 0xff, 0x22), '/a/0', '`0xff` (line 1, column 8)'],
    [broken('{"a":\n {"ü":"ü', 0xc3, 0x28), '/a/ü', '`0xc3` (line 2, column 9)'],
    [broken('{"a":1', 0xe2, 0x82), '', '`0xe2`'],
    [broken('{"a":1} ', 0x80), '', '`0x80` (line 1, column 9)'],
    [broken('', 0xed, 0xa0, 0x80), '', '`0xed` (line 1, column 1)'],
  ];
  for (const [input, pointer, shown] of cases) {
    assert.throws(
      () => sanitize(input, { dialect: 'codex' }).schema,
      (error) => {
        assert.deepEqual([error.code, error.pointer], ['invalid-json', pointer], error.message);
        assert.ok(
          error.detail.startsWith('expected UTF-8, found the byte ') && error.detail.includes(shown),
          error.message,
        );
        return true;
      },
    );
  }
});

test('a syntax error before an invalid byte is reported first', () => {
  assert.throws(() => normalizeEnvelope(Uint8Array.of(...bytes('{"a":[1,]} '), 0xff)).schema, {
    code: 'invalid-json',
    message: /`\]`/,
  });
  assert.throws(() => normalizeEnvelope('{"a":[1,]} \ud800').schema, { code: 'invalid-json', message: /`\]`/ });
});

test('a lone surrogate is refused, not replaced', () => {
  for (const half of ['\ud800', '\udc00', '\udc00\ud800']) {
    assert.throws(
      () => normalizeEnvelope(`{"a":\n["😀", "x${half}"]}`).schema,
      (error) => {
        assert.deepEqual([error.code, error.pointer], ['invalid-json', '/a/1'], error.message);
        assert.match(error.message, /half of a surrogate pair.*\(line 2, column 9\)$/);
        return true;
      },
    );
  }
  assert.throws(() => normalizeEnvelope('\ud800').schema, { code: 'invalid-json', pointer: '' });
});

test('buffers other than byte arrays are refused', () => {
  for (const input of [new ArrayBuffer(2), new Uint16Array(2)]) {
    assert.throws(() => normalizeEnvelope(input), { code: 'invalid-value', pointer: '' });
    assert.throws(() => check(input, { dialect: 'codex' }), { code: 'invalid-value', pointer: '' });
  }
});

test('a report describes the text at the time of the call', () => {
  const input = bytes(unrepaired);
  const result = normalizeEnvelope(input);
  input.fill(0x20);
  assert.deepEqual(result.changes, normalizeEnvelope(unrepaired).changes);
  assert.notEqual(result.changes.length, 0);
});

test('large text passes through, with one and with several bytes per character', () => {
  for (const character of ['a', '€', '😀']) {
    const long = character.repeat(5_000_000);
    const result = normalizeEnvelope(`{"x":"${long}"}`).schema;
    assert.equal(result.length, long.length + '{"type":"object","properties":{},"x":""}'.length);
    assert.equal(JSON.parse(result).x, long);
  }
  assert.equal(normalizeEnvelope(fine).schema, fine);
});
