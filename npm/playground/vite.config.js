// Builds the page as static files, with relative paths, so that any folder of any host can serve them: a policy against data leaks, a worker
// that inherits it, and a service worker that keeps the files for reloading without a network.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { defineConfig } from 'vite';

/** The page's policy: it may run its own scripts and WebAssembly, and may not connect anywhere, so no data can leave it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  // Style attributes only, which cannot load anything: editors indent wrapped lines with them, and Chromium sets some during typing.
  "style-src-attr 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'none'",
  // `self` is the service worker. The worker is a blob, because a blob inherits this policy; a worker with a URL has that of its response,
  // and a static host sends none.
  "worker-src 'self' blob:",
  "form-action 'none'",
  "base-uri 'none'",
  // Text can never become markup or a script, because the page only creates DOM nodes.
  "require-trusted-types-for 'script'",
  // The one policy, in src/trusted.ts, allows the URLs of both workers.
  'trusted-types default',
].join('; ');

/** The command line, which the package does not contain: `scripts/site.sh playground` builds it. */
const COMMAND = fileURLToPath(new URL('../../bindings-wasm/pkg/command', import.meta.url));
const packaged = (name) => fileURLToPath(new URL(`node_modules/toolwire/dist/${name}`, import.meta.url));
const DEFLATE = fileURLToPath(new URL('../scripts/deflate.js', import.meta.url));

/** Provides the WebAssembly of the package as text in a script, because the policy forbids `fetch`. */
function webAssembly() {
  let isBuilt = false;
  const bytes = {
    library: () => readFileSync(packaged('toolwire.wasm')),
    command: () => readFileSync(`${COMMAND}/toolwire_wasm_bg.wasm`),
  };
  // The package's own deflater takes seconds, and saves 5 %.
  const smallest = (input) => execFileSync(process.execPath, [DEFLATE], { input, maxBuffer: input.length });
  return {
    name: 'webassembly',
    configResolved({ command }) {
      isBuilt = command === 'build';
    },
    resolveId: (id) => (id.startsWith('page:') ? `\0${id}` : undefined),
    load(id) {
      const read = id.startsWith('\0page:') ? bytes[id.slice(6)] : undefined;
      if (read === undefined) return undefined;
      const deflated = isBuilt ? smallest(read()) : deflateRawSync(read());
      return `export const deflated = "${deflated.toString('base64')}";`;
    },
  };
}

/** Leaves out wasm-bindgen's asynchronous initialization, for which Vite would add a second copy of the file to the page. */
function commandLine() {
  return {
    name: 'command-line',
    enforce: 'pre',
    transform: (code, id) =>
      id.startsWith(COMMAND) ? { code: code.replaceAll('import.meta.url', '""'), map: null } : undefined,
  };
}

/** Writes the service worker, which keeps exactly the files of this build. */
function offline() {
  return {
    name: 'offline',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const files = Object.keys(bundle).filter((name) => !name.endsWith('.map'));
      const hash = createHash('sha256');
      for (const name of files.sort()) hash.update(name).update(bundle[name].code ?? bundle[name].source);
      const list = JSON.stringify(['./', ...files.filter((name) => name !== 'index.html')]);
      const template = readFileSync(new URL('service-worker.js', import.meta.url), 'utf8');
      const source = template.replace("'VERSION'", `'${hash.digest('hex').slice(0, 16)}'`).replace("['FILES']", list);
      this.emitFile({ type: 'asset', fileName: 'service-worker.js', source });
    },
  };
}

export default defineConfig({
  base: './',
  // The command line is outside the folder of the page.
  server: { fs: { allow: ['.', COMMAND] } },
  resolve: { alias: { 'toolwire/command': `${COMMAND}/toolwire_wasm.js` } },
  build: {
    target: 'es2023',
    // The chunks with the WebAssembly are that large.
    chunkSizeWarningLimit: 2500,
    // Fonts and icons stay separate files, because the policy refuses a font inlined as a `data:` URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'library', test: /page:library/ },
            { name: 'command', test: /page:command/ },
            { name: 'editor', test: /node_modules[\\/](@codemirror|@lezer|style-mod|w3c-keyname|crelt)/ },
          ],
        },
      },
    },
  },
  worker: { plugins: () => [commandLine()] },
  plugins: [
    webAssembly(),
    commandLine(),
    offline(),
    {
      // Only in builds: Vite's client in development connects to its server and writes style elements.
      name: 'content-security-policy',
      apply: 'build',
      transformIndexHtml: () => [
        { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY }, injectTo: 'head-prepend' },
      ],
    },
  ],
});
