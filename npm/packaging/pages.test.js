// Runs the files and commands of docs/typescript.md, the page for TypeScript, exactly as it shows them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import vm from 'node:vm';

import { project, ROOT, run, tool } from './project.js';

const page = readFileSync(join(ROOT, '../docs/typescript.md'), 'utf8');
const sections = page.split(/^## /m).slice(1);

/** Returns the output of a section's commands, line by line, and the output that its comments state. */
function play(section) {
  const folder = join(project('page'), 'dist');
  for (const [, name, text] of section.matchAll(/^```js (\S+)\n(.*?)^```$/gms)) writeFileSync(join(folder, name), text);
  const printed = [];
  const documented = [];
  for (const [, commands] of section.matchAll(/^```sh\n(.*?)^```$/gms)) {
    for (const line of commands.trim().split('\n')) {
      if (line.startsWith('# ')) documented.push(line.slice(2));
      else {
        const [command, ...args] = line.replace(/^npx /, '').split(' ');
        const output = run(line.startsWith('npx ') ? tool(command) : command, args, folder);
        if (!line.startsWith('npx ') && command !== 'ls') printed.push(...output.split('\n'));
      }
    }
  }
  return { folder, printed, documented, built: readdirSync(join(folder, 'dist')).sort() };
}

describe('docs/typescript.md', () => {
  const played = new Map();
  before(() => {
    for (const section of sections) {
      if (section.includes('```sh')) played.set(section.split('\n')[0], play(section));
    }
  });
  const of = (title) => {
    const found = [...played].find(([name]) => name === title);
    assert.ok(found, `expected a section "${title}"`);
    return found[1];
  };

  test('a bundle prints the output that the page states', () => {
    const { printed, documented } = of('A bundle for browsers');
    assert.ok(documented.length > 0);
    assert.deepEqual(printed, documented);
  });

  test('the WebAssembly is a separate file', () => {
    const { built } = of('The WebAssembly as a separate file');
    assert.equal(built.length, 2);
    assert.match(built.join(' '), /^slim\.js toolwire-\w+\.wasm$/);
  });

  test('a Worker has the WebAssembly as a module', () => {
    const folder = join(of('Cloudflare Workers with plain esbuild').folder, 'dist');
    // Built again, because each section begins with an empty folder.
    const { built } = play(sections.find((section) => section.startsWith('Cloudflare Workers')));
    const wasm = built.find((name) => name.endsWith('.wasm'));
    assert.deepEqual(built, [wasm, 'worker.js'].sort());
    const modules = `(name = "worker.js", esModule = embed "worker.js"), (name = "${wasm}", wasm = embed "${wasm}")`;
    // The page shows the worker's `fetch`, which the test method of workerd calls here.
    writeFileSync(
      join(folder, 'test.js'),
      `import worker from './worker.js';
export default { async test() {
  const found = await worker.fetch().text();
  if (found !== '{"type":"object","properties":{"unit":{"type":"string","enum":["celsius"]}}}') throw new Error(found);
} };\n`,
    );
    writeFileSync(
      join(folder, 'config.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (
  compatibilityDate = "2026-01-01",
  modules = [(name = "test.js", esModule = embed "test.js"), ${modules}],
))]);\n`,
    );
    run(tool('workerd'), ['test', 'config.capnp'], folder);
  });

  test('without the loader, esbuild fails with the error that the page quotes', () => {
    const section = sections.find((one) => one.startsWith('Cloudflare Workers'));
    assert.throws(
      () => play(section.replace('--loader:.wasm=copy ', '')),
      /No loader is configured for "\.wasm" files/,
    );
  });

  test('a web worker answers a message', () => {
    const { folder } = play(sections.find((section) => section.startsWith('A web worker')));
    const answers = [];
    const global = vm.createContext({
      atob,
      TextDecoder,
      TextEncoder,
      URL,
      WebAssembly,
      postMessage: (one) => answers.push(one),
    });
    vm.runInContext('globalThis.self = globalThis', global);
    vm.runInContext(readFileSync(join(folder, 'dist/tools.worker.js'), 'utf8'), global);
    const tools = [{ name: 'a', inputSchema: { type: 'object', properties: {} } }];
    vm.runInContext('(data) => self.onmessage({ data })', global)({ tools, dialect: 'anthropic' });
    assert.equal(answers[0].tools[0].name, 'a');
    assert.deepEqual(answers[0].quarantined.length, 0);
  });
});
