// Tests that no tool is dropped silently: tools that `sanitizeTools` and `ToolSet` set aside.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { sanitizeTools, ToolSet } from '../dist/index.js';

const { warn } = console;
let warnings = [];
beforeEach(() => {
  warnings = [];
  console.warn = (line) => warnings.push(line);
});
afterEach(() => {
  console.warn = warn;
});

/** Returns tools that no other test uses, because a process shows each warning only once. */
let number = 0;
const list = () => {
  number++;
  return [{ name: 'good' }, { name: `odd${number}`, inputSchema: { type: 'array' } }];
};
const options = (more) => ({ dialect: 'anthropic', ...more });
const WAYS = {
  sanitizeTools: (tools, more) => sanitizeTools(tools, options(more)),
  'sanitizeTools of text': (tools, more) => sanitizeTools(JSON.stringify(tools), options(more)),
  ToolSet: (tools, more) => new ToolSet(tools).sanitize(options(more)),
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

for (const [name, sanitize] of Object.entries(WAYS)) {
  describe(name, () => {
    test('if the missing tools of a list are not read, there is one warning for each list and dialect', async () => {
      const tools = list();
      const { tools: sent, restore } = sanitize(tools);
      assert.ok(sent.length > 0 && restore !== undefined);
      assert.deepEqual(warnings, []);
      await turn();
      const start = `toolwire: 1 tool was not sent: \`odd${number}\` at \`/1/inputSchema\` for \`anthropic\``;
      assert.deepEqual(
        warnings.map((line) => line.slice(0, start.length)),
        [start],
      );
      sanitize(tools);
      await turn();
      assert.equal(warnings.length, 1);
      sanitize(tools, { dialect: 'bedrock' });
      await turn();
      assert.equal(warnings.length, 2);
    });

    const looks = {
      'by destructuring': ({ tools, quarantined }) => [tools, quarantined],
      'by name': (result) => result.quarantined.length,
      'by spreading': (result) => ({ ...result }),
      'as JSON': JSON.stringify,
    };
    for (const [how, look] of Object.entries(looks)) {
      test(`reading them suppresses the warning: ${how}`, async () => {
        look(sanitize(list()));
        await turn();
        assert.deepEqual(warnings, []);
      });
    }

    test('the function `onSetAside` is called every time, and there is no warning', async () => {
      const [tools, reported] = [list(), []];
      for (let times = 0; times < 2; times++) sanitize(tools, { onSetAside: (...what) => reported.push(what) });
      await turn();
      assert.deepEqual(
        reported.map(([missing, about]) => [missing.map((tool) => tool.name), about]),
        Array(2).fill([[`odd${number}`], { dialect: 'anthropic' }]),
      );
      assert.deepEqual(warnings, []);
    });

    test('a missing tool is an error if `onSetAside` is `error`', () => {
      assert.throws(() => sanitize(list(), { onSetAside: 'error' }), {
        code: 'not-representable',
        pointer: '/1/inputSchema',
        detail: /^expected to send every tool, found 1 tool that cannot be sent: /,
      });
      assert.throws(() => sanitize(list(), { onSetAside: 'loud' }), { code: 'invalid-option', pointer: '/onSetAside' });
      // If another option is a function, it is refused, not ignored.
      assert.throws(() => sanitize(list(), { fallback: () => 1 }), { code: 'invalid-option', pointer: '/fallback' });
    });

    test('a list without missing tools gives no warning', async () => {
      sanitize(list().slice(0, 1), { onSetAside: () => assert.fail('expected no call') });
      sanitize(list().slice(0, 1));
      await turn();
      assert.deepEqual(warnings, []);
    });
  });
}

test('the result looks like an ordinary object', async () => {
  const keys = ['tools', 'quarantined', 'changes', 'lossless', 'restore'];
  const one = sanitizeTools(list(), options());
  assert.deepEqual(Object.keys(one), keys);
  assert.deepEqual(JSON.parse(JSON.stringify(one)).quarantined, one.quarantined);
  const plain = (result) => Object.getOwnPropertyDescriptor(result, 'quarantined');
  // Once `quarantined` was read, or the turn has ended, it is a plain property.
  assert.deepEqual(plain(one), { value: one.quarantined, writable: true, enumerable: true, configurable: true });
  const unread = sanitizeTools(list(), options());
  const other = sanitizeTools(list(), options());
  const sealed = Object.freeze(sanitizeTools(list(), options()));
  other.quarantined = [];
  await turn();
  assert.equal(plain(unread).value.length, 1);
  assert.deepEqual(other.quarantined, []);
  assert.equal(sealed.quarantined.length, 1);
  // The `quarantined` of three results was not read.
  assert.equal(warnings.length, 3);
});

test('a set whose missing tools were read does not warn again', async () => {
  const set = new ToolSet(list());
  assert.equal(set.sanitize(options()).quarantined.length, 1);
  await turn();
  assert.equal(set.sanitize(options()).tools.length, 1);
  await turn();
  assert.deepEqual(warnings, []);
});

test('a set calls each function, and returns the same list', () => {
  const [set, reported] = [new ToolSet(list()), []];
  const first = set.sanitize(options({ onSetAside: () => reported.push('first') }));
  const second = set.sanitize(options({ onSetAside: () => reported.push('second') }));
  assert.equal(first, second);
  assert.deepEqual(reported, ['first', 'second']);
});

test('a function does not silence the warning of callers without one', async () => {
  const set = new ToolSet(list());
  set.sanitize(options({ onSetAside: () => {} }));
  await turn();
  assert.deepEqual(warnings, []);
  set.sanitize(options());
  await turn();
  assert.equal(warnings.length, 1);
});
