// Tests the shared instance: the first call starts it, and it is replaced if it traps or has grown large.

import assert from 'node:assert/strict';
import { test } from 'node:test';

let modules = 0;
let instances = 0;
let trap = false;
const { Module, Instance } = WebAssembly;

WebAssembly.Module = class extends Module {
  constructor(...given) {
    super(...given);
    modules++;
  }
};

/** An instance whose calls can be made to trap. */
WebAssembly.Instance = class extends Instance {
  constructor(...given) {
    super(...given);
    instances++;
  }

  get exports() {
    const { call, callText, ...exports } = super.exports;
    return { ...exports, call: trapping(call), callText: trapping(callText) };
  }
};

function trapping(call) {
  return (...values) => {
    if (!trap) return call(...values);
    trap = false;
    throw new WebAssembly.RuntimeError('unreachable');
  };
}

const { normalizeEnvelope, sanitize } = await import('../dist/index.js');

test('the first call starts an instance; importing and later calls do not', () => {
  assert.deepEqual([modules, instances], [0, 0]);
  normalizeEnvelope({}).schema;
  assert.deepEqual([modules, instances], [1, 1]);
  normalizeEnvelope({}).schema;
  assert.throws(() => sanitize({}, { dialect: 'none' }).schema, { code: 'unknown-dialect' });
  assert.deepEqual([modules, instances], [1, 1]);
});

test('after a trap the next call uses a new instance', () => {
  for (const call of [() => normalizeEnvelope({ a: 1 }).schema, () => normalizeEnvelope('{"a":1}').schema]) {
    const expected = call();
    const before = instances;
    trap = true;
    assert.throws(call, (error) => {
      assert.equal(error.code, 'internal');
      assert.ok(error.cause instanceof WebAssembly.RuntimeError);
      return true;
    });
    assert.deepEqual(call(), expected);
    assert.deepEqual([modules, instances], [1, before + 1]);
  }
});

test('an instance that has grown for one huge value is not kept', () => {
  const before = instances;
  normalizeEnvelope(`{"x":"${'a'.repeat(80_000_000)}"}`).schema;
  assert.equal(instances, before);
  normalizeEnvelope({}).schema;
  assert.deepEqual([modules, instances], [1, before + 1]);
});
