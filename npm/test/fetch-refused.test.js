// Tests what `toolwireFetch` refuses, and what it reports about tools that it sets aside.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { toolwireFetch } from '../dist/fetch.js';
import { ToolwireError } from '../dist/index.js';
import { ASKED, backend, CALLS, JSON_TYPE, post, ROOM, SEARCH, SEARCHES } from './fetch/backend.js';

describe('errors', () => {
  const throws = (code) => (error) => error instanceof ToolwireError && error.code === code;
  test('wrong options are reported at once', () => {
    assert.throws(() => toolwireFetch({ dialect: 'antropic' }), throws('unknown-dialect'));
    assert.throws(() => toolwireFetch({ dialekt: 'anthropic' }), throws('unknown-option'));
    assert.throws(() => toolwireFetch({ deferred: { target: 'openai' } }), throws('invalid-option'));
    assert.throws(() => toolwireFetch({ onSetAside: 'warm' }), throws('invalid-option'));
    assert.throws(() => toolwireFetch({ onReport: 'warn' }), throws('invalid-option'));
    assert.throws(
      () => toolwireFetch({ onreport: () => {} }),
      /`toolwireFetch` takes `fetch`, `onReport` and `onRepair`, too$/,
    );
  });
  test('a request that cannot be adapted is not sent', async (t) => {
    const { url, got } = await backend(t);
    const fetch = toolwireFetch({ dialect: 'anthropic', deferred: { forcedTool: 'error' } });
    const forced = JSON.stringify({ ...JSON.parse(ASKED), tool_choice: { type: 'tool', name: 'book.room' } });
    for (const [body, code] of [
      [forced, 'forced-deferred-tool'],
      ['{"model":', 'invalid-json'],
    ]) {
      const response = await fetch(url, post(body));
      assert.deepEqual([response.status, response.url, response.ok], [400, String(url), false]);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.equal(response.headers.get('x-should-retry'), 'false');
      const { type, error } = await response.json();
      assert.deepEqual([type, error.type, error.code], ['error', 'invalid_request_error', code]);
    }
    assert.equal(got.length, 0);
  });
  test('a second request that cannot be adapted is reported as a bad request, too', async (t) => {
    const { url, got } = await backend(t, [200, JSON_TYPE, SEARCHES]);
    const fetch = toolwireFetch({ dialect: 'anthropic', onSetAside: 'error' });
    const later = { ...ROOM, input_schema: { type: 'array' } };
    const body = JSON.stringify({ ...JSON.parse(ASKED), tools: [SEARCH, later] });
    const response = await fetch(url, post(body));
    assert.equal(response.status, 400);
    assert.equal((await response.json()).error.code, 'not-representable');
    assert.equal(got.length, 1);
  });
  test('an error of the caller is not reported as a bad request', async (t) => {
    const { url, got } = await backend(t);
    const thrower = () => {
      throw new TypeError('mine');
    };
    const bad = JSON.stringify({ messages: [], tools: [{ name: 'bad', input_schema: { type: 'string' } }] });
    for (const options of [{ onReport: thrower }, { onSetAside: thrower }]) {
      await assert.rejects(toolwireFetch({ dialect: 'anthropic', ...options })(url, post(bad)), { message: 'mine' });
    }
    assert.equal(got.length, 0);
  });
  test('tools that are set aside are reported', async (t) => {
    const { url, got } = await backend(t, [200, JSON_TYPE, CALLS]);
    const aside = [];
    const sent = [];
    const calls = [];
    const fetch = toolwireFetch({
      dialect: 'moonshot',
      onReport: ({ quarantined, dialect }, request) => {
        aside.push(...quarantined);
        sent.push({ ...request, reported: dialect });
      },
      onSetAside: (tools, request) => calls.push([tools.map(({ name }) => name), request.dialect]),
    });
    const tools = [
      { name: 'bad', input_schema: { type: 'string' } },
      { name: 'good', input_schema: {} },
    ];
    await fetch(url, post(JSON.stringify({ model: 'm', messages: [], tools })));
    assert.deepEqual(
      aside.map(({ name, rule }) => [name, rule]),
      [['bad', 'not-representable']],
    );
    assert.deepEqual(sent, [{ url: String(url), dialect: 'moonshot', body: got[0].body, reported: 'moonshot' }]);
    assert.deepEqual(calls, [[['bad'], 'moonshot']]);
    assert.deepEqual(
      JSON.parse(got[0].body).tools.map(({ name }) => name),
      ['good'],
    );
  });
});
