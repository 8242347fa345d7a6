// The text path: types in and out, bytes that are no UTF-8, strings that UTF-8 cannot carry.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkJson, normalizeEnvelopeJson, normalizeEnvelopeJsonWithReport, sanitizeJson } from '../dist/index.js';

const bytes = (text) => new TextEncoder().encode(text);
const unrepaired = '{"x":"ü€😀\\ud83d", "n": 1.0 }';
const repaired = '{"type":"object","properties":{},"x":"ü€😀\\ud83d","n":1.0}';
const fine = ' {"type":"object","properties":{},"x":"ü"} ';

test('a string gives a string, bytes give bytes, a Buffer gives a Buffer', () => {
  assert.equal(normalizeEnvelopeJson(unrepaired), repaired);
  const plain = normalizeEnvelopeJson(bytes(unrepaired));
  assert.equal(Object.getPrototypeOf(plain), Uint8Array.prototype);
  assert.deepEqual(plain, bytes(repaired));
  const buffer = normalizeEnvelopeJson(Buffer.from(unrepaired));
  assert.ok(Buffer.isBuffer(buffer));
  assert.equal(buffer.toString(), repaired);
  assert.equal(normalizeEnvelopeJsonWithReport(Buffer.from(unrepaired)).schema.toString(), repaired);
});

test('bytes in the middle of a larger buffer', () => {
  const whole = bytes(`###${unrepaired}###`);
  assert.deepEqual(normalizeEnvelopeJson(whole.subarray(3, whole.length - 3)), bytes(repaired));
});

test('bytes that come back are the caller’s to keep', () => {
  const first = normalizeEnvelopeJson(bytes(unrepaired));
  normalizeEnvelopeJson(bytes('{"overwritten":true}'));
  assert.deepEqual(first, bytes(repaired));
});

test('text without a change is the very same', () => {
  assert.equal(normalizeEnvelopeJson(fine), fine);
  for (const input of [bytes(fine), Buffer.from(fine)]) assert.equal(normalizeEnvelopeJson(input), input);
});

test('a byte order mark at the start of a string survives', () => {
  assert.equal(normalizeEnvelopeJson('{"x":"\ufeff"}'), '{"type":"object","properties":{},"x":"\ufeff"}');
});

test('bytes that are no UTF-8', () => {
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
      () => sanitizeJson(input, { dialect: 'codex' }),
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

test('an error before the unreadable place comes first', () => {
  assert.throws(() => normalizeEnvelopeJson(Uint8Array.of(...bytes('{"a":[1,]} '), 0xff)), {
    code: 'invalid-json',
    message: /`\]`/,
  });
  assert.throws(() => normalizeEnvelopeJson('{"a":[1,]} \ud800'), { code: 'invalid-json', message: /`\]`/ });
});

test('half a surrogate pair is refused, not replaced', () => {
  for (const half of ['\ud800', '\udc00', '\udc00\ud800']) {
    assert.throws(
      () => normalizeEnvelopeJson(`{"a":\n["😀", "x${half}"]}`),
      (error) => {
        assert.deepEqual([error.code, error.pointer], ['invalid-json', '/a/1'], error.message);
        assert.match(error.message, /half of a surrogate pair.*\(line 2, column 9\)$/);
        return true;
      },
    );
  }
  assert.throws(() => normalizeEnvelopeJson('\ud800'), { code: 'invalid-json', pointer: '' });
});

test('what is no text', () => {
  for (const input of [{}, [], null, undefined, 1, new ArrayBuffer(2), new Uint16Array(2)]) {
    assert.throws(() => normalizeEnvelopeJson(input), {
      code: 'invalid-value',
      pointer: '',
      detail: /^expected JSON text as a string or/,
    });
    assert.throws(() => checkJson(input, { dialect: 'codex' }), { code: 'invalid-value' });
  }
});

test('large texts, of one and of several bytes a character', () => {
  for (const character of ['a', '€', '😀']) {
    const long = character.repeat(5_000_000);
    const result = normalizeEnvelopeJson(`{"x":"${long}"}`);
    assert.equal(result.length, long.length + '{"type":"object","properties":{},"x":""}'.length);
    assert.equal(JSON.parse(result).x, long);
  }
  assert.equal(normalizeEnvelopeJson(fine), fine);
});
