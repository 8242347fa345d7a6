// The package's own files for the console of any page: served on this machine, to pages of every origin.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // A file that is missing is an error, not a page.
  appType: 'mpa',
  build: { outDir: '../dist' },
  // A module of another origin is loaded only with `Access-Control-Allow-Origin`.
  preview: { host: '127.0.0.1', port: 4174, strictPort: true, cors: { origin: '*' } },
});
