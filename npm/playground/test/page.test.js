// Tests the whole page: links, the console's API, the policy, keys, colors, small screens, screen readers.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe } from 'node:test';

import { dialect, NARROW, output, pick, skip, start, test, view, WIDE, write } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const VIEWS = ['rewrite', 'matrix', 'deferred', 'restore'];
/** Examples that show more of a view than the first example does. */
const SHOWN = { deferred: 'claude-code', matrix: 'workspace', 'restore repaired': 'repair' };

describe('the page', { skip }, () => {
  let site;
  before(async () => {
    site = await start();
  });
  after(() => site.stop());

  test('a link restores the same state in another browser and after reloading', () =>
    site.page({}, async (page) => {
      await write(page, 'Input', '{"properties":{"naïve":{"const":"✓"}}}');
      await dialect(page, 'moonshot');
      await page.locator('.note-rule', { hasText: 'const-to-enum' }).waitFor();
      const expected = await output(page);
      await page.getByRole('button', { name: 'Share' }).click();
      await page.locator('.toast', { hasText: 'Link copied' }).waitFor();
      const link = await page.evaluate(() => navigator.clipboard.readText());
      assert.ok(link.startsWith(`${site.url}#1.`), link);
      await site.page({ hash: link.slice(site.url.length) }, async (other) => {
        assert.equal(await output(other), expected);
        assert.equal(await other.locator('.dialect[aria-checked=true]').getAttribute('data-dialect'), 'moonshot');
      });
      await page.reload();
      assert.equal(await output(page), expected);
    }));

  test('a link opens a turn of an example, and a broken link is reported', () =>
    site.page({}, async (page) => {
      await pick(page, 'conversation');
      await page.locator('.turn-button').nth(5).click();
      // Without this, the address would be updated a moment later.
      await page.getByRole('button', { name: 'Share' }).click();
      await page.locator('.toast', { hasText: 'Link copied' }).waitFor();
      await page.reload();
      assert.equal(
        await page.locator('.turn-button[aria-pressed=true]').innerText(),
        await page.locator('.turn-button').nth(5).innerText(),
      );
      assert.ok((await page.evaluate(() => location.hash)).length < 200, 'an example is identified by its name');
      await page.goto('about:blank');
      await page.goto(`${site.url}#1.nonsense`);
      await page.locator('.toast', { hasText: 'cannot read the link' }).waitFor();
      await page.locator('.note').first().waitFor();
    }));

  test('`window.toolwire` is the API', () =>
    site.page({}, async (page) => {
      const { names, schema, found } = await page.evaluate(() => ({
        names: Object.keys(window.toolwire),
        schema: window.toolwire.sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema,
        found: window.toolwire.searchTools([{ name: 'send_mail', inputSchema: {} }], 'mail'),
      }));
      for (const name of [
        'sanitize',
        'normalizeEnvelope',
        'applyDeferredLoading',
        'adaptRequest',
        'dialects',
        'ToolIndex',
      ]) {
        assert.ok(names.includes(name), name);
      }
      assert.deepEqual(schema, { type: 'object', properties: { unit: { type: 'string', enum: ['celsius'] } } });
      assert.deepEqual(found, ['send_mail']);
    }));

  test("the call that is shown gives the page's result in the console", () =>
    site.page({}, async (page) => {
      for (const [example, pointer] of [
        ['ticket', 'tools'],
        ['filter', 'schema'],
        ['request', 'request'],
      ]) {
        await pick(page, example);
        await page.locator('.call').click();
        await page.locator('.toast', { hasText: 'Call copied' }).waitFor();
        const call = await page.evaluate(() => navigator.clipboard.readText());
        assert.match(call, /^toolwire\.\w+\(/);
        const result = (await page.evaluate(call))[pointer];
        assert.deepEqual(JSON.parse(await output(page)), example === 'ticket' ? result[0] : result, call);
      }
    }));

  test('nothing leaves the page: its policy refuses every connection, even to its own host', () =>
    site.page(
      { complaints: [/Content Security Policy|Fetch API cannot load|^asked for https:\/\/example\.com/] },
      async (page) => {
        const refused = await page.evaluate(async () => {
          const tried = [
            () => fetch(location.href),
            () =>
              new Promise((resolve, reject) => {
                const image = new Image();
                image.onload = resolve;
                image.onerror = reject;
                image.src = 'https://example.com/x.png';
              }),
          ];
          const results = await Promise.allSettled(tried.map((each) => each()));
          return results.map(({ status }) => status);
        });
        assert.deepEqual(refused, ['rejected', 'rejected']);
        assert.equal(await page.evaluate(() => navigator.sendBeacon(location.href, 'x') && 'queued'), 'queued');
        assert.equal(await page.locator('form').count(), 0);
      },
    ));

  test('can be used by keyboard alone', () =>
    site.page({}, async (page) => {
      const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
      await page.keyboard.press('Tab');
      assert.match(await focused(), /^Skip to/);
      await page.keyboard.press('Tab');
      assert.equal(await focused(), 'Rewrite');
      await page.keyboard.press('ArrowRight');
      assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Matrix');
      await page.keyboard.press('1');
      await page.keyboard.press('n');
      await page.keyboard.press('n');
      assert.equal(await page.locator('.note[data-chosen=true] .note-number').innerText(), '2');
      await page.keyboard.press('Shift+F8');
      assert.equal(await page.locator('.note[data-chosen=true] .note-number').innerText(), '1');
      await page.keyboard.press(']');
      assert.equal(await page.locator('.dialect[aria-checked=true]').getAttribute('data-dialect'), 'azure-strict');
      await page.keyboard.press('e');
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('12');
      assert.equal(await page.locator('.cm-merge-a .cm-line').innerText(), '12');
      // In an editor, letters are typed as text; Tab leaves it.
      await page.keyboard.type('n');
      assert.equal(await page.locator('.cm-merge-a .cm-line').innerText(), '12n');
      await page.keyboard.press('Tab');
      assert.equal(
        await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.getAttribute('aria-label')),
        'Output',
      );
      await page.keyboard.press('Tab');
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await pick(page, 'workspace');
      await page.keyboard.press('Escape');
      await page.locator('#tab-matrix').focus();
      await page.keyboard.press('Enter');
      await page.locator('.cell').first().focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      assert.match(await page.locator('.only').innerText(), /find_page/);
      assert.equal(await page.locator('.dialect[aria-checked=true]').getAttribute('data-dialect'), 'codex-wire');
    }));

  test('single-letter shortcuts can be turned off', () =>
    site.page({}, async (page) => {
      await page.keyboard.press('?');
      await page.getByLabel('Enable single-letter shortcuts').uncheck();
      await page.keyboard.press('Escape');
      await page.keyboard.press('2');
      assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Rewrite');
    }));

  test('the colors follow the system or a choice, which is saved', () =>
    site.page({ colorScheme: 'dark' }, async (page) => {
      const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      const dark = await ground();
      const button = page.getByRole('button', { name: /^Theme/ });
      await button.click();
      const light = await ground();
      assert.notEqual(light, dark);
      await page.reload();
      await button.waitFor();
      assert.equal(await ground(), light);
      await button.click();
      assert.equal(await ground(), dark);
    }));

  for (const colorScheme of ['light', 'dark']) {
    for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
      test(`${colorScheme}, ${size}: nothing overflows, and axe finds nothing (WCAG 2.2 AA)`, () =>
        site.page({ colorScheme, viewport, bypassCSP: true, reducedMotion: 'reduce' }, async (page) => {
          await page.evaluate(AXE);
          for (const name of [...VIEWS, 'restore repaired']) {
            await pick(page, SHOWN[name] ?? 'ticket');
            await view(page, name.replace(/ .*/, ''));
            if (name === 'rewrite' || name === 'restore repaired') await page.locator('.note-button').nth(2).click();
            // This turn shows every kind of mark: carriers, references, notices, and tools that come and go.
            if (name === 'deferred') await page.locator('.turn-button').nth(4).click();
            if (name === 'matrix') await page.locator('.cell:not(.sign-none)').nth(119).waitFor();
            const { scrollWidth, innerWidth } = await page.evaluate(() => ({
              scrollWidth: document.documentElement.scrollWidth,
              innerWidth,
            }));
            assert.ok(scrollWidth <= innerWidth, `${name}: ${scrollWidth} of ${innerWidth} pixels`);
            const violations = await page.evaluate(async () => {
              const { violations } = await window.axe.run(document, {
                runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
              });
              return violations.map(
                ({ id, nodes }) =>
                  `${id}: ${nodes
                    .map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ''}`)
                    .slice(0, 3)
                    .join(' | ')}`,
              );
            });
            assert.deepEqual(violations, [], name);
          }
        }));
    }
  }

  test('a megabyte of text does not block the page for long', () =>
    site.page({}, async (page) => {
      const tool = (number) => ({
        name: `tool_${number}`,
        // Incompressible, so that it does not fit into a link.
        description: randomBytes(200).toString('hex'),
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            [1, 2, 3, 4].map((each) => [`p${each}`, { const: `${number}`, description: 'x'.repeat(100) }]),
          ),
        },
      });
      const text = JSON.stringify(Array.from({ length: 1_000 }, (_, number) => tool(number)));
      assert.ok(text.length > 1_000_000);
      await view(page, 'matrix');
      await page.evaluate(() => {
        window.longest = 0;
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
        }).observe({ type: 'longtask' });
      });
      await page.evaluate((text) => navigator.clipboard.writeText(text), text);
      await page.getByLabel('Input', { exact: true }).click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('ControlOrMeta+v');
      await page.locator('thead .tool-name').nth(39).waitFor({ timeout: 60_000 });
      await page.locator('tbody tr').last().locator('.cell:not(.sign-none)').first().waitFor({ timeout: 60_000 });
      assert.match(await page.locator('.pages').innerText(), /Tools 1 to 40 of 1000/);
      const longest = () =>
        page.evaluate(() => {
          const { longest } = window;
          window.longest = 0;
          return Math.round(longest);
        });
      const matrix = await longest();
      await view(page, 'rewrite');
      await page.getByRole('button', { name: /^Show \d+ more/ }).waitFor({ timeout: 60_000 });
      await page.waitForTimeout(500);
      await page.getByRole('button', { name: 'Share' }).click();
      await page.locator('.toast', { hasText: 'too long for a link' }).waitFor();
      console.log(`# longest task: pasted and surveyed ${matrix} ms, compared ${await longest()} ms`);
    }));
});
