// Serves the package's own files on this machine to pages of every origin, for use in their consoles.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // A missing file is a 404, not a fallback page.
  appType: 'mpa',
  build: { outDir: '../dist' },
  // Browsers load a module of another origin only with `Access-Control-Allow-Origin`.
  preview: { host: '127.0.0.1', port: 4174, strictPort: true, cors: { origin: '*' } },
});
