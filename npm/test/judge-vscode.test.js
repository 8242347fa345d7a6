// Compares the dialect `vscode` with VS Code's own gate: the schemas that it refuses, and those that it changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { disputes, outputOf, schemas, settle, violationsOf } from './judges/disputes.js';
import { normalize } from './judges/vscode.js';

const DIALECT = 'vscode';

const REFUSED = new Set(
  `keyword-value unknown-type not-a-schema items-not-schema properties-not-object additional-properties-not-schema
  required-not-strings combinator-not-list any-of-size enum-not-list enum-empty defs-not-object ref-not-string
  array-without-items open-items`.split(/\s+/),
);
const REINTERPRETED = new Set(['root-object', 'root-not-schema', 'root-keyword', 'required-unknown']);

const COERCED = 'it reads a value of a different kind as the intended one if it can, but `check` follows draft 7';

/** Known disputes about outputs that the gate refuses or changes. */
const OUTPUTS = [
  {
    why: 'a number that JavaScript cannot represent becomes infinite, which ajv does not accept as a number',
    pattern: /^only the judge: must be number at `[^`]*`: null$/,
    text: '{"type":"object","properties":{"a":{"maximum":1e400}}}',
  },
];

const KINDS =
  'keyword-value|not-a-schema|items-not-schema|additional-properties-not-schema|required-not-strings|ref-not-string';
const LATER =
  '$defs|prefixItems|minContains|maxContains|unevaluatedItems|unevaluatedProperties|dependentRequired|' +
  'dependentSchemas|\\$anchor|\\$dynamicRef|\\$dynamicAnchor|contentSchema|deprecated|\\$vocabulary|' +
  '\\$recursiveRef|\\$recursiveAnchor';

/** Known disputes about inputs: the gate refuses less than `check` reports, or more. */
const INPUTS = [
  {
    why: COERCED,
    pattern: new RegExp(
      `^only check: (${KINDS}) at \`[^\`]*\`: (null|true|false|-?[\\d.]+|"[^"]*"|\\[(null|true|1|"a",1)\\])$`,
    ),
    schema: { type: 'object', properties: { a: { minLength: '3' } } },
  },
  {
    why: 'draft 7 has no later keywords, so the gate does not check their values',
    pattern: new RegExp(`^only check: \\S+ at \`[^\`]*/(\\${LATER})[/\`]`),
    schema: { type: 'object', properties: {}, $defs: [] },
  },
  {
    why: 'the gate requires `items` only for the type `array`, not for a list of types',
    pattern: /^only check: array-without-items at `[^`]*`: {"type":\[/,
    schema: { type: 'object', properties: { a: { type: ['array', 'null'] } } },
  },
  {
    why: 'the gate does not check definitions',
    pattern: /^only check: array-without-items at `[^`]*\/definitions\//,
    schema: { type: 'object', properties: {}, definitions: { a: { type: 'array' } } },
  },
  {
    why: '`check` does not check keywords that are deleted at the root, but the gate first validates them by draft 7',
    pattern: /^only the judge: .* at `\/(oneOf|anyOf|allOf|not|if|then|else)[/`]/,
    schema: { type: 'object', properties: {}, not: 5 },
  },
];

/** Known disputes about inputs: the gate changes less than `check` reports, or more. */
const CHANGES = [
  {
    why: COERCED,
    pattern: /^only the judge: (values of another kind at|property is not defined at `\/required\/\d+`: (null|\d))/,
    schema: { type: 'object', properties: { a: { minLength: '3' } } },
  },
];

test("the judge reproduces the gate's known results", () => {
  const answer = (a) => normalize(JSON.stringify({ type: 'object', properties: { a } }));
  for (const refused of [
    { type: 'array' },
    { type: 'array', items: false },
    { type: 'array', prefixItems: [{ type: 'string' }] },
    { anyOf: [{ type: 'array' }] },
    { type: 'any' },
    { anyOf: [] },
  ]) {
    assert.notDeepEqual(answer(refused).refused, [], JSON.stringify(refused));
  }
  for (const passed of [{ type: 'array', items: [{ type: 'string' }] }, { type: 'array', items: {} }, true, {}]) {
    assert.deepEqual(answer(passed), { refused: [], changed: [] }, JSON.stringify(passed));
  }
  assert.deepEqual(
    normalize('{"type":"object","required":["b"],"oneOf":[{}]}').changed.map(({ pointer }) => pointer),
    ['/oneOf', '/required/0'],
  );
  assert.notDeepEqual(normalize('{"type":"string"}').changed, []);
});

for (const [title, of, disputesOf, rows] of [
  ['every output passes, and no part of it is changed', 'outputs', outputDisputes, OUTPUTS],
  ['it refuses what `check` refuses', 'schemas of an object', refusalDisputes, INPUTS],
  ['it changes what `check` reports', 'schemas that it does not refuse', changeDisputes, CHANGES],
]) {
  test(title, (t) => {
    const answers = schemas.map((text) => disputesOf(text));
    t.diagnostic(`${answers.filter((answer) => answer !== undefined).length} ${of}, of ${schemas.length} schemas`);
    settle(
      t,
      answers.flatMap((answer) => answer ?? []),
      rows,
    );
  });

  for (const { why, pattern, schema, text = JSON.stringify(schema) } of rows) {
    test(`${title}, but ${why}`, () => {
      assert.ok(
        disputesOf(text).some(([finding]) => pattern.test(finding)),
        'no longer the case: remove the row',
      );
    });
  }
}

function outputDisputes(text) {
  const output = outputOf(DIALECT, text);
  if (output === undefined) return undefined;
  const { refused, changed } = normalize(output);
  return disputes(output, [], [...refused, ...changed], new Set()).map((finding) => [finding, output]);
}

function refusalDisputes(text) {
  const ours = violationsOf(DIALECT, 'refused', text);
  // A schema that the gate replaces as a whole is not compared.
  if (ours === undefined || JSON.parse(text)?.type !== 'object') return undefined;
  return disputes(text, ours, normalize(text).refused, REFUSED).map((finding) => [finding, text]);
}

function changeDisputes(text) {
  const ours = violationsOf(DIALECT, 'reinterpreted', text);
  if (ours === undefined) return undefined;
  const { refused, changed } = normalize(text);
  if (refused.length > 0) return undefined;
  return disputes(text, ours, changed, REINTERPRETED).map((finding) => [finding, text]);
}
