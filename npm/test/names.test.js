// Exports keep their names in every minified file, because stack traces and `inspect` show them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { inspect } from 'node:util';

import * as esm from '../dist/index.js';
import * as slim from '../dist/slim.js';

const require = createRequire(import.meta.url);
const modules = { esm, slim, cjs: require('../dist/index.cjs'), slimCjs: require('../dist/slim.cjs') };

for (const [file, module] of Object.entries(modules)) {
  test(`functions and classes of ${file} have the names of their exports`, () => {
    const functions = Object.entries(module).filter(([, value]) => typeof value === 'function');
    assert.ok(functions.length > 14);
    for (const [name, value] of functions) assert.equal(value.name, name);
  });
}

test('instances are shown with the name of their class', () => {
  assert.match(inspect(new esm.ToolSet([])), /^ToolSet /);
  assert.match(inspect(esm.sanitizeTools([], { dialect: 'codex' }).restore), /^Restore /);
});

for (const order of ['require first', 'import first']) {
  test(`in Node, import and require return the same objects: ${order}`, () => {
    const dist = new URL('../dist/', import.meta.url).href;
    const program = `
      import { createRequire } from 'node:module';
      const required = () => createRequire(${JSON.stringify(dist)})('./index.cjs');
      const early = ${order === 'require first'} ? required() : undefined;
      const imported = await import(${JSON.stringify(`${dist}index.node.js`)});
      const late = required();
      const names = Object.keys(imported);
      console.log(names.length === Object.keys(late).length && names.every((name) => imported[name] === late[name]));
      console.log(early === undefined || early === late, late.__esModule);`;
    const args = ['--input-type=module', '-e', program];
    assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), 'true\ntrue true\n');
  });
}
