// What toolwire and jsonrepair read from damaged arguments: the texts of the fixtures. Compare python/bench/peers/repairs.py, which
// describes the columns.
//
// Usage: node repairs.js

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { jsonrepair } from 'jsonrepair';
import { repairArguments } from '../../dist/index.js';

const FIXTURES = new URL('../../../tests/fixtures/repairArguments/', import.meta.url);
const FILES = ['text.json', 'guesses.json', 'text-refused.json'];

const READERS = [
  ['toolwire', (text, schema) => JSON.parse(repairArguments(text, schema).arguments)],
  ['jsonrepair', (text) => JSON.parse(jsonrepair(text))],
];

function outcome(read, { inputText, schema, error, expected, expectedText }) {
  let found;
  try {
    found = read(inputText, schema);
  } catch {
    return error ? 'left' : 'refused';
  }
  if (error) return 'invented';
  return isDeepStrictEqual(found, expected ?? JSON.parse(expectedText)) ? 'right' : 'wrong';
}

const all = FILES.flatMap((file) => JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')));
const cases = all.filter(({ inputText, options }) => inputText !== undefined && !options);
const columns = ['right', 'wrong', 'refused', 'invented'];
console.log(`${''.padEnd(28)}${columns.map((column) => column.padStart(10)).join('')}`);
for (const [title, read] of READERS) {
  const found = cases.map((one) => outcome(read, one));
  const counts = columns.map((column) => String(found.filter((one) => one === column).length).padStart(10));
  console.log(`${title.padEnd(28)}${counts.join('')}`);
}
