// Malicious text, without a browser: any text can come from a link, and the page has one thread. The tests need no time limits, because
// without the page's own limits this text takes hours or all memory.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startEngine } from './engine.js';

let engine;
let tree;
let instance;
let turns;
let differences;
before(async () => {
  engine = await startEngine();
  [tree, instance, turns, differences] = await engine.load(
    'document/tree',
    'calls/instance',
    'calls/turns',
    'document/differences',
  );
});
after(() => engine.stop());

const textAt = (text, place) => place && text.slice(place.from, place.to);

test('a pointer leads to its place, or to its nearest ancestor', () => {
  const text = '{"a": [1, {"b/c~": 2, "b/c~": 3}], "": {"x": 4}}';
  const places = new tree.Places(text);
  for (const [pointer, found] of [
    ['', text],
    ['/a', '"a": [1, {"b/c~": 2, "b/c~": 3}]'],
    ['/a/0', '1'],
    ['/a/1/b~1c~0', '"b/c~": 2'],
    ['//x', '"x": 4'],
  ]) {
    assert.equal(textAt(text, places.at(pointer)), found, pointer);
    assert.equal(textAt(text, places.nearest(pointer)), found, pointer);
  }
  for (const [pointer, found] of [
    ['/a/2', '/a'],
    ['/a/00', '/a'],
    ['/a/1/none/at/all', '/a/1'],
  ]) {
    assert.equal(places.at(pointer), undefined, pointer);
    assert.deepEqual(places.nearest(pointer), places.at(found), pointer);
  }
  assert.equal(new tree.Places('').nearest('/a'), undefined);
});

test('places are found by long pointers and among many items', () => {
  const name = 'x'.repeat(20_000);
  const places = new tree.Places(JSON.stringify({ [name]: Array(150_000).fill(0) }));
  for (let at = 0; at < 20_000; at++) assert.ok(places.at(`/${name}/${at}`));
  assert.ok(places.at(`/${name}/149999`));
});

test('the place of a note is found in each of many tools', () => {
  const tool = JSON.stringify({ name: 'a', inputSchema: {} });
  const text = `${tool}\n`.repeat(50_000);
  const document = engine.documentOf(text);
  assert.equal(document.entries.length, 50_000);
  for (let at = 0; at < 50_000; at++) {
    const spot = document.spot(`/${at}/inputSchema/properties/${'a/'.repeat(9)}`);
    assert.equal(spot.line, at + 1);
    const { from, to } = document.nearest(spot);
    assert.equal(text.slice(from, to), '"inputSchema":{}');
  }
});

test('differences are found with many members in a different order, and in deeply nested text', () => {
  const names = Array.from({ length: 50_000 }, (_, at) => `p${at}`);
  const text = (order) => JSON.stringify(Object.fromEntries(order.map((name) => [name, name])));
  const between = (a, b) => {
    const [one, other] = [a, b].map((text) => ({ text, value: new tree.Places(text).value('') }));
    return differences.differencesOf(one, other);
  };
  assert.deepEqual(between(text(names), text(names.toReversed())), []);
  const nested = (inner) => `${'['.repeat(900)}${inner}${']'.repeat(900)}`;
  assert.equal(between(nested('1'), nested('2')).length, 1);
});

test('arguments for schemas that refer to themselves are bounded', () => {
  const count = (value) =>
    typeof value !== 'object' || value === null
      ? 1
      : 1 + Object.values(value).reduce((sum, each) => sum + count(each), 0);
  const names = Array.from({ length: 60 }, (_, at) => `p${at}`);
  const self = { $ref: '#' };
  const properties = Object.fromEntries(names.map((name) => [name, self]));
  for (const schema of [
    { type: 'object', properties, required: names },
    { type: 'array', prefixItems: names.map(() => self) },
    { type: 'object', additionalProperties: self },
    { anyOf: [self] },
    { type: 'object', properties: { a: { anyOf: [{ oneOf: [self] }] } } },
  ]) {
    assert.ok(count(instance.instanceOf(schema)) < 5000, JSON.stringify(schema).slice(0, 60));
  }
});

test('fewer turns are shown if a long message precedes them', () => {
  const message = (role, content) => ({ role, content });
  const talk = Array.from({ length: 400 }, (_, at) => message(at % 2 ? 'assistant' : 'user', 'a'));
  const shown = (first) => {
    const found = turns.turnsOf(JSON.stringify({ messages: [message('user', 'x'.repeat(first)), ...talk] }));
    return [found.ends.length, found.skipped];
  };
  assert.deepEqual(shown(10), [200, 1]);
  const [shownTurns, skipped] = shown(4_000_000);
  assert.equal(shownTurns + skipped, 201);
  assert.ok(shownTurns < 9, String(shownTurns));
  assert.deepEqual(shown(40_000_000), [1, 200]);
});
