// Checks the filter of the page of rules, on the built page.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dialectsOf, fits } from '../.vitepress/theme/filter.js';

const ALL = ['anthropic', 'gemini', 'groq'];

test('a section names dialects, all of them, or all but some', () => {
  const names = (text) => [...dialectsOf(text, ALL)];
  assert.deepEqual(names('Refused by gemini. Fixed by add-items.'), ['gemini']);
  assert.deepEqual(names('Refused by all dialects. Ignored by groq.'), ALL);
  assert.deepEqual(names('Refused by all dialects except gemini.'), ['anthropic', 'groq']);
  assert.deepEqual(names('Effect: same. In the fixtures of groq, gemini.'), ['gemini', 'groq']);
});

test('a filter selects by kind, dialect and words', () => {
  const section = { kind: 'finding', text: 'array-items: a list of schemas', dialects: new Set(['gemini']) };
  const filter = { kind: '', words: '', dialect: '' };
  assert.ok(fits(section, filter));
  assert.ok(fits(section, { kind: 'finding', words: 'Schemas list', dialect: 'gemini' }));
  assert.ok(!fits(section, { ...filter, kind: 'change' }));
  assert.ok(!fits(section, { ...filter, dialect: 'groq' }));
  assert.ok(!fits(section, { ...filter, words: 'schemas object' }));
});
