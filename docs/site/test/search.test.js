// Checks that the search finds the page that answers a question, for questions in the words of users who reported a problem.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';

import { SITE } from '../pages.js';
import { searching } from './hits.js';

const questions = JSON.parse(readFileSync(join(SITE, 'test/questions.json'), 'utf8'));

/** Returns true if the address is on the page, such as `relay`, or in a section that begins so, such as `cookbook#kimi`. */
function isOn(address, page) {
  const [path, anchor] = page.split('#');
  const [found, section = ''] = address.slice(1).split('#');
  return found.replace(/(index)?\.html$/, '') === path && section.startsWith(anchor ?? '');
}

describe('the search', () => {
  let search;
  before(async () => {
    search = await searching();
  });

  test('answers forty questions among its first three hits', () => {
    assert.equal(questions.length, 40);
    const missed = questions
      .map(({ ask, pages }) => ({ ask, pages, hits: search(ask).slice(0, 3) }))
      .filter(({ pages, hits }) => !hits.some((hit) => pages.some((page) => isOn(hit, page))));
    assert.deepEqual(missed, []);
  });

  for (const ask of [
    'Kimi refuses my tool',
    'Claude drops my server',
    'Extra inputs are not permitted',
    'schema too complex',
    'tool names too long',
  ]) {
    test(`answers "${ask}" with its first hit`, () => {
      const [first] = search(ask);
      const { pages } = questions.find((question) => question.ask === ask);
      assert.ok(
        pages.some((page) => isOn(first, page)),
        `expected one of ${pages}, found ${first}`,
      );
    });
  }

  test('finds a word in its other forms and names', () => {
    const first = (query) => search(query)[0];
    assert.equal(first('Moonshot rejected my tools'), first('Kimi refuses my tool'));
    assert.match(first('repairing arguments'), /functions\/arguments/);
    assert.match(first('toolwireFetch transports'), /^\/adapters\.html/);
  });

  test('leaves out the pages for people who change toolwire', () => {
    const hits = new Set(
      ['passes', 'evidence', 'messages', 'census', 'changelog'].flatMap(search).map((id) => id.split('#')[0]),
    );
    for (const page of ['evidence', 'messages', 'census', 'pipeline', 'changelog', 'architecture', 'design']) {
      assert.ok(!hits.has(`/${page}.html`), `expected no hit on ${page}`);
    }
  });
});
