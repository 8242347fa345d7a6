// Checks the tree of pages: few enough written by hand, each in the navigation once, and the inside of toolwire left out.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { navigation } from '../navigation.js';
import { dialects, pages, ROOT, tracked } from '../pages.js';

const MOST_BY_HAND = 40;

/** Files below docs/ that are for people who change toolwire, or for the site itself. */
const INSIDE = /^docs\/(site\/.*|design\.md|pipeline\.md|steps\.md|evidence\.md|census\.md|messages\.md)$/;

const read = (path) => readFileSync(join(ROOT, path), 'utf8');

describe('the pages', () => {
  const listed = navigation.flatMap(([, items]) => items.map(([, path]) => path));

  test(`are at most ${MOST_BY_HAND} by hand`, () => {
    const byHand = [...pages.keys()].filter((path) => !read(path).startsWith('<!-- Generated'));
    assert.ok(byHand.length <= MOST_BY_HAND, `expected at most ${MOST_BY_HAND}, found ${byHand.length}`);
  });

  test('are in the navigation exactly once', () => {
    assert.deepEqual(
      listed.filter((path, at) => listed.indexOf(path) !== at),
      [],
    );
    const files = tracked.filter((path) => path.startsWith('docs/') && path.endsWith('.md') && !INSIDE.test(path));
    const missing = files.filter((path) => !listed.includes(path) && !dialects.includes(path));
    assert.deepEqual(missing, []);
    const absent = listed.filter((path) => !tracked.includes(path));
    assert.deepEqual(absent, []);
  });

  test('have a title each, which no other page has', () => {
    const titles = [...pages.keys()].map((path) => [path, /^# (.+)$/m.exec(read(path))?.[1]]);
    assert.deepEqual(
      titles.filter(([, title]) => title === undefined),
      [],
    );
    assert.equal(new Set(titles.map(([, title]) => title)).size, titles.length);
  });

  test('are in groups of at most a dozen', () => {
    for (const [group, items] of navigation) assert.ok(items.length <= 12, `${group} has ${items.length} pages`);
  });
});
