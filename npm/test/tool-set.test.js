// What is special about a tool set: the fixtures of `sanitizeTools` run through it, too (fixtures/tool-sets.js).

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ToolSet, ToolwireError } from '../dist/index.js';

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

test('each choice of options has its own, the newest sixteen are kept', () => {
  const set = new ToolSet([tool('a')]);
  const first = set.sanitize(OPTIONS);
  assert.equal(set.sanitize({ maxTools: undefined, ...OPTIONS }), first);
  assert.notEqual(set.sanitize({ dialect: 'codex' }).json, first.json);
  for (let most = 1; most <= 16; most++) set.sanitize({ ...OPTIONS, maxTools: most });
  assert.notEqual(set.sanitize(OPTIONS), first);
  assert.deepEqual(set.sanitize(OPTIONS), first);
});

test('what is refused is refused every time, and costs nothing that was there', () => {
  const set = new ToolSet([tool('a')]);
  const ready = set.sanitize({ ...OPTIONS, maxTools: null });
  for (const wrong of [{ dialect: 'none' }, { ...OPTIONS, maxTools: Number.NaN }, {}, undefined]) {
    for (let turn = 0; turn < 2; turn++) assert.throws(() => set.sanitize(wrong), ToolwireError);
  }
  assert.throws(() => set.update({ tools: 3 }), { code: 'invalid-request' });
  assert.throws(() => set.updateJson('['), { code: 'invalid-json' });
  assert.throws(() => ToolSet.fromJson('{'), { code: 'invalid-json' });
  assert.equal(set.sanitize({ ...OPTIONS, maxTools: null }), ready);
});
