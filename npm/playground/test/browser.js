// Opens the built page in a browser. Every test fails if the page reports an error or a warning, or contacts another host.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as playwright from 'playwright-core';
import { preview } from 'vite';
import { chromium } from '../../test/unpinned.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** For tests in the browser: `skip` is an option of `describe`, and a failed `test` names the browser's version. */
export const { skip, test } = chromium;

/** Starts the browser. */
export const launch = () =>
  chromium.run(() =>
    playwright.chromium.launch({ executablePath: chromium.path, args: ['--no-sandbox', '--disable-gpu'] }),
  );

/** Wide enough for two texts side by side. */
export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 360, height: 740 };

/** Serves the built page, and starts the browser. */
export async function start() {
  if (!existsSync(join(ROOT, 'dist/index.html')))
    throw new Error('expected npm/playground/dist: run `scripts/site.sh playground build`');
  const server = await preview({
    root: ROOT,
    configFile: join(ROOT, 'vite.config.js'),
    logLevel: 'error',
    preview: { port: 0, host: '127.0.0.1' },
  });
  const url = `http://127.0.0.1:${server.httpServer.address().port}/`;
  const browser = await launch();
  return {
    url,
    /** Runs `test` on a new page. Fails if the page reports a problem that matches none of the expected `complaints`. */
    async page(options, test) {
      const { hash = '', viewport = WIDE, complaints = [], ...rest } = options;
      const context = await browser.newContext({ viewport, ...rest });
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url.slice(0, -1) });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const problems = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) problems.push(message.text());
      });
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('request', (request) => {
        // The worker is a blob of the page.
        if (![url, 'data:', `blob:${url}`].some((own) => request.url().startsWith(own)))
          problems.push(`asked for ${request.url()}`);
      });
      page.on('websocket', (socket) => problems.push(`opened ${socket.url()}`));
      try {
        await page.goto(url + hash);
        await page.locator('.header').waitFor();
        await settled(page);
        await test(page);
        assert.deepEqual(
          problems.filter((each) => !complaints.some((expected) => expected.test(each))),
          [],
        );
      } finally {
        await context.close();
      }
    },
    async stop() {
      await browser.close();
      await server.close();
    },
  };
}

/** Waits until the page shows the results for its text and choices, which a worker computes. */
export const settled = (page) => page.locator('html[data-busy=false]').waitFor({ state: 'attached' });

/** This and the next two functions select an example, a view or a dialect, and wait for the result. */
export async function pick(page, example) {
  await page.locator('.pick select').selectOption(example);
  await settled(page);
}
export async function view(page, name) {
  await page.locator(`#tab-${name}`).click();
  await settled(page);
}
export async function dialect(page, name) {
  await page.locator(`[data-dialect="${name}"]`).click();
  await settled(page);
}

/** Returns the text that the output's copy button copies. */
export async function output(page) {
  await settled(page);
  const toast = page.locator('.toast');
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await toast.getByText('Output copied.').waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Replaces the text of an editor by typing, and waits for the result. */
export async function write(page, label, text) {
  await page.getByLabel(label, { exact: true }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
  await settled(page);
}
