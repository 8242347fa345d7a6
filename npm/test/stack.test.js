// Tests the stack of the released WebAssembly: hard shapes, through every function in every dialect, give a result or an error with a
// code that the caller can act on, never a trap. `core/tests/stack.rs` runs the same shapes natively, in 512 KiB.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  adaptRequest,
  applyDeferredLoading,
  check,
  checkTools,
  dialects,
  normalizeEnvelope,
  repairArguments,
  restoreArguments,
  sanitize,
  sanitizeTools,
  ToolwireError,
  validateArguments,
} from '../dist/index.js';

const names = dialects().map(({ name }) => name);

const WRAPPERS = [
  ['{"type":"object","properties":{"a":', '}}'],
  ['{"type":"object","required":["a"],"additionalProperties":', '}'],
  ['{"type":"array","items":', '}'],
  ['{"allOf":[', ']}'],
  ['{"anyOf":[{"type":"null"},', ']}'],
  ['{"oneOf":[{"type":"null"},', ']}'],
  ['{"not":', '}'],
  ['{"if":', ',"then":{"minLength":1}}'],
  ['{"properties":{"a":{"allOf":[', ']}}}'],
  ['{"prefixItems":[', ']}'],
  ['{"enum":[', ']}'],
  ['{"default":', '}'],
  ['{"x-unknown":', '}'],
];

/** Nests an innermost schema in a number of levels, as a property. */
function nested(levels, [open, close]) {
  return `{"type":"object","properties":{"v":${open.repeat(levels)}{"type":"string"}${close.repeat(levels)}}}`;
}

const RINGS = [
  (next) => `{"$ref":"#/$defs/d${next}"}`,
  (next) => `{"allOf":[{"$ref":"#/$defs/d${next}"}]}`,
  (next) => `{"type":"object","properties":{"n":{"allOf":[{"$ref":"#/$defs/d${next}"}]}}}`,
  (next) => `{"anyOf":[{"type":"null"},{"$ref":"#/$defs/d${next}"}],"minLength":${next}}`,
];

/** Returns a ring of definitions, each of which refers to the next, and the last to the first. */
function ring(count, definition) {
  const table = Array.from({ length: count }, (_, at) => `"d${at}":${definition((at + 1) % count)}`);
  return `{"type":"object","properties":{"v":{"$ref":"#/$defs/d0"}},"$defs":{${table.join(',')}}}`;
}

const deep = (open, close) => `{"v":${open.repeat(250)}1${close.repeat(250)}}`;

/** Arguments for these schemas: deeply nested values, and JSON texts that contain such values. */
const ARGUMENTS = [
  deep('{"a":', '}'),
  deep('[', ']'),
  deep('{"n":{"item":[', ']}}'),
  deep('{"arguments":', '}'),
  `{"v":${[1, 2, 3, 4].reduce((text) => JSON.stringify(text), '{"a":1}')},}`,
  `{"v":${'['.repeat(400)}`,
];

/** Counts the results of calls. */
function counting() {
  const counts = { calls: 0, errors: {} };
  const attempt = (call) => {
    counts.calls++;
    try {
      return call();
    } catch (error) {
      assert.ok(error instanceof ToolwireError, String(error));
      assert.notEqual(error.code, 'internal', error.message);
      counts.errors[error.code] = (counts.errors[error.code] ?? 0) + 1;
      return undefined;
    }
  };
  return { counts, attempt };
}

// Half of the largest default, so that a shape that exhausts its budget does so soon.
const maxSteps = 2_000_000;

/** Calls every function with one schema. */
function all(schema, attempt) {
  const value = JSON.parse(schema);
  const tool = `{"name":"t","description":"d","input_schema":${schema}`;
  for (const dialect of names) {
    const options = { dialect, maxSteps };
    attempt(() => check(schema, options));
    attempt(() => sanitize(value, options).schema);
    const found = attempt(() => sanitize(schema, options));
    if (found !== undefined) attempt(() => check(found.schema, options));
    for (const args of ['{"v":{"v":"[1]"},"a":null}', schema])
      attempt(() => found && restoreArguments(args, found.restorePlan));
    attempt(() => sanitizeTools(`[${tool}}]`, options));
    attempt(() => adaptRequest(`{"messages":[],"tools":[${tool}}]}`, { ...options, format: 'anthropic' }));
  }
  attempt(() => checkTools(`[${tool}}]`, { dialects: names }));
  attempt(() => normalizeEnvelope(schema).schema);
  const repair = { useDefaults: true, removeAdditional: true };
  const sent = attempt(() => sanitizeTools(`[${tool}}]`, { dialect: 'openai-strict', maxSteps, repair }));
  for (const args of [...ARGUMENTS, schema]) {
    attempt(() => validateArguments(args, schema));
    attempt(() => repairArguments(args, schema, repair).arguments);
    attempt(() => sent?.restore.call('t', args));
  }
  const messages = `[{"role":"user","content":[${schema}]}]`;
  attempt(() => applyDeferredLoading(`{"messages":${messages},"tools":[${tool},"defer_loading":true}]}`).request);
}

const SHAPES = [
  ...[250, 2000].map((levels) => [
    `keywords in one another, ${levels} levels`,
    WRAPPERS.map((wrapper) => nested(levels, wrapper)),
  ]),
  ...[100, 500].map((count) => [`rings of ${count} definitions`, RINGS.map((definition) => ring(count, definition))]),
];

for (const [what, schemas] of SHAPES) {
  test(`${what} cause a result or an error, never a trap`, (t) => {
    const { counts, attempt } = counting();
    for (const schema of schemas) all(schema, attempt);
    t.diagnostic(`${counts.calls} calls; errors: ${JSON.stringify(counts.errors)}`);
    assert.ok(counts.calls >= schemas.length * (names.length * 6 + 3), `${counts.calls} calls`);
    // The next call works.
    assert.deepEqual(sanitize({ type: 'object', properties: {} }, { dialect: 'portable' }).schema, {
      type: 'object',
      properties: {},
    });
  });
}
