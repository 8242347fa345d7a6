// Tests `toolwire/fetch` with `repair`: arguments in replies are repaired, and `onRepair` is called.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toolwireFetch } from '../dist/fetch.js';
import { backend, eventsOf, JSON_TYPE, message, post, SSE, streamOf } from './fetch/backend.js';

const schema = { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] };
const ASKED = JSON.stringify({
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'a table' }],
  tools: [{ name: 'book', input_schema: schema }],
});
const book = (id, input) => ({ type: 'tool_use', id, name: 'book', input });
const WRONG = message('tool_use', [book('t1', { seats: '4' }), book('t2', { seats: 'four' })]);

/** Records the calls to `onRepair`. */
function listener() {
  const reported = [];
  return { reported, onRepair: (calls, request) => reported.push([calls, request]) };
}

test('calls are repaired in a whole reply to a request that is sent unchanged', async (t) => {
  const { url, got } = await backend(t, [200, JSON_TYPE, WRONG]);
  const { reported, onRepair } = listener();
  const response = await toolwireFetch({ dialect: 'anthropic', repair: true, onRepair })(url, post(ASKED));
  const { content } = await response.json();
  assert.deepEqual(
    content.map(({ input }) => input),
    [{ seats: 4 }, { seats: 'four' }],
  );
  assert.deepEqual(
    got.map(({ body }) => body),
    [ASKED],
  );
  const [[calls, request]] = reported;
  assert.equal(reported.length, 1);
  assert.deepEqual(
    calls.map(({ id, name, valid, repairs }) => [id, name, valid, repairs.map(({ rule }) => rule)]),
    [
      ['t1', 'book', true, ['string-to-number']],
      ['t2', 'book', false, []],
    ],
  );
  assert.match(calls[1].retryMessage, /`book`.*\n- \/seats: expected an integer, found a string/);
  assert.deepEqual(request, { url, dialect: 'anthropic', body: ASKED });
});

test('calls are repaired in a stream', async (t) => {
  const { url } = await backend(t, [200, SSE, (response) => response.end(streamOf(WRONG).join(''))]);
  const { reported, onRepair } = listener();
  const response = await toolwireFetch({ dialect: 'anthropic', repair: true, onRepair })(url, post(ASKED));
  const deltas = eventsOf(await response.text()).filter(({ type }) => type === 'content_block_delta');
  assert.deepEqual(
    deltas.map(({ delta }) => delta.partial_json),
    ['{"seats":4}', '{"seats":"four"}'],
  );
  const ids = reported.flatMap(([calls]) => calls.map(({ id, valid }) => [id, valid]));
  assert.deepEqual(ids, [
    ['t1', true],
    ['t2', false],
  ]);
});

test('nothing is repaired without the option', async (t) => {
  const { url } = await backend(t, [200, JSON_TYPE, WRONG], [200, JSON_TYPE, WRONG]);
  const { reported, onRepair } = listener();
  for (const repair of [undefined, false]) {
    const response = await toolwireFetch({ dialect: 'anthropic', repair, onRepair })(url, post(ASKED));
    assert.deepEqual((await response.json()).content, WRONG.content);
  }
  assert.deepEqual(reported, []);
});

test('wrong options are reported at once', () => {
  assert.throws(() => toolwireFetch({ onRepair: 3 }), { code: 'invalid-option', pointer: '/onRepair' });
  assert.throws(() => toolwireFetch({ repair: 'yes' }), { code: 'invalid-option', pointer: '/repair' });
  assert.throws(() => toolwireFetch({ repair: { name: 'book' } }), { code: 'unknown-option', pointer: '/repair/name' });
  assert.throws(() => toolwireFetch({ repair: { confidence: 'sure' } }), { pointer: '/repair/confidence' });
});

test('an error of the network or of the caller ends the exchange', async (t) => {
  // Closing a session unregisters it from the finalization registry.
  const { unregister } = FinalizationRegistry.prototype;
  t.after(() => {
    FinalizationRegistry.prototype.unregister = unregister;
  });
  let closed = 0;
  FinalizationRegistry.prototype.unregister = function (token) {
    closed++;
    return unregister.call(this, token);
  };
  const down = () => Promise.reject(new Error('down'));
  await assert.rejects(
    toolwireFetch({ dialect: 'anthropic', repair: true, fetch: down })('http://localhost/v1/messages', post(ASKED)),
    /down/,
  );
  assert.ok(closed > 0);
  const { url } = await backend(t, [200, JSON_TYPE, WRONG]);
  closed = 0;
  const onRepair = () => {
    throw new Error('not reported');
  };
  await assert.rejects(
    toolwireFetch({ dialect: 'anthropic', repair: true, onRepair })(url, post(ASKED)),
    /not reported/,
  );
  assert.ok(closed > 0);
});
