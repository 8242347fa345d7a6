// The page's modules in Node, with the engines that its worker has.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMMAND = new URL('../../../bindings-wasm/pkg/command/toolwire_wasm_bg.wasm', import.meta.url);
const packaged = (name) => readFileSync(new URL(`../node_modules/toolwire/dist/${name}`, import.meta.url));

/** Starts the engines. `load` returns modules of `src/` by name, and `documentOf` the document that the page reads from text. */
export async function startEngine() {
  const vite = await createServer({
    root: ROOT,
    appType: 'custom',
    logLevel: 'error',
    server: { middlewareMode: true, ws: false },
  });
  const load = (...names) => Promise.all(names.map((name) => vite.ssrLoadModule(`/src/${name}.ts`)));
  const [engine, { Document }] = await load('engine/engine', 'document/document');
  engine.begin({
    library: new WebAssembly.Module(packaged('toolwire.wasm')),
    command: new WebAssembly.Module(readFileSync(COMMAND)),
  });
  return { load, documentOf: (text) => new Document(text, engine.readingOf(text)), stop: () => vite.close() };
}
