// Takes the screenshots of the README from the built page: `npm run screenshots`, after `scripts/site.sh playground build`.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { pick, settled, start, view } from './test/browser.js';

const IMAGES = join(dirname(fileURLToPath(import.meta.url)), '../../docs/images');
const viewport = { width: 1280, height: 760 };
const site = await start();

async function picture(name, given, prepared) {
  const path = join(IMAGES, `${name}.png`);
  await site.page({ viewport, reducedMotion: 'reduce', ...given }, async (page) => {
    await prepared(page);
    await settled(page);
    // Waits until every dialect has its verdict.
    if (name !== 'playground-deferred') {
      await page.locator('.dialect .sign-none').first().waitFor({ state: 'detached' });
    }
    // Waits until the page's short messages have disappeared.
    await page.waitForTimeout(1_000);
    await page.screenshot({ path });
  });
  console.log(`${path.slice(path.indexOf('docs/'))}: ${Math.round(statSync(path).size / 1000)} kB`);
}

mkdirSync(IMAGES, { recursive: true });
await picture('playground-rewrite', { colorScheme: 'light' }, async (page) => {
  await page.locator('.note', { hasText: 'map-to-pairs' }).click();
});
await picture('playground-deferred', { colorScheme: 'dark' }, async (page) => {
  await pick(page, 'conversation');
  await view(page, 'deferred');
  await page.locator('.turn-button').nth(5).click();
});
await site.stop();
