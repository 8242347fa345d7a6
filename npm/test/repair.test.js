// Runs the fixtures of `repairArguments` that all languages share, on values and on text, with a report and without.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import * as toolwire from '../dist/index.js';
import { counts } from './fixtures/cases.js';
import { canonical } from './fixtures/spelling.js';

const { repairArguments } = toolwire;
const folder = new URL('../../tests/fixtures/repairArguments/', import.meta.url);
const cases = readdirSync(folder).flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

test('the number of cases matches count.json', () => assert.equal(cases.length, counts.repairArguments));

for (const one of cases) {
  test(`repairArguments: ${one.name}`, () => {
    if (one.inputText === undefined && typeof one.input !== 'string') onValues(one, one.input);
    const text = one.inputText ?? JSON.stringify(one.input);
    // Arguments as text, with the schema as text and as a value.
    for (const schema of [JSON.stringify(one.schema), one.schema]) {
      onText(one, text, schema, (written) => written);
      onText(one, encoder.encode(text), schema, (written) => decoder.decode(written));
    }
  });
}

function onValues(one, input) {
  const before = JSON.stringify(input);
  const run = () => repairArguments(frozen(input), one.schema, one.options);
  if (refused(one, run)) return;
  const { arguments: found, changed, ...report } = run();
  const text = JSON.stringify(found);
  assert.equal(
    canonical(text),
    canonical(JSON.stringify(JSON.parse(one.expectedText ?? JSON.stringify(one.expected)))),
  );
  assert.equal(changed, text !== before);
  assert.equal(JSON.stringify(input), before, 'the input was changed');
  assert.deepEqual(repairArguments(input, JSON.stringify(one.schema), one.options).arguments, found);
  judge(one, report);
}

function onText(one, text, schema, read) {
  const run = () => repairArguments(text, schema, one.options);
  if (refused(one, run)) return;
  const { arguments: found, changed, ...report } = run();
  assert.equal(typeof found, typeof text);
  if (one.expectedText !== undefined) assert.equal(read(found), one.expectedText);
  else assert.deepEqual(JSON.parse(read(found)), one.expected);
  assert.equal(changed, read(found) !== read(text));
  if (!changed) assert.equal(found, text, 'the text differs, although nothing was changed');
  judge(one, report);
}

/** Returns true if a case expects an error. If so, asserts that all forms throw it. */
function refused({ error, report }, ...forms) {
  if (error === undefined) return false;
  for (const form of forms) {
    assert.throws(form, ({ code, pointer, message }) => {
      assert.deepEqual({ code, pointer }, error, message);
      if (report?.reason !== undefined) assert.ok(message.includes(`(${report.reason}, at byte `), message);
      return true;
    });
  }
  return true;
}

function judge({ report: { valid, repairs = [], left = [], retryMessage } }, found) {
  if (retryMessage !== undefined) assert.equal(found.retryMessage, retryMessage);
  assert.equal(found.retryMessage === null, found.left.length === 0);
  for (const { message } of found.repairs) assert.match(message, /^found /);
  for (const { message } of found.left) assert.match(message, /^expected .*, found /);
  const withoutMessages = (list) => list.map(({ message: _, ...one }) => one);
  assert.deepEqual(
    { valid: found.valid, repairs: withoutMessages(found.repairs), left: withoutMessages(found.left) },
    { valid, repairs, left },
  );
}

function frozen(value) {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
