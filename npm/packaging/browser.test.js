// Tests in a real browser: the package's own file as a module, with and without a content security policy that allows WebAssembly.
// Skipped if there is no Chromium on the PATH (or named by TOOLWIRE_CHROMIUM).

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';

import { chromium } from '../test/unpinned.js';
import { PROJECTS, SANITIZED } from './project.js';

const DIST = join(PROJECTS, 'node_modules/toolwire/dist');
const { test } = chromium;
const CALL = `JSON.stringify(sanitize({ properties: { unit: { const: 'celsius' } } }, { dialect: 'codex' }).schema)`;
const SCRIPTS = {
  'plain.js': `import { sanitize } from '/dist/index.js'; tell(() => ${CALL});`,
  'slim.js': `import { init, sanitize } from '/dist/slim.js';
    const bytes = await (await fetch('/dist/toolwire.wasm')).arrayBuffer();
    tell(() => { init(bytes); return ${CALL}; });`,
  'streaming.js': `import { init, sanitize } from '/dist/slim.js';
    const module = await WebAssembly.compileStreaming(fetch('/dist/toolwire.wasm'));
    tell(() => { init(module); return ${CALL}; });`,
};
const TELL = `function tell(call) {
  let result; try { result = call(); } catch (error) { result = error.name + ': ' + error.message; }
  document.body.textContent = result;
}\n`;
/** A page's address contains the index of its policy, because Chromium drops addresses with quotes from its command line. */
const POLICIES = ["script-src 'self' 'wasm-unsafe-eval'", "script-src 'self'"];
const [ALLOWED, FORBIDDEN] = POLICIES.keys();
const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };

describe('Chromium', { skip: chromium.skip }, () => {
  let server;
  let profile;

  before(async () => {
    profile = mkdtempSync(join(tmpdir(), 'toolwire-chromium-'));
    // "/page/INDEX/SCRIPT" serves a page with that policy and that script.
    server = createServer(({ url }, response) => {
      const [, folder, name, ...rest] = decodeURIComponent(url).split('/');
      if (folder === 'page') {
        response.setHeader('content-security-policy', POLICIES[name]);
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><body>nothing yet<script type="module" src="/script/${rest[0]}"></script>`);
      } else if (folder === 'script') {
        response.setHeader('content-type', TYPES.js);
        response.end(TELL + SCRIPTS[name]);
      } else if (folder === 'dist') {
        response.setHeader('content-type', TYPES[url.split('.').at(-1)]);
        response.end(readFileSync(join(DIST, name, ...rest)));
      } else {
        response.writeHead(404).end();
      }
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  after(() => {
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });

  /** Returns the text of a page after its script ran. */
  async function page(policy, script) {
    const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
    const options = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      ...quiet,
      `--user-data-dir=${profile}`,
    ];
    const url = `http://127.0.0.1:${server.address().port}/page/${policy}/${script}`;
    const stdout = await new Promise((resolve, reject) => {
      const given = [...options, '--virtual-time-budget=20000', '--dump-dom', url];
      execFile(chromium.path, given, { timeout: 120_000 }, (error, text) => (error ? reject(error) : resolve(text)));
    });
    return /<body>(.*?)<\/body>/s.exec(stdout)[1].trim();
  }

  for (const script of Object.keys(SCRIPTS)) {
    test(`${script}, with 'wasm-unsafe-eval'`, async () => {
      assert.equal(await page(ALLOWED, script), SANITIZED);
    });
    // The browser itself refuses a module that the page compiles, before toolwire is called.
    if (script === 'streaming.js') continue;
    test(`${script}, without 'wasm-unsafe-eval': the error names the directive`, async () => {
      const shown = await page(FORBIDDEN, script);
      assert.match(shown, /^ToolwireError: no-webassembly: .*`script-src 'wasm-unsafe-eval'`.*\(CompileError: /);
    });
  }
});
