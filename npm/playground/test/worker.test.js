// Tests the results of the worker: inputs are read as by the command line, differences are between values, regardless of layout, and the page
// stays responsive and opens without a network.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { dialect, output, pick, settled, skip, start, view, write } from './browser.js';

const TOOL = { name: 'a', inputSchema: { type: 'object', properties: { unit: { const: 'celsius' } } } };

/** Returns a tool list of some megabytes, in one line. */
function long(megabytes) {
  const tool = (number) => ({
    name: `tool_${number}`,
    description: 'word '.repeat(150),
    inputSchema: { type: 'object', properties: { a: { const: number }, b: { type: 'string' } } },
  });
  const tools = Array.from({ length: Math.ceil((megabytes * 1_000_000) / 870) }, (_, number) => tool(number));
  return JSON.stringify(tools);
}

async function paste(page, text) {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.getByLabel('Input', { exact: true }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('ControlOrMeta+v');
}

describe('the worker', { skip }, () => {
  let site;
  before(async () => {
    site = await start();
  });
  after(() => site.stop());

  test('inputs are read, or refused, as on the command line', () =>
    site.page({}, async (page) => {
      await dialect(page, 'openai-strict');
      const answer = { jsonrpc: '2.0', id: 1, result: { tools: [TOOL, { ...TOOL, name: 'b' }] } };
      await write(page, 'Input', JSON.stringify(answer));
      assert.equal(await page.locator('.pane-kind').first().innerText(), 'tool list, 2 tools');
      assert.match(await page.locator('.note-facts').first().innerText(), /\/result\/tools\/0\/inputSchema/);
      assert.match(await page.locator('.call').innerText(), /^toolwire\.sanitizeTools\(input\.result\.tools,/);
      const call = await page.locator('.call code').innerText();
      assert.deepEqual(JSON.parse(await output(page)), (await page.evaluate(call)).tools);

      await write(page, 'Input', `${JSON.stringify(TOOL)}\n\n${JSON.stringify({ ...TOOL, name: 'b' })}\n`);
      assert.equal(await page.locator('.pane-kind').first().innerText(), 'tool list, 2 tools, a line each');
      assert.match(await page.locator('.note-facts').last().innerText(), /line 3, \/inputSchema/);
      assert.equal(await page.locator('.cm-merge-a .cm-line:has(.tw-mark)').count(), 2);
      assert.deepEqual(
        JSON.parse(await output(page)),
        (await page.evaluate(await page.locator('.call code').innerText())).tools,
      );

      for (const [given, message] of [
        [{ mcpServers: { a: { command: 'x' } } }, /found a file that declares servers/],
        [{ openapi: '3.1.0', info: {}, paths: {} }, /found an object with openapi, info, paths/],
        [{ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no' } }, /found the server's error: no/],
        [
          { name: 'a', input_shema: { type: 'object' } },
          /expected the tool's schema in inputSchema, found it in input_shema/,
        ],
      ]) {
        await write(page, 'Input', JSON.stringify(given));
        assert.equal(await page.locator('.verdict strong').innerText(), 'Refused');
        assert.match(await page.locator('.note-message').innerText(), message);
      }
      await view(page, 'matrix');
      assert.match(await page.locator('.refusal').innerText(), /^toolwire: <stdin>/);
    }));

  test('differences are between values, regardless of layout', () =>
    site.page({}, async (page) => {
      const changed = () => page.locator('.cm-merge-a .tw-changed-text, .cm-merge-b .tw-changed-text').allInnerTexts();
      await dialect(page, 'openai-strict');
      const found = [];
      for (const indent of [0, 1, 8]) {
        await write(page, 'Input', JSON.stringify(TOOL, null, indent));
        found.push((await changed()).map((text) => text.replace(/\s/g, '')).join(' '));
      }
      assert.match(found[0], /"const":"celsius" .*"required"/);
      assert.equal(found[1].replaceAll(' ', ''), found[0].replaceAll(' ', ''));
      assert.equal(found[2].replaceAll(' ', ''), found[0].replaceAll(' ', ''));
      await dialect(page, 'openai-chat');
      assert.deepEqual(await changed(), []);
    }));

  test('the verdict on a list shows a limit, tools that are not strict, and tools that are accepted with a reservation', () =>
    site.page({}, async (page) => {
      const tools = Array.from({ length: 130 }, (_, at) => ({ ...TOOL, name: `t${at}` }));
      await paste(page, JSON.stringify(tools));
      await view(page, 'matrix');
      const row = (name) => page.locator('tbody tr', { has: page.locator(`th:text-is("${name}")`) });
      await row('claude-desktop').locator('.cell:not(.sign-none)').first().waitFor({ timeout: 60_000 });
      const counts = await row('openai-chat').locator('.through').allInnerTexts();
      assert.deepEqual(counts, ['128 of 130', '128 of 130']);
      const strict = await row('anthropic-strict').locator('.grade-not-strict').count();
      assert.ok(strict > 0, 'more strict tools than the API accepts');
    }));

  // The editor warns if its estimates of line heights far from the top are wrong, and continues.
  const complaints = [/^Measure loop restarted/];
  test('with four megabytes, a key is handled and frames are drawn before the result arrives', () =>
    site.page({ complaints }, async (page) => {
      await page.evaluate((text) => navigator.clipboard.writeText(text), long(4));
      await page.evaluate(() => {
        window.seen = [];
        window.frames = 0;
        const { dataset } = document.documentElement;
        new MutationObserver(() => window.seen.push(dataset.busy === 'true' ? 'busy' : 'idle')).observe(
          document.documentElement,
          { attributeFilter: ['data-busy'] },
        );
        addEventListener('keydown', ({ key }) => window.seen.push(key), true);
        const draw = () => {
          if (dataset.busy === 'true') window.frames++;
          requestAnimationFrame(draw);
        };
        draw();
      });
      await page.getByLabel('Input', { exact: true }).click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('ControlOrMeta+v');
      await page.locator('html[data-busy=true]').waitFor({ state: 'attached' });
      await page.keyboard.press('F8');
      await page.locator('.pane-kind', { hasText: /^tool list, 4598 tools$/ }).waitFor({ timeout: 120_000 });
      await page.getByRole('button', { name: /^Show \d+ more/ }).waitFor({ timeout: 120_000 });
      // The editor shows typed text before the result for it arrives.
      await page.getByLabel('Input', { exact: true }).click();
      await page.keyboard.press('ControlOrMeta+Home');
      await page.evaluate(() => window.seen.push('typed'));
      await page.keyboard.type(' ');
      await page.waitForFunction(() => window.seen.slice(window.seen.lastIndexOf('typed')).includes('busy'));
      await page.locator('html[data-busy=false]').waitFor({ state: 'attached', timeout: 120_000 });
      const { seen, frames } = await page.evaluate(() => ({ seen: window.seen, frames: window.frames }));
      console.log(`# ${frames} frames drawn while the worker was busy`);
      assert.ok(seen.indexOf('F8') < seen.indexOf('idle', seen.indexOf('busy')), seen.join(' '));
      assert.deepEqual(seen.slice(seen.lastIndexOf('typed')), ['typed', ' ', 'busy', 'idle']);
      assert.ok(frames > 20, `${frames} frames`);
    }));

  test('jobs whose result is no longer needed are cancelled', () =>
    site.page({ complaints }, async (page) => {
      const started = [];
      page.on('worker', (worker) => started.push(worker));
      await paste(page, long(2));
      await page.locator('.pane-kind', { hasText: 'tools' }).waitFor({ timeout: 120_000 });
      for (const name of ['gemini', 'bedrock', 'openai-strict', 'anthropic-strict', 'moonshot']) {
        await page.locator(`[data-dialect="${name}"]`).click();
      }
      await page.locator('html[data-busy=false]').waitFor({ state: 'attached', timeout: 120_000 });
      assert.ok(started.length > 0, 'a worker with a long job was terminated');
      assert.equal(page.workers().length, 1);
      assert.match(await page.locator('.call').innerText(), /'moonshot'/);
      await pick(page, 'ticket');
      assert.match(await page.locator('.call').innerText(), /'openai-strict'/);
    }));

  test('a pasted text is not lost if its formatting is superseded or fails', () =>
    site.page({ complaints: [...complaints, /spoiled/] }, async (page) => {
      const input = page.getByLabel('Input', { exact: true });
      const text = (letter) => JSON.stringify([letter.repeat(60_000)]);
      const pasted = async (...texts) => {
        await input.click();
        await page.keyboard.press('ControlOrMeta+a');
        await input.evaluate((element, texts) => {
          for (const text of texts) {
            const clipboardData = new DataTransfer();
            clipboardData.setData('text/plain', text);
            element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
          }
        }, texts);
        await settled(page);
        await page.keyboard.press('ControlOrMeta+a');
        await page.keyboard.press('ControlOrMeta+c');
        return page.evaluate(() => navigator.clipboard.readText());
      };
      assert.equal((await pasted(text('a'), text('b'))).replace(/\s/g, ''), text('a') + text('b'));
      const [worker] = page.workers();
      await worker.evaluate(() => {
        const { postMessage } = globalThis;
        // Only the result of formatting is a string.
        globalThis.postMessage = (answer) =>
          postMessage(typeof answer.found === 'string' ? { failed: 'spoiled' } : answer);
      });
      assert.equal(await pasted(text('c')), text('c'));
    }));

  test('it has the policy of the page: it cannot connect, and cannot load scripts of other origins', () =>
    site.page({ complaints: [/Content Security Policy/, /^asked for https:\/\/example\.com/] }, async (page) => {
      const [worker] = page.workers();
      const tried = await worker.evaluate(async (url) => {
        const violated = [];
        addEventListener('securitypolicyviolation', ({ effectiveDirective }) => violated.push(effectiveDirective));
        const results = await Promise.allSettled([
          fetch(url),
          new Promise((resolve, reject) => {
            const socket = new WebSocket(url.replace('http', 'ws'));
            socket.onopen = resolve;
            socket.onerror = reject;
          }),
          import('https://example.com/x.js'),
        ]);
        return [results.map(({ status }) => status), violated.sort()];
      }, site.url);
      assert.deepEqual(tried, [
        ['rejected', 'rejected', 'rejected'],
        ['connect-src', 'connect-src', 'script-src-elem'],
      ]);
    }));

  test('a page that was open once opens without a network', () =>
    site.page({}, async (page) => {
      await page.evaluate(() => navigator.serviceWorker.ready);
      await page.locator('html[data-busy=false]').waitFor({ state: 'attached' });
      await page.context().setOffline(true);
      await page.reload();
      await page.locator('.header').waitFor();
      await settled(page);
      await dialect(page, 'moonshot');
      assert.equal(JSON.parse(await output(page)).name, 'create_ticket');
      await view(page, 'matrix');
      await page.locator('.cell:not(.sign-none)').nth(30).waitFor();
      assert.equal(await page.evaluate(() => document.fonts.check('16px "Inter Variable"')), true);
    }));
});
