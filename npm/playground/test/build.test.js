// Tests the built files without a browser: the policy, the paths, and the sizes.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const DIST = new URL('../dist/', import.meta.url);
const html = readFileSync(new URL('index.html', DIST), 'utf8');
const assets = readdirSync(new URL('assets/', DIST));

test('the policy allows scripts and styles of the page, WebAssembly, and no connection', () => {
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html);
  const directives = Object.fromEntries(
    policy
      .replaceAll('&#39;', "'")
      .split('; ')
      .map((each) => [each.split(' ')[0], each.split(' ').slice(1)]),
  );
  assert.deepEqual(directives['default-src'], ["'none'"]);
  assert.deepEqual(directives['connect-src'], ["'none'"]);
  assert.deepEqual(directives['script-src'], ["'self'", "'wasm-unsafe-eval'"]);
  assert.deepEqual(directives['style-src'], ["'self'"]);
  // The worker is a blob, which inherits the policy; the service worker is a file.
  assert.deepEqual(directives['worker-src'], ["'self'", 'blob:']);
  assert.deepEqual(directives['trusted-types'], ['default']);
  assert.ok(html.indexOf('Content-Security-Policy') < html.indexOf('<script'), 'the policy precedes the scripts');
});

test('all paths are relative to the page, so that any folder can serve it', () => {
  const named = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path);
  assert.ok(named.length >= 3);
  for (const path of named) assert.match(path, /^\.\/assets\//);
  const styles = assets.filter((name) => name.endsWith('.css'));
  for (const name of styles) {
    const urls = readFileSync(new URL(`assets/${name}`, DIST), 'utf8').matchAll(/url\(["']?([^"')]*)/g);
    for (const [, url] of urls) assert.match(url, /^\.\/[\w-]+\.woff2$/);
  }
});

test('the service worker keeps every file of the build', () => {
  const worker = readFileSync(new URL('service-worker.js', DIST), 'utf8');
  const [, list] = /const FILES = (\[[^\]]*\]);/.exec(worker);
  assert.deepEqual(JSON.parse(list).sort(), ['./', ...assets.map((name) => `assets/${name}`)].sort());
  assert.match(worker, /\$\{PREFIX\}\$\{'[0-9a-f]{16}'\}/);
});

test('the size of the build is within the limits', () => {
  const sizes = ['index.html', ...assets.map((name) => `assets/${name}`)].map((name) => {
    const bytes = readFileSync(new URL(name, DIST));
    const sent = name.endsWith('.woff2') ? bytes.length : gzipSync(bytes, { level: 9 }).length;
    return { name, bytes: bytes.length, sent };
  });
  for (const { name, bytes, sent } of sizes) console.log(`# ${name}: ${bytes} bytes, ${sent} sent`);
  const all = sizes.reduce((sum, { sent }) => sum + sent, 0);
  console.log(`# all: ${all} bytes sent`);
  const isEngine = ({ name }) => /\/(library|command)-/.test(name);
  const own = sizes.filter((one) => !isEngine(one)).reduce((sum, { sent }) => sum + sent, 0);
  assert.ok(own < 320_000, `expected at most 320 kB in addition to the WebAssembly, found ${own} bytes`);
  assert.equal(sizes.filter(isEngine).length, 2);
  // The WebAssembly of quick builds (scripts/build.sh) is larger. CI tests release builds.
  const most = process.env.TOOLWIRE_BUILD === 'quick' ? 6_000_000 : 3_000_000;
  assert.ok(all < most, `expected at most ${most} bytes, found ${all}`);
});
