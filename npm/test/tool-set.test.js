// Tests what is specific to `ToolSet`. The fixtures of `sanitizeTools` run through it, too (fixtures/tool-sets.js).

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sanitizeTools, ToolSet, ToolwireError } from '../dist/index.js';

const tool = (name) => ({ name, inputSchema: { type: 'object', properties: { unit: { const: name } } } });
const OPTIONS = { dialect: 'moonshot' };

test('a later change of the list or the result changes nothing', () => {
  const list = [tool('a.b'), tool('cat')];
  const set = new ToolSet(list);
  list[0].name = 'other';
  list.pop();
  assert.equal(set.size, 2);
  const { tools, restore, changes } = set.sanitize(OPTIONS);
  assert.deepEqual(
    tools.map(({ function: { name } }) => name),
    ['a_b', 'cat'],
  );
  assert.throws(() => {
    tools[0].function.name = 'd';
  }, TypeError);
  for (const one of [tools, tools[0].function.parameters, changes, changes[0], restore])
    assert.ok(Object.isFrozen(one));
  assert.equal(restore.call('a_b', {}).name, 'a.b');
});

test('each choice of options has its own result, and the latest sixteen are kept', () => {
  const set = new ToolSet([tool('a')]);
  const first = set.sanitize(OPTIONS);
  assert.equal(set.sanitize({ maxTools: undefined, ...OPTIONS }), first);
  assert.notEqual(set.sanitize({ dialect: 'codex' }).json, first.json);
  for (let limit = 1; limit <= 16; limit++) set.sanitize({ ...OPTIONS, maxTools: limit });
  assert.notEqual(set.sanitize(OPTIONS), first);
  assert.deepEqual(set.sanitize(OPTIONS), first);
});

test('refused options are refused every time, and do not evict results', () => {
  const set = new ToolSet([tool('a')]);
  const ready = set.sanitize({ ...OPTIONS, maxTools: null });
  for (const wrong of [{ dialect: 'none' }, { ...OPTIONS, maxTools: Number.NaN }, {}, undefined]) {
    for (let turn = 0; turn < 2; turn++) assert.throws(() => set.sanitize(wrong), ToolwireError);
  }
  assert.throws(() => set.update({ tools: 3 }), { code: 'invalid-request' });
  assert.throws(() => set.update('['), { code: 'invalid-json' });
  assert.throws(() => new ToolSet('{'), { code: 'invalid-json' });
  assert.equal(set.sanitize({ ...OPTIONS, maxTools: null }), ready);
});

test('members that are read late are unaffected by changes of the set, the list and the options', () => {
  const list = [tool('a.b'), tool('cat')];
  const expected = sanitizeTools(list, OPTIONS);
  assert.ok(expected.changes.length > 0);
  const options = { ...OPTIONS, allow: undefined };
  const set = new ToolSet(list);
  const ready = set.sanitize(options);
  options.dialect = 'openai-strict';
  set.update([tool('dog')]);
  const { restore, ...rest } = ready;
  const { restore: expectedRestore, ...others } = expected;
  assert.deepEqual(rest, { ...others, json: JSON.stringify(expected.tools) }, 'after a change');
  assert.deepEqual(restore.toJSON(), expectedRestore.toJSON());
  for (const member of ['tools', 'quarantined', 'changes', 'restore'])
    assert.equal(ready[member], ready[member], member);
  // A new set of the same list has the same changes.
  assert.deepEqual(new ToolSet(list).sanitize(OPTIONS).changes, expected.changes);
});

test('the result looks like an ordinary object', () => {
  const ready = new ToolSet([tool('a.b')]).sanitize(OPTIONS);
  assert.ok(Object.isFrozen(ready));
  const members = ['tools', 'json', 'quarantined', 'changes', 'lossless', 'restore'];
  assert.deepEqual(Object.keys(ready), members);
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(ready))), members);
  assert.deepEqual({ ...ready }, ready);
  const { restore, ...values } = ready;
  assert.deepEqual(structuredClone(values), values);
});
