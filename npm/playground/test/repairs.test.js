// Tests repaired arguments in the view "Restore": first the data for the view, without a browser, then the view itself.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { test as browserTest, dialect, NARROW, pick, settled, skip, start, view, write } from './browser.js';
import { startEngine } from './engine.js';

const text = (name) => readFileSync(new URL(`../src/examples/${name}.json`, import.meta.url), 'utf8');

describe('repaired arguments', () => {
  let engine;
  let restored;
  let examples;
  before(async () => {
    engine = await startEngine();
    [restored, examples] = await engine.load('calls/restored', 'examples/index');
  });
  after(() => engine.stop());

  const found = (source, args, dialect, more = {}) => {
    const document = engine.documentOf(source);
    return restored.restoredOf(document, document.entries[0], { dialect, options: {}, args, repair: true, ...more });
  };

  test('the example shows each kind of repair, a remaining violation, and the message about it', () => {
    const { text: source, choice } = examples.exampleOf('repair');
    const { restored: gets, repaired } = found(source, choice.args, choice.dialect);
    assert.deepEqual(JSON.parse(gets), { projects: ['web', 'docs'], state: 'open', limit: 20, sort: 'newest' });
    assert.deepEqual(
      repaired.notes.map(({ rule, effect, pointer, outputPointer }) => [rule, effect, pointer, outputPointer]).sort(),
      [
        ['enum-spelling', 'likely', '/state', '/state'],
        ['json-string', 'exact', '/Projects', '/projects'],
        ['no-rule', 'left', '', '/sort'],
        ['omit-null', 'exact', '/assignee', null],
        ['property-name', 'likely', '/Projects', '/projects'],
        ['string-to-number', 'exact', '/limit', '/limit'],
      ],
    );
    assert.equal(repaired.valid, false);
    assert.equal(repaired.repairs, 5);
    assert.match(repaired.retryMessage, /^The arguments of `find_tickets` do not match.*\n- \/sort: expected/);
    const last = repaired.notes.at(-1);
    assert.deepEqual(last.left, { keyword: 'enum', why: 'No repair rule gives a valid result.' });
  });

  test('invalid JSON is repaired, or left unchanged with a reason', () => {
    const broken = "```json\n{'projects': ['web'],}\n```";
    const { restored: gets, repaired, misread } = found(text('repair'), broken, 'openai-chat');
    assert.deepEqual(JSON.parse(gets), { projects: ['web'] });
    assert.equal(misread, undefined);
    assert.equal(repaired.valid, true);
    assert.ok(repaired.notes.some(({ rule }) => rule === 'fence'));
    const cut = '{"projects": ["web", "do';
    const unread = found(text('repair'), cut, 'openai-chat');
    assert.equal(unread.restored, cut);
    assert.deepEqual(
      unread.repaired.notes.map(({ rule, outputPointer }) => [rule, outputPointer]),
      [['truncated', '']],
    );
    assert.equal(unread.repaired.placed, 1);
    assert.equal(unread.repaired.notes[0].byte, cut.length);
    const off = found(text('repair'), cut, 'openai-chat', { repair: false });
    assert.equal(off.misread.rule, 'invalid-json');
    assert.equal(off.repaired, undefined);
  });

  test('encoded arguments are decoded, too', () => {
    const args = '{"title":"t","kind":"incident","severity":"3","labels":[{"key":"k","value":"v"}]}';
    const { restored: gets, repaired } = found(text('ticket'), args, 'openai-strict');
    assert.deepEqual(JSON.parse(gets), { title: 't', kind: 'incident', severity: 3, labels: { k: 'v' } });
    assert.deepEqual(
      repaired.notes.map(({ rule }) => rule),
      ['string-to-number'],
    );
  });

  test('valid values are never changed; a bare schema has no name', () => {
    const { seenName, ownName, same, repaired } = found(
      '{"properties":{"a":{"type":"string"}}}',
      '{"a":"[1]"}',
      'codex',
    );
    assert.deepEqual([seenName, ownName, same], [undefined, undefined, true]);
    assert.deepEqual(repaired, { valid: true, notes: [], repairs: 0, placed: 0, retryMessage: null });
    const codex = found('{"properties":{"a":{"type":"integer"}}}', '{"a":"1"}', 'codex');
    assert.deepEqual(JSON.parse(codex.restored), { a: 1 });
  });
});

describe('the view of repaired arguments', { skip }, () => {
  let site;
  before(async () => {
    site = await start();
  });
  after(() => site.stop());

  const ARGS = 'Arguments from the model';
  const rules = (page) => page.locator('.note-rule').allTextContents();
  const repair = (page) => page.getByRole('switch', { name: 'Repair arguments' });

  browserTest('the switch is off by default, marks the repairs, and is saved in the link', () =>
    site.page({}, async (page) => {
      await view(page, 'restore');
      assert.equal(await repair(page).isChecked(), false);
      assert.equal(await page.locator('.notes').count(), 0);
      await write(page, ARGS, '{"title":"t","kind":"incident","severity":"2"}');
      await page.getByLabel('Restored arguments').getByText('"2"').waitFor();
      await repair(page).focus();
      await page.keyboard.press('Space');
      await settled(page);
      await page.locator('.verdict', { hasText: 'The tool’s original schema now accepts the arguments.' }).waitFor();
      assert.deepEqual(await rules(page), ['string-to-number']);
      assert.match(await page.getByLabel('Restored arguments').innerText(), /"severity": 2$/m);
      await page.getByRole('button', { name: 'Share' }).click();
      await page.locator('.toast', { hasText: 'Link copied' }).waitFor();
      await page.reload();
      assert.equal(await repair(page).isChecked(), true);
      assert.deepEqual(await rules(page), ['string-to-number']);
      await repair(page).uncheck();
      assert.equal(await page.locator('.notes').count(), 0);
    }),
  );

  browserTest('the example shows a card and a mark for each repair that the API reports', () =>
    site.page({}, async (page) => {
      await pick(page, 'repair');
      await page.locator('#tab-restore[aria-selected=true]').waitFor();
      const answered =
        '{"Projects":"[\\"web\\", \\"docs\\"]","state":"Open","limit":"20","assignee":null,"sort":"newest"}';
      const expected = await page.evaluate(
        ([tool, args]) => {
          const { restore } = window.toolwire.sanitizeTools([tool], { dialect: 'openai-chat', repair: true });
          return restore.call(tool.name, args);
        },
        [JSON.parse(text('repair')), answered],
      );
      const { repairs, left, retryMessage } = expected;
      assert.deepEqual(await rules(page), [...repairs.map(({ rule }) => rule), ...left.map(({ reason }) => reason)]);
      assert.deepEqual(await page.locator('.note .effect').allTextContents(), [
        ...repairs.map(({ confidence }) => confidence),
        ...left.map(() => 'left'),
      ]);
      assert.match(await page.locator('.verdict').innerText(), /Partly repaired/);
      assert.match(await page.locator('.note', { hasText: 'omit-null' }).innerText(), /removed/);
      assert.equal(await page.locator('.retry pre').innerText(), retryMessage);
      await page.getByRole('button', { name: 'Copy message' }).click();
      await page.locator('.toast', { hasText: 'Message copied.' }).waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), retryMessage);
      for (const [side, name] of [
        ['a', 'Projects'],
        ['b', 'projects'],
      ]) {
        const mark = page.locator(`.cm-merge-${side} .tw-mark`, { hasText: name }).first();
        await mark.waitFor();
      }
      const number = page.locator('.cm-merge-b .tw-mark.tw-left');
      assert.equal(await number.innerText(), '"sort"');
      await number.hover();
      await page.locator('.cm-tooltip', { hasText: 'no-rule · left' }).waitFor();
      await number.click();
      assert.match(await page.locator('.note[data-chosen=true]').innerText(), /No repair rule gives/);
    }),
  );

  browserTest('keys move between repairs; changing the dialect does not change the arguments', () =>
    site.page({}, async (page) => {
      await pick(page, 'repair');
      await page.locator('#tab-restore').focus();
      const chosen = () => page.locator('.note[data-chosen=true] .note-number').innerText();
      await page.keyboard.press('n');
      await page.keyboard.press('n');
      assert.equal(await chosen(), '2');
      await page.keyboard.press('p');
      assert.equal(await chosen(), '1');
      const before = await rules(page);
      await dialect(page, 'gemini');
      assert.match(await page.getByLabel(ARGS).innerText(), /"Projects"/);
      assert.deepEqual(await rules(page), before);
      assert.equal(await page.locator('.note[data-chosen=true]').count(), 0);
      await page.getByRole('button', { name: 'Generate arguments' }).click();
      await settled(page);
      await page.locator('.verdict', { hasText: 'No repairs are necessary' }).waitFor();
      assert.equal(await page.locator('.retry').count(), 0);
      await pick(page, 'ticket');
      assert.equal(await repair(page).isChecked(), false);
    }),
  );

  browserTest('invalid JSON is repaired while typing', () =>
    site.page({}, async (page) => {
      await pick(page, 'repair');
      await write(page, ARGS, "{'projects': ['web'],}");
      await page.locator('.verdict', { hasText: 'original schema now accepts' }).waitFor();
      assert.match(await page.getByLabel('Restored arguments').innerText(), /"projects"/);
      // Offsets are in bytes, not in characters.
      await write(page, ARGS, '{"projects": [\'ü\'],}');
      await page.locator('.note', { hasText: 'extra-comma' }).click();
      const mark = page.locator('.cm-merge-a .tw-mark[data-note="1"]');
      assert.equal(await mark.innerText(), ',');
      await write(page, ARGS, '{"projects": ["web", "do');
      await page.locator('.note-rule', { hasText: 'truncated' }).waitFor();
      assert.match(await page.locator('.retry pre').innerText(), /truncated text/);
      assert.equal(await page.locator('.cm-merge-a .tw-mark.tw-left').innerText(), 'o');
      await page.keyboard.type('cs"]}');
      await settled(page);
      await page.locator('.verdict', { hasText: 'No repairs are necessary' }).waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
    }),
  );

  browserTest('on a small screen, a selected card shows the text before and after', () =>
    site.page({ viewport: NARROW }, async (page) => {
      await pick(page, 'repair');
      await page.locator('.note', { hasText: 'string-to-number' }).click();
      assert.match(await page.locator('.excerpt-before').innerText(), /"limit": "20"/);
      assert.match(await page.locator('.excerpt-after').innerText(), /"limit": 20/);
    }),
  );
});
