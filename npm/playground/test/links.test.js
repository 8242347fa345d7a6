// Malicious links: they can set the page's choices, and nothing else.

import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { deflateRawSync } from 'node:zlib';

import { skip, start, test, view } from './browser.js';

const packed = (bytes) => `#1.${deflateRawSync(bytes, { level: 9 }).toString('base64url')}`;
const link = (state) => packed(Buffer.from(JSON.stringify(state)));
/** Closes a string literal of either kind, runs code, and continues. */
const CODE = `x'"}); globalThis.taken = true; ({a:'"\u2028\`\${globalThis.taken = true}`;
const REQUEST = JSON.stringify({
  model: 'claude',
  messages: [{ role: 'user', content: 'hello' }],
  tools: [{ name: 'a', input_schema: { type: 'object' } }],
});

describe('a link', { skip }, () => {
  let site;
  before(async () => {
    site = await start();
  });
  after(() => site.stop());

  const hostile = {
    'invalid options': {
      options: {
        allow: CODE,
        refs: [CODE],
        [CODE]: 1,
        hints: { toString: 1 },
        maxBytes: 1e9,
        __proto__: { untyped: CODE },
      },
      deferred: { mode: CODE, [CODE]: true, target: { toJSON: CODE }, toolSearchName: CODE },
    },
    'an unknown dialect': { dialect: CODE },
    'values of wrong types': {
      options: 'x',
      deferred: [CODE],
      tool: 7,
      turn: 1e300,
      args: {},
      repair: CODE,
      view: CODE,
      fn: 'constructor',
      shape: [],
    },
    'an unknown tool and an unknown example': { tool: CODE, example: '__proto__', turn: 999_999, args: CODE },
  };
  for (const [name, state] of Object.entries(hostile)) {
    for (const fn of ['sanitize', 'check', 'normalizeEnvelope', 'applyDeferredLoading']) {
      test(`with ${name} still gives a valid call of ${fn}`, () =>
        site.page({ hash: link({ text: REQUEST, fn, ...state }) }, async (page) => {
          await page.locator('.call').click();
          await page.locator('.toast', { hasText: 'Call copied' }).waitFor();
          const call = await page.evaluate(() => navigator.clipboard.readText());
          // A whole request is checked with two functions.
          const one = String.raw`toolwire\.\w+\([\w.[\]]+(, \{.*\})?\)`;
          assert.match(call, new RegExp(`^(${one}|\\[${one}, ${one}\\]\\.flat\\(\\))$`));
          assert.doesNotMatch(call, /maxBytes|toolSearchName|toString/);
          await page.evaluate(`try { globalThis.input = ${REQUEST}; ${call} } catch {}`);
          assert.equal(await page.evaluate(() => globalThis.taken), undefined, call);
          // No view fails to render the link's state: `page` fails if the browser reports an error.
          for (const tab of ['matrix', 'deferred', 'restore', 'rewrite']) await view(page, tab);
        }));
    }
  }

  test('is refused if it decompresses to more than the limit', () =>
    site.page({ hash: packed(Buffer.alloc(40 << 20, 0x20)) }, async (page) => {
      await page.locator('.toast', { hasText: 'cannot read the link' }).waitFor();
    }));

  test('is refused if it is longer than the limit', () =>
    site.page({ hash: `#1.${'A'.repeat(300_000)}` }, async (page) => {
      await page.locator('.toast', { hasText: 'cannot read the link' }).waitFor();
    }));

  test('opens a page on which text never becomes markup', () =>
    site.page({ complaints: [/Trusted|trusted-types/] }, async (page) => {
      const refused = await page.evaluate(() => {
        const tried = [
          () => {
            document.createElement('p').innerHTML = '<img src=x onerror="globalThis.taken = true">';
          },
          () => document.write('<p>'),
          () => {
            document.createElement('script').text = 'globalThis.taken = true';
          },
          () => trustedTypes.createPolicy('ours', { createHTML: (text) => text }),
        ];
        return tried.map((each) => {
          try {
            each();
            return 'done';
          } catch (error) {
            return error.name;
          }
        });
      });
      assert.deepEqual(refused, ['TypeError', 'TypeError', 'TypeError', 'TypeError']);
    }));
});
