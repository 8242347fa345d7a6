// Runs the lines of docs/typescript.md in the console of a page of another origin, as Chromium's developer tools evaluate them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { preview } from 'vite';
import { launch, skip, test } from './browser.js';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const CONFIG = path('../devtools.config.js');
const section = readFileSync(path('../../../docs/typescript.md'), 'utf8').split("## Any page's console")[1];
const [local, cdn, call] = [...section.matchAll(/^```js\n(.*?)\n```$/gms)].map(([, line]) => line);
/** The URL of the import on this machine, and the one at the CDN. */
const [LOCAL, CDN] = [local, cdn].map((line) => /import\('(.*?)'\)/.exec(line)[1]);
const SANITIZED = { type: 'object', properties: { unit: { type: 'string', enum: ['celsius'] } } };

describe('the console of any page', { skip }, () => {
  let files;
  let pages;
  let browser;
  /** Policies of the pages. A page's address contains the index of its policy. */
  const policies = [];

  before(async () => {
    files = await preview({ configFile: CONFIG, logLevel: 'error' });
    pages = createServer(({ url }, response) => {
      const policy = policies[url.slice(1)] ?? '';
      if (policy !== '') response.setHeader('content-security-policy', policy);
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>a page</title>');
    });
    await new Promise((resolve) => pages.listen(0, '127.0.0.1', resolve));
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    pages?.close();
    await files?.close();
  });

  /** Evaluates lines in the console of a page with a policy, and returns the last value or the error. */
  async function entered(policy, lines, route) {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      if (route !== undefined) await page.route(...route);
      await page.goto(`http://127.0.0.1:${pages.address().port}/${policies.push(policy) - 1}`);
      const console = await context.newCDPSession(page);
      let shown;
      for (const expression of lines) {
        // `replMode` evaluates as the console does: with `await` at the top level, and constants that later lines can use.
        const options = {
          expression,
          replMode: true,
          awaitPromise: true,
          returnByValue: !expression.startsWith('const'),
        };
        const { result, exceptionDetails } = await console.send('Runtime.evaluate', options);
        if (exceptionDetails !== undefined) return exceptionDetails.exception.description;
        shown = result.value;
      }
      return shown;
    } finally {
      await context.close();
    }
  }

  const server = new URL(LOCAL).origin;

  test('the line loads the library from this machine, and the next one calls it', async () => {
    assert.deepEqual(await entered('', [local, call]), SANITIZED);
  });

  test('a page of another origin can load the files only with a CORS header', async () => {
    const { headers } = await fetch(LOCAL, { headers: { origin: 'https://page.example' } });
    assert.equal(headers.get('access-control-allow-origin'), '*');
    const without = await preview({ configFile: CONFIG, logLevel: 'error', preview: { cors: false, port: 0 } });
    try {
      const other = `http://127.0.0.1:${without.httpServer.address().port}`;
      assert.equal((await fetch(`${other}/index.js`)).status, 200);
      assert.match(await entered('', [local.replace(server, other), call]), /^TypeError: Failed to fetch/);
    } finally {
      await without.close();
    }
  });

  test('a missing file has the status 404', async () => {
    assert.equal((await fetch(`${server}/none.js`)).status, 404);
  });

  test('the line for a CDN loads the same files', async () => {
    const cdnFolder = new URL('.', CDN).href;
    const served = async (route) => {
      const url = new URL(route.request().url().replace(cdnFolder, `${server}/`));
      await route.fulfill({ response: await route.fetch({ url: url.href }) });
    };
    assert.deepEqual(await entered('', [cdn, call], [`${cdnFolder}**`, served]), SANITIZED);
  });

  test('the line works under a policy that allows the server and WebAssembly', async () => {
    assert.deepEqual(await entered(`script-src ${server} 'wasm-unsafe-eval'`, [local, call]), SANITIZED);
  });

  test('the error names the directive if a policy forbids WebAssembly', async () => {
    const output = await entered(`script-src ${server}`, [local, call]);
    assert.match(
      output,
      /^ToolwireError: no-webassembly: .*`script-src 'wasm-unsafe-eval'` in its Content-Security-Policy/,
    );
  });

  test('the import fails if a policy forbids the server', async () => {
    assert.match(await entered("script-src 'self'", [local, call]), /^TypeError: Failed to fetch/);
  });
});
