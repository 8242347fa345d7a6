// What is exported has its own name in every file, though all else there has a short one: stack traces and `inspect` show it.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { inspect } from 'node:util';

import * as esm from '../dist/index.js';
import * as slim from '../dist/slim.js';

const require = createRequire(import.meta.url);
const modules = { esm, slim, cjs: require('../dist/index.cjs'), slimCjs: require('../dist/slim.cjs') };

for (const [file, module] of Object.entries(modules)) {
  test(`functions and classes of ${file}`, () => {
    const functions = Object.entries(module).filter(([, value]) => typeof value === 'function');
    assert.ok(functions.length > 30);
    for (const [name, value] of functions) assert.equal(value.name, name);
  });
}

test('what an instance is called', () => {
  assert.match(inspect(new esm.ToolSet([])), /^ToolSet /);
  assert.match(inspect(esm.sanitizeTools([], { dialect: 'codex' }).restore), /^Restore /);
});
