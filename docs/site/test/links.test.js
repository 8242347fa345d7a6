// Checks that every link of the built site has a target, and that every anchor exists. Links to other hosts are not checked, so that the
// test needs no network.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { LinkChecker } from 'linkinator';

import { pages, REPOSITORY, ROOT, SITE } from '../pages.js';
import { redirects } from '../redirects.js';

const dist = join(SITE, 'dist');
/** The built pages: the playground is checked by its own tests. */
const built = readdirSync(dist, { recursive: true }).filter(
  (name) => name.endsWith('.html') && !name.startsWith('playground'),
);

describe('the site', () => {
  let links;
  before(async () => {
    const checker = new LinkChecker();
    const result = await checker.check({
      path: built,
      serverRoot: dist,
      checkFragments: true,
      concurrency: 20,
      linksToSkip: ['^https?://(?!localhost)', '^mailto:', '/assets/'],
    });
    ({ links } = result);
  });

  test('has every page', () => {
    for (const page of pages.values()) {
      assert.ok(built.includes(page.replace(/\.md$/, '.html')), `expected ${page} to be built`);
    }
  });

  test('has no dead link and no dead anchor', () => {
    const dead = links.filter(({ state }) => state === 'BROKEN');
    assert.deepEqual(
      dead.map(({ url, parent }) => `${parent} -> ${url}`),
      [],
    );
    // Each address once, however many pages lead there: all pages, at least.
    const checked = links.filter(({ state }) => state === 'OK').length;
    assert.ok(checked >= pages.size, `expected at least ${pages.size} links, checked ${checked}`);
  });

  test('links only to files that exist in the repository', () => {
    const known = new Set(links.map(({ url }) => url).filter((url) => url.startsWith(`${REPOSITORY}/blob/main/`)));
    for (const url of known) {
      const path = decodeURIComponent(url.slice(`${REPOSITORY}/blob/main/`.length).split('#')[0]);
      assert.doesNotThrow(() => readFileSync(join(ROOT, path)), `expected the file ${path}`);
    }
  });

  test('leads from the addresses of earlier pages to their new ones', () => {
    for (const [from, target] of redirects) {
      const [page, anchor] = target.split('#');
      assert.ok(
        readFileSync(join(dist, from), 'utf8').includes(`url=/${target}"`),
        `expected ${from} to lead to ${target}`,
      );
      const text = readFileSync(join(dist, page), 'utf8');
      assert.ok(anchor === undefined || text.includes(`id="${anchor}"`), `expected the anchor ${target}`);
    }
  });

  test('includes the playground', () => {
    assert.match(readFileSync(join(dist, 'playground/index.html'), 'utf8'), /<script type="module"/);
  });
});
