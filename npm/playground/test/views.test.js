// Clicks through every view, and compares what the page shows with the results of its own `window.toolwire`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe } from 'node:test';

import { dialect, output, pick, settled, skip, start, test, view, write } from './browser.js';

const source = (name) => readFileSync(new URL(`../src/examples/${name}.json`, import.meta.url), 'utf8');
const example = (name) => JSON.parse(source(name));

describe('the views', { skip }, () => {
  let site;
  before(async () => {
    site = await start();
  });
  after(() => site.stop());

  test('the output and the notes of a rewritten tool match the API', () =>
    site.page({}, async (page) => {
      for (const name of ['openai-strict', 'gemini', 'bedrock']) {
        await dialect(page, name);
        const expected = await page.evaluate(
          ([tool, dialect]) => {
            const { tools, changes } = window.toolwire.sanitizeTools([tool], { dialect, format: 'mcp' });
            return { tool: tools[0], rules: changes.map(({ rule }) => rule) };
          },
          [example('ticket'), name],
        );
        assert.deepEqual(JSON.parse(await output(page)), expected.tool, name);
        assert.deepEqual(await page.locator('.note-rule').allTextContents(), expected.rules, name);
      }
    }));

  test('the schema of a response format is rewritten in place, for structured output', () =>
    site.page({}, async (page) => {
      const schema = { type: 'array', items: { type: 'string' } };
      await dialect(page, 'openai-strict');
      await write(page, 'Input', JSON.stringify({ type: 'json_schema', json_schema: { name: 'cities', schema } }));
      const expected = await page.evaluate(
        (given) => window.toolwire.sanitize(given, { dialect: 'openai-strict', use: 'response' }).schema,
        schema,
      );
      assert.deepEqual(JSON.parse(await output(page)).json_schema, { name: 'cities', schema: expected });
      assert.deepEqual(await page.locator('.note-rule').allTextContents(), ['wrap-root']);
      assert.match(await page.locator('.pane-kind').first().innerText(), /response format/);
    }));

  test('a note shows its place, rule and effect, and the error that it prevents', () =>
    site.page({}, async (page) => {
      const note = page.locator('.note', { hasText: 'map-to-pairs' });
      await note.click();
      const text = await note.innerText();
      assert.match(text, /\/inputSchema\/properties\/labels/);
      assert.match(text, /encoded/);
      assert.match(text, /arguments same, guidance same, encoded/);
      assert.match(text, /'additionalProperties' is required to be supplied and to be false/);
    }));

  test('a selected note is marked on both sides, and a number in the editor selects its note', () =>
    site.page({}, async (page) => {
      await page.locator('.note', { hasText: 'map-to-pairs' }).click();
      for (const side of ['.cm-merge-a', '.cm-merge-b']) {
        const line = page.locator(`${side} .tw-chosen-line`).first();
        await line.waitFor();
        assert.match(await line.innerText(), side === '.cm-merge-a' ? /labels/ : /items/);
        assert.ok(
          await line.evaluate((each) => {
            const { top, bottom } = each.getBoundingClientRect();
            return top > 0 && bottom < innerHeight;
          }),
          `${side} is in sight`,
        );
      }
      const number = page.locator('.cm-merge-a .tw-number').last();
      const named = Number.parseInt(await number.innerText(), 10);
      await number.click();
      assert.equal(await page.locator('.note[data-chosen=true] .note-number').innerText(), `${named}`);
    }));

  test('each tool of a list has its notes, and a tool that no API accepts is set aside', () =>
    site.page({}, async (page) => {
      await pick(page, 'workspace');
      await view(page, 'rewrite');
      assert.match(await page.locator('.verdict').innerText(), /1 tool set aside/);
      assert.equal(JSON.parse(await output(page)).length, 5);
      assert.ok((await page.locator('.note-tool').allTextContents()).includes('21st.set/properties'));
    }));

  test('check, normalizeEnvelope and applyDeferredLoading show the results of the API', () =>
    site.page({}, async (page) => {
      await pick(page, 'old-drafts');
      const call = async (name, ...rest) =>
        page.evaluate(([name, rest]) => window.toolwire[name](...rest), [name, [source('old-drafts'), ...rest]]);
      await page.locator('[data-fn=check]').click();
      await settled(page);
      const violations = await call('check', { dialect: 'moonshot' });
      assert.ok(violations.length > 0);
      assert.deepEqual(
        await page.locator('.note-rule').allTextContents(),
        violations.map(({ constraint }) => constraint),
      );
      await page.locator('[data-fn=normalizeEnvelope]').click();
      assert.deepEqual(JSON.parse(await output(page)), JSON.parse((await call('normalizeEnvelope')).schema));
      await pick(page, 'conversation');
      await view(page, 'rewrite');
      await page.locator('[data-fn=applyDeferredLoading]').click();
      const request = await page.evaluate(
        (request) => window.toolwire.applyDeferredLoading(request, { serverToolSearch: 'emulate' }).request,
        example('conversation'),
      );
      assert.deepEqual(JSON.parse(await output(page)), request);
    }));

  test('names in the history of a request are rewritten, too', () =>
    site.page({}, async (page) => {
      await pick(page, 'request');
      const request = JSON.parse(await output(page));
      assert.equal(request.messages[2].tool_calls[0].function.name, request.tools[0].function.name);
      assert.equal(request.tool_choice.function.name, request.tools[1].function.name);
    }));

  test('numbers keep their spelling', () =>
    site.page({}, async (page) => {
      await pick(page, 'old-drafts');
      assert.match(await output(page), /"minimum": 1\.0,\s+"maximum": 9007199254740993/);
    }));

  test('a syntax error is shown with code and place, while the editor keeps the focus', () =>
    site.page({}, async (page) => {
      await write(page, 'Input', '{"type": "object", "properties": {"a": [1,}}');
      const note = page.locator('.note');
      await note.getByText('invalid-json').waitFor();
      assert.match(await note.innerText(), /line 1, column 43/);
      assert.equal(await page.locator('.cm-merge-a .tw-refused.tw-mark').innerText(), '}');
      await page.keyboard.press('End');
      await page.keyboard.type('!');
      assert.match(await page.locator('.cm-merge-a .cm-content').innerText(), /!/);
      await write(page, 'Input', '{"type": "string"}');
      await page.locator('.note-rule', { hasText: 'not-representable' }).waitFor();
    }));

  test('options of the dialect change the call', () =>
    site.page({}, async (page) => {
      await page.getByText('Options', { exact: true }).click();
      await page.getByLabel('Maximum loss').selectOption('same');
      await page.locator('.note-rule', { hasText: 'too-lossy' }).waitFor();
      assert.match(await page.locator('.call').innerText(), /allow: 'same'/);
      await page.keyboard.press('Escape');
      await page.getByLabel('Maximum loss').waitFor({ state: 'hidden' });
      assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'SUMMARY');
    }));

  test('every cell of the matrix has a grade and can be opened', () =>
    site.page({}, async (page) => {
      await pick(page, 'workspace');
      await view(page, 'matrix');
      const dialectCount = await page.evaluate(() => window.toolwire.dialects().length);
      const cells = example('workspace').length * dialectCount;
      await page
        .locator('.cell:not(.sign-none)')
        .nth(cells - 1)
        .waitFor();
      assert.equal(await page.locator('.cell').count(), cells);
      const refused = await page.evaluate((tools) => {
        const { dialects, sanitizeTools } = window.toolwire;
        const of = ({ name }) => sanitizeTools(tools, { dialect: name }).quarantined.length;
        return dialects().reduce((sum, each) => sum + of(each), 0);
      }, example('workspace'));
      assert.equal(await page.locator('.cell.grade-refused').count(), refused);
      await page.getByRole('button', { name: /^append_blocks in gemini:/ }).click();
      await page.locator('#tab-rewrite[aria-selected=true]').waitFor();
      await settled(page);
      assert.equal(await page.locator('.dialect[aria-checked=true]').getAttribute('data-dialect'), 'gemini');
      assert.match(await page.locator('.only').innerText(), /append_blocks/);
      const rules = await page.locator('.note-rule').allTextContents();
      assert.ok(rules.includes('unroll-recursion') || rules.includes('inline-ref'), rules.join());
      await page.getByRole('button', { name: 'Show all tools' }).click();
      assert.ok((await page.locator('.note').count()) > rules.length);
    }));

  test('with two backends, what the model sees at each turn is what the API sends', () =>
    site.page({}, async (page) => {
      await pick(page, 'conversation');
      const { messages, ...rest } = example('conversation');
      const turns = await page.locator('.turn-button').count();
      assert.equal(turns, 9);
      let seen = 0;
      for (let turn = 0; turn < turns; turn++) {
        await page.locator('.turn-button').nth(turn).click();
        const { visible, hidden, savedBytes } = await page.evaluate(
          (request) => {
            const { request: sent, report } = window.toolwire.applyDeferredLoading(request, {
              serverToolSearch: 'emulate',
            });
            return { visible: sent.tools.length, hidden: report.hidden.length, savedBytes: report.savedBytes };
          },
          { ...rest, messages: messages.slice(0, 2 * turn + 1) },
        );
        const facts = await page.locator('.side-left .facts').innerText();
        assert.match(facts, new RegExp(`^${visible} tools visible, ${hidden} hidden`));
        assert.ok(facts.includes(`${savedBytes.toLocaleString('en')} bytes`), facts);
        assert.ok(visible >= seen, 'loaded tools are kept');
        seen = visible;
      }
      const rooms = page.locator('tbody tr', { hasText: 'rooms_find' });
      assert.equal(await rooms.locator('.bar-left.bar-visible, .bar-left.bar-arrives').count(), 8);
      await page.getByLabel('Hidden tools').selectOption('load-all');
      await settled(page);
      assert.equal(await page.locator('.bar-left.bar-hidden').count(), 0);
    }));

  test('two backends: carriers, notices, removals and betas are marked', () =>
    site.page({}, async (page) => {
      await pick(page, 'claude-code');
      await page.locator('.turn-button').nth(4).click();
      const [left, right] = [page.locator('.side-left'), page.locator('.side-right')];
      assert.match(await left.locator('.facts').innerText(), /inline-tools-2026-09-15/);
      assert.equal(await left.locator('.mark-removal + code').innerText(), 'mcp__tracker__close_issue');
      assert.equal(await left.locator('.said .mark-carrier + code').innerText(), 'mcp__releases__draft');
      assert.equal(await left.locator('.parted').count(), 0, 'the prefix stays');
      assert.match(await right.locator('.facts').innerText(), /The common prefix ends at \/input\/\d+/);
      assert.match(await right.locator('.mark-notice + span').innerText(), /no longer available/);
      assert.match(await right.locator('.tool-went').innerText(), /mcp__tracker__close_issue/);
      await page.getByLabel('Right backend').selectOption('openai-chat');
      await settled(page);
      assert.match(await right.locator('.tool-came').innerText(), /mcp__releases__draft/);
      assert.equal(await right.locator('.said .mark-carrier').count(), 0, 'the tool is in the list');
      await right.getByText('The request as JSON').click();
      await right.locator('.cm-line', { hasText: '"model": "some-model"' }).waitFor();
    }));

  test('with two backends, the turns are replayed automatically and by keys', () =>
    site.page({}, async (page) => {
      await pick(page, 'kimi');
      const at = page.locator('.stepper output');
      assert.equal(await at.innerText(), 'Turn 1 of 6');
      await page.getByRole('button', { name: 'Next turn' }).click();
      await page.getByRole('slider', { name: 'Turn' }).press('ArrowRight');
      assert.equal(await at.innerText(), 'Turn 3 of 6');
      await page.getByRole('slider', { name: 'Turn' }).press('End');
      await page.getByRole('button', { name: 'Next turn' }).press('Enter');
      assert.equal(await at.innerText(), 'Turn 6 of 6');
      await page.getByRole('button', { name: 'Play' }).click();
      await at.getByText('Turn 2 of 6').waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Previous turn' }).click();
      assert.equal(await at.innerText(), 'Turn 1 of 6');
    }));

  test('with two backends, one that cannot be used shows the reason', () =>
    site.page({}, async (page) => {
      await pick(page, 'codex');
      const request = { ...example('codex'), previous_response_id: 'resp_1' };
      await page.getByText('Edit the whole request').click();
      await write(page, 'Input', JSON.stringify(request));
      await page.locator('.side-right [role=alert]').getByText('invalid-request').waitFor();
      assert.equal(await page.locator('.side-left [role=alert]').count(), 0);
    }));

  test('restored arguments are updated while typing', () =>
    site.page({}, async (page) => {
      await page.getByRole('button', { name: 'Show how the model’s arguments are restored' }).click();
      await settled(page);
      const restored = page.getByLabel('Restored arguments');
      assert.match(await restored.innerText(), /"labels": \{ "region": "eu-west" \}/);
      await write(page, 'Arguments from the model', '{"title":"t","due":null,"labels":[{"key":"k","value":"v"}]}');
      await restored.getByText('"k"').waitFor();
      const text = await restored.innerText();
      assert.match(text, /"labels": \{ "k": "v" \}/);
      assert.doesNotMatch(text, /due/);
      await page.keyboard.type(']');
      await settled(page);
      assert.match(await page.getByRole('alert').innerText(), /invalid-json/);
      await dialect(page, 'bedrock');
      await page.getByText('never encodes arguments').waitFor();
    }));
});
