// What judges are asked, and where they may disagree with us: the schemas of all real tools there are, all inputs of
// fixtures, and all of tests/judges/keywords.json. A judge is code that knows nothing of toolwire.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

import { check, sanitize, ToolwireError } from '../../dist/index.js';
import { casesOf } from '../fixtures/cases.js';

/** The sample in this repository, and all the data where it lies beside the checkout. */
const files = ['../../../tests/sample', '../../../../shared/data']
  .map((folder) => new URL(`${folder}/mcp_tools.jsonl`, import.meta.url))
  .filter((file) => existsSync(file));

/** All schemas, as text, each once. */
export const schemas = [
  ...new Set([...files.flatMap(realSchemas), ...casesOf('sanitize').map((one) => one.inputText), ...madeSchemas()]),
];

function realSchemas(file) {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.stringify(JSON.parse(line).inputSchema));
}

/** A property of every keyword with every kind of value, alone and in a text. */
function madeSchemas() {
  const { keywords, values } = JSON.parse(
    readFileSync(new URL('../../../tests/judges/keywords.json', import.meta.url)),
  );
  const properties = keywords.flatMap((keyword) =>
    values.flatMap((value) => [{ [keyword]: value }, { type: 'string', [keyword]: value }]),
  );
  return properties.map((p) => JSON.stringify({ type: 'object', properties: { p } }));
}

/** What `sanitize` writes for a dialect, or nothing where it refuses, which is for the fixtures to say. */
export function outputOf(dialect, text) {
  return attempt(() => sanitize(text, { dialect }).schema);
}

/** What `check` finds that is of a severity, or nothing where it does not read the schema. */
export function violationsOf(dialect, severity, text) {
  return attempt(() => check(text, { dialect }))?.filter((one) => one.severity === severity);
}

/**
 * What only `check` or only the judge says of a schema. `known` are the rules that the judge can know of; the two speak of
 * the same where one's place is in the other's.
 */
export function disputes(text, ours, theirs, known) {
  const ourKnown = ours.filter(({ constraint }) => known.has(constraint));
  const alone = (these, those) => these.filter((one) => !those.some((other) => near(one.pointer, other.pointer)));
  return [
    ...alone(ourKnown, theirs).map(
      ({ constraint, pointer }) => `only check: ${constraint} at \`${pointer}\`: ${shown(text, pointer)}`,
    ),
    ...alone(theirs, ourKnown).map(
      ({ says, pointer }) => `only the judge: ${says} at \`${pointer}\`: ${shown(text, pointer)}`,
    ),
  ];
}

/**
 * Fails where a dispute, `[what is said, the schema]`, has no row. A row, `{ why, says, schema }`, is a dispute that is known:
 * `says` is searched for in what is said, `schema` is the smallest that shows it.
 */
export function settle(t, found, rows) {
  for (const { why, says } of rows) {
    const schemasOf = new Set(found.filter(([said]) => says.test(said)).map(([, text]) => text));
    t.diagnostic(`${schemasOf.size} schemas: ${why}`);
  }
  const open = found.filter(([said]) => !rows.some(({ says }) => says.test(said)));
  const shortest = open.sort(([, one], [, other]) => one.length - other.length).slice(0, 12);
  assert.equal(open.length, 0, shortest.map(([said, text]) => `${said}\n  ${text.slice(0, 300)}`).join('\n'));
}

function near(one, other) {
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
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
