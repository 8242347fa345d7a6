// Builds the page as static files, with relative paths, so that any folder of any host can serve them, and a policy against data leaks.
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
  "form-action 'none'",
  "base-uri 'none'",
  // Text can never become markup or a script, because the page only creates DOM nodes.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export default defineConfig({
  base: './',
  build: {
    target: 'es2023',
    // The toolwire chunk contains the WebAssembly, so its size is expected.
    chunkSizeWarningLimit: 2500,
    // Fonts and icons stay separate files, because the policy refuses a font inlined as a `data:` URL.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'toolwire', test: /node_modules[\\/]toolwire/ },
            { name: 'editor', test: /node_modules[\\/](@codemirror|@lezer|style-mod|w3c-keyname|crelt)/ },
          ],
        },
      },
    },
  },
  plugins: [
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
