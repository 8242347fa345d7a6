// The page as static files: relative paths, so that any folder of any host will do, and a policy that lets nothing out.
import { defineConfig } from 'vite';

/** What the page may do: run its own scripts and WebAssembly. It may connect to nothing, so nothing can leave it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  // Attributes alone, which reach nothing: editors indent wrapped lines with them, and Chromium writes some while one types.
  "style-src-attr 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  // No text becomes markup or a script, whoever wrote it: all of the page is made of nodes.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export default defineConfig({
  base: './',
  build: {
    target: 'es2023',
    // The toolwire chunk is its WebAssembly, which is what it is.
    chunkSizeWarningLimit: 2500,
    // Fonts and icons stay files of their own: a font in a style sheet is a `data:` address, which the policy refuses.
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
      // Not while developing: Vite's own client connects to its server and writes style elements.
      name: 'content-security-policy',
      apply: 'build',
      transformIndexHtml: () => [
        { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY }, injectTo: 'head-prepend' },
      ],
    },
  ],
});
