// Compares toolwire with other judges, which are programs independent of toolwire, and lists the known disputes. The schemas are those of
// all real tools, all inputs of fixtures, and all of tests/judges/keywords.json.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

import { check, sanitize, ToolwireError } from '../../dist/index.js';
import { casesOf } from '../fixtures/cases.js';

/** The sample in this repository, and all data if it is next to the checkout. */
const files = ['../../../tests/sample', '../../../../shared/data']
  .map((folder) => new URL(`${folder}/mcp_tools.jsonl`, import.meta.url))
  .filter((file) => existsSync(file));

/** All schemas, as text and without duplicates. */
export const schemas = [
  ...new Set([...files.flatMap(realSchemas), ...casesOf('sanitize').map((one) => one.inputText), ...madeSchemas()]),
];

function realSchemas(file) {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.stringify(JSON.parse(line).inputSchema));
}

/** Returns schemas with every keyword and every kind of value, alone and in a string schema. */
function madeSchemas() {
  const { keywords, values } = JSON.parse(
    readFileSync(new URL('../../../tests/judges/keywords.json', import.meta.url)),
  );
  const properties = keywords.flatMap((keyword) =>
    values.flatMap((value) => [{ [keyword]: value }, { type: 'string', [keyword]: value }]),
  );
  return properties.map((p) => JSON.stringify({ type: 'object', properties: { p } }));
}

/** Returns the output of `sanitize` for a dialect; nothing if it refuses the schema, which the fixtures test. */
export function outputOf(dialect, text) {
  return attempt(() => sanitize(text, { dialect }).schema);
}

/** Returns the violations of a severity that `check` finds; nothing if it cannot read the schema. */
export function violationsOf(dialect, severity, text) {
  return attempt(() => check(text, { dialect }))?.filter((one) => one.severity === severity);
}

/**
 * Returns the findings of only `check` or only the judge for a schema. `known` are the constraints that the judge can know. Two
 * findings are equal if the location of one contains the location of the other.
 */
export function disputes(text, ours, theirs, known) {
  const ourKnown = ours.filter(({ constraint }) => known.has(constraint));
  const alone = (these, those) => these.filter((one) => !those.some((other) => near(one.pointer, other.pointer)));
  return [
    ...alone(ourKnown, theirs).map(
      ({ constraint, pointer }) => `only check: ${constraint} at \`${pointer}\`: ${shown(text, pointer)}`,
    ),
    ...alone(theirs, ourKnown).map(
      ({ message, pointer }) => `only the judge: ${message} at \`${pointer}\`: ${shown(text, pointer)}`,
    ),
  ];
}

/**
 * Fails if a dispute, `[finding, schema]`, has no row. A row, `{ why, pattern, schema }`, is a known dispute: `pattern` matches
 * the finding, and `schema` is a minimal example.
 */
export function settle(t, found, rows) {
  for (const { why, pattern } of rows) {
    const schemasOf = new Set(found.filter(([finding]) => pattern.test(finding)).map(([, text]) => text));
    t.diagnostic(`${schemasOf.size} schemas: ${why}`);
  }
  const open = found.filter(([finding]) => !rows.some(({ pattern }) => pattern.test(finding)));
  const shortest = open.sort(([, one], [, other]) => one.length - other.length).slice(0, 12);
  assert.equal(open.length, 0, shortest.map(([finding, text]) => `${finding}\n  ${text.slice(0, 300)}`).join('\n'));
}

function near(finding, otherFinding) {
  return `${finding}/`.startsWith(`${otherFinding}/`) || `${otherFinding}/`.startsWith(`${finding}/`);
}

function shown(text, pointer) {
  let value = JSON.parse(text);
  for (const step of pointer.split('/').slice(1)) value = value?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80);
}

function attempt(call) {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof ToolwireError)) throw error;
    return undefined;
  }
}
