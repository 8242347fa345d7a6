// Compares our regular-expression engine with JavaScript's: `pattern` must match what `RegExp` matches, with the flag `u` or without.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { validateArguments } from '../dist/index.js';

const PARTS =
  String.raw`a b é 🐲 0 _ - . \d \D \w \W \s \S \b \B \n \t \0 \x41 \u00e9 \u{1F432} \cM \- \/ \. \\ \[ ^ $ | ( (?: (?<n> ) [ [^ ] [a-z] [^\w] [\w-.] [\s\d] [] [^] [a-] [-a] * + ? ?? *? {2} {0,2} {1,} {,2} { } (?= (?! \1 \p{L} \A \z \_ & && ~ #`.split(
    ' ',
  );
const TEXTS = [
  '',
  'a',
  'é',
  '🐲',
  'ab 0',
  '_-.',
  '\n',
  '\r',
  '\u2028',
  '\ufeff',
  '\u0085',
  'ABC',
  'a\nb',
  '}{[](',
  '\u0000\t',
];

/** Returns true if JavaScript's engine finds a match; `undefined` if it does not accept the pattern. */
function found(pattern, flags, text) {
  try {
    return new RegExp(pattern, flags).test(text);
  } catch {
    return undefined;
  }
}

test("patterns match what JavaScript's engine matches", () => {
  let judged = 0;
  const pattern = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, (pattern) => {
      for (const text of TEXTS) {
        const ours = validateArguments({ v: text }, { properties: { v: { pattern } } }).valid;
        if (ours === null) continue;
        // With the flag `u` if the engine accepts the pattern with it, and without it otherwise.
        const theirs = found(pattern, 'u', text) ?? found(pattern, '', text);
        // Without `u`, a character beyond the basic plane counts as two.
        if (theirs === undefined || (found(pattern, 'u', text) === undefined && /🐲|\\u\{/u.test(pattern + text))) {
          assert.ok(theirs !== undefined || ours === null, `${pattern} is accepted here, but not by JavaScript`);
          continue;
        }
        assert.equal(ours, theirs, `${pattern} in ${JSON.stringify(text)}`);
        judged++;
      }
    }),
    { numRuns: 5000, seed: 2026 },
  );
  assert.ok(judged > 10_000, `${judged} searches were judged`);
});
