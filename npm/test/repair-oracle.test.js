// Compares toolwire with jsonrepair on text that is not JSON. jsonrepair guesses a value for text that toolwire
// refuses, so only text that toolwire reads is compared: both should read the same value. The value of generated text
// is known: if the two differ, toolwire must be right.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { jsonrepair } from 'jsonrepair';

import { repairArguments } from '../dist/index.js';
import { spoiled } from './fixtures/spoiled.js';

const folder = new URL('../../tests/fixtures/repairArguments/', import.meta.url);
const cases = readdirSync(folder).flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
const texts = [...spoiled(6000, 20_261_123)];

/** Texts that jsonrepair reads differently or cannot read, and the reason why toolwire is right. */
const DIFFERENCES = [
  {
    name: 'one value several times',
    applies: ({ rules }) => rules.has('repeated-value'),
    why: 'jsonrepair makes a list of values on separate lines, and refuses others; arguments are one object',
  },
  {
    name: 'an empty value next to the real one',
    applies: ({ rules }) => rules.has('empty-value'),
    why: 'as above; models write `{}` before the arguments that they mean (openai-agents-js#712)',
  },
  {
    name: 'words around',
    applies: ({ rules }) => rules.has('surrounding-text'),
    why: 'jsonrepair makes a list of the words and the value, or refuses; words are not arguments',
  },
  {
    name: 'text that was escaped twice',
    applies: ({ rules }) => rules.has('escaped-text'),
    why: 'jsonrepair supports it only for the whole text, not with a line break between tokens',
  },
  {
    name: 'comments that begin with #',
    applies: ({ rules, text }) => rules.has('comment') && text.includes('#'),
    why: 'jsonrepair reads them as a name or value; Python has such comments',
  },
  {
    name: 'a byte order mark after a number or a bare name',
    applies: ({ rules, text }) => rules.has('byte-order-mark') && /[\w-][\ufeff\u00a0]/.test(text),
    why: 'jsonrepair reads the mark as part of the number, and converts it to a string',
  },
  {
    name: 'a backslash that begins no escape',
    applies: ({ rules }) => rules.has('invalid-escape'),
    why: 'jsonrepair omits the backslash: `C:\\Dev` becomes `C:Dev`, a different path',
  },
];
/** Fixtures that jsonrepair reads differently, with its result. The fixtures contain toolwire's result. */
const FIXTURE_DIFFERENCES = {
  'words-before': 'returns a list of the words and the value',
  'words-behind': 'refuses',
  'words-with-a-fence': 'returns a list of the words and the value',
  'words-that-look-like-a-comment': 'returns a list of the words and the value',
  comments: 'refuses the one that begins with #',
  'backslash-that-begins-no-escape': 'removes the backslashes',
  'escaped-line-break-between-tokens': 'refuses',
  'the-same-value-twice': 'refuses',
  'an-empty-value-beside-the-real-one': 'refuses',
  'text-of-text': 'returns the inner text without parsing it',
  'blank-text-of-text': 'returns the inner text without parsing it',
  'words-in-text-of-text': 'returns the inner text without parsing it',
  'blank-text': 'refuses: it does not know that the text contains arguments',
  'null-text': 'returns null: it does not know that the text contains arguments',
  'python-none': 'returns null: it does not know that the text contains arguments',
  'doubled-braces': 'refuses',
  'doubled-braces-at-every-depth': 'refuses',
  'doubled-braces-of-invalid-arguments': 'refuses',
  'quote-tokens': 'refuses',
  'quote-tokens-in-quotes': 'reads the token as part of the value',
  'quote-token-inside-a-string': 'refuses',
  'quote-tokens-around-names': 'reads the token as part of the name',
};

test('fixtures are read as the oracle reads them', () => {
  let count = 0;
  const differing = [];
  for (const { name, inputText, options } of cases) {
    const one = inputText === undefined ? {} : read(inputText, options);
    if (one.ours === undefined) continue;
    count++;
    if (!isSame(one.ours, one.theirs)) differing.push(name);
  }
  assert.ok(count > 40, `${count} texts`);
  assert.deepEqual(differing.sort(), Object.keys(FIXTURE_DIFFERENCES).sort());
});

test('damaged text is read with its original value, or refused', () => {
  // The value from which the text was written is the best oracle.
  for (const { text, notations, value, isMeant } of texts) {
    const { ours } = read(text);
    if (isMeant && ours !== undefined) assert.ok(isSame(ours, value), `${notations}: ${text}`);
  }
});

test('damaged text is read as the oracle reads it', (t) => {
  const agreed = new Map();
  const named = new Map();
  const guessed = new Map();
  for (const { text, value, isMeant } of texts) {
    const one = read(text);
    if (one.ours === undefined) {
      // A text that toolwire refuses is not compared.
      const way = one.theirs === undefined ? 'refused, too' : isMeant && isSame(one.theirs, value) ? 'meant' : 'other';
      add(guessed, `${one.reason}: ${way}`);
      continue;
    }
    if (one.rules.has('json-string') && typeof one.theirs === 'string') one.theirs = readByOracle(one.theirs);
    if (isSame(one.ours, one.theirs)) {
      for (const rule of ['all', ...one.rules]) add(agreed, rule);
      continue;
    }
    const difference = DIFFERENCES.find(({ applies }) => applies(one));
    assert.ok(difference, `${text}\nours: ${JSON.stringify(one.ours)}\ntheirs: ${JSON.stringify(one.theirs)}`);
    add(named, difference.name);
  }
  t.diagnostic(`read alike: ${agreed.get('all')}; known differences: ${JSON.stringify(Object.fromEntries(named))}`);
  t.diagnostic(`refused by ours, read by the oracle as: ${JSON.stringify(Object.fromEntries(guessed))}`);
  // Each listed difference still exists, and for every other notation both read at least one text alike.
  assert.deepEqual([...named.keys()].sort(), DIFFERENCES.map(({ name }) => name).sort());
  assert.ok(agreed.get('all') > 2 * [...named.values()].reduce((sum, count) => sum + count));
  const known =
    'byte-order-mark comment control-character escaped-apostrophe escaped-text extra-bracket extra-comma fence ' +
    'json-string misnested-bracket missing-comma python-literal single-quotes smart-quotes undefined unquoted-key';
  assert.deepEqual([...agreed.keys()].filter((rule) => rule !== 'all').sort(), known.split(' '));
});

/** Reads text with toolwire and jsonrepair; a result is undefined if the text is refused. Adds toolwire's repair rules or its reason. */
function read(text, options) {
  const one = { text, theirs: readByOracle(text) };
  try {
    // This schema accepts everything, so only the text is repaired.
    const { arguments: found, repairs } = repairArguments(text, '{}', options);
    return { ...one, ours: JSON.parse(found), rules: new Set(repairs.map(({ rule }) => rule)) };
  } catch (error) {
    assert.equal(error.code, 'invalid-json', error.message);
    return { ...one, reason: /\(([a-z-]+), at byte/.exec(error.message)?.[1] };
  }
}

function readByOracle(text) {
  try {
    return JSON.parse(text);
  } catch {}
  try {
    return JSON.parse(jsonrepair(text));
  } catch {
    return undefined;
  }
}

function isSame(one, other) {
  try {
    assert.deepStrictEqual(one, other);
    return true;
  } catch {
    return false;
  }
}

function add(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
