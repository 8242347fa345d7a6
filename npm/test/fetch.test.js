// `toolwire/fetch` against a server on this machine: what is sent, what passes untouched, what comes back.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { toolwireFetch } from '../dist/fetch.js';
import { ToolwireError } from '../dist/index.js';

const SEARCH = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };
const ROOM = {
  name: 'book.room',
  description: 'Books a meeting room',
  input_schema: { type: 'object', properties: {} },
  defer_loading: true,
};
const ASKED = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a room' }], tools: [SEARCH, ROOM] });
/** The tool is there from the beginning: nothing is searched. */
const LOADED = ASKED.replace(',"defer_loading":true', '');
const SEARCHES = message('tool_use', [
  { type: 'tool_use', id: 't1', name: 'tool_search', input: { query: 'meeting room' } },
]);
const CALLS = message('tool_use', [{ type: 'tool_use', id: 't2', name: 'book_room', input: {} }]);
const TOLD = ['server_tool_use', 'tool_search_tool_result', 'tool_use'];
const JSON_TYPE = { 'content-type': 'application/json' };
const SSE = { 'content-type': 'text/event-stream; charset=utf-8' };

function message(stop_reason, content) {
  return { id: 'msg_1', type: 'message', role: 'assistant', content, stop_reason, stop_sequence: null };
}

/** A message as the text of a stream. */
function streamOf({ content, stop_reason, ...rest }) {
  const events = [{ type: 'message_start', message: { ...rest, content: [], stop_reason: null } }];
  for (const [index, block] of content.entries()) {
    events.push({ type: 'content_block_start', index, content_block: { ...block, input: {} } });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    events.push({ type: 'content_block_delta', index, delta }, { type: 'content_block_stop', index });
  }
  events.push({ type: 'message_delta', delta: { stop_reason } }, { type: 'message_stop' });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const eventsOf = (text) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
const blocksOf = (events) =>
  events.filter(({ type }) => type === 'content_block_start').map((e) => e.content_block.type);

/** A backend that says what it is told to: `[status, headers, body]` each, a body that is a function writes itself. */
async function backend(t, ...says) {
  const got = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    got.push({
      method: request.method,
      path: request.url,
      headers: request.headers,
      bytes: Buffer.concat(chunks),
      body: Buffer.concat(chunks).toString(),
    });
    const [status, headers, body] = says[got.length - 1] ?? [500, {}, 'nothing more to say'];
    response.writeHead(status, headers);
    if (typeof body === 'function') body(response);
    else response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}/v1/messages`, got };
}

const post = (body, more) => ({ method: 'POST', headers: JSON_TYPE, body, ...more });

describe('searches are answered on the way', () => {
  test('in a whole reply', async (t) => {
    const { url, got } = await backend(t, [200, JSON_TYPE, SEARCHES], [200, JSON_TYPE, CALLS]);
    const reports = [];
    const fetch = toolwireFetch({ dialect: 'anthropic', onReport: (report, { body }) => reports.push([report, body]) });
    const response = await fetch(url, post(ASKED));
    const reply = await response.json();
    assert.deepEqual(
      reply.content.map(({ type }) => type),
      TOLD,
    );
    assert.equal(reply.content[2].name, 'book.room');
    assert.equal(response.url, url);
    assert.equal(response.headers.get('content-length'), null);
    assert.deepEqual(
      got.map(({ body }) => JSON.parse(body).tools.map(({ name }) => name)),
      [['tool_search'], ['tool_search', 'book_room']],
    );
    for (const { headers, body } of got) assert.equal(headers['content-length'], String(Buffer.byteLength(body)));
    assert.deepEqual(
      reports.map(([{ deferred }]) => deferred.loaded),
      [[], ['book.room']],
    );
    assert.deepEqual(
      reports.map(([, body]) => body),
      got.map(({ body }) => body),
    );
  });

  test('in a stream, of which the first round passes before the second is asked for', async (t) => {
    let first = '';
    const { url, got } = await backend(
      t,
      [200, SSE, (response) => response.end(streamOf(SEARCHES).join(''))],
      [200, SSE, (response) => response.end(streamOf(CALLS).join(''))],
    );
    const response = await toolwireFetch({ dialect: 'anthropic' })(url, post(ASKED));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await reader.read();
    first = value;
    assert.deepEqual(blocksOf(eventsOf(first)), TOLD.slice(0, 2));
    assert.equal(got.length, 1);
    let rest = '';
    for (let step = await reader.read(); !step.done; step = await reader.read()) rest += step.value;
    const events = eventsOf(first + rest);
    assert.deepEqual(blocksOf(events), TOLD);
    assert.equal(events.filter(({ type }) => type === 'message_start').length, 1);
    assert.equal(events.at(-1).type, 'message_stop');
    assert.equal(got.length, 2);
  });

  test('an error of the second round is the reply, or an event of the stream', async (t) => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'later' } };
    const whole = await backend(t, [200, JSON_TYPE, SEARCHES], [529, JSON_TYPE, overloaded]);
    const fetch = toolwireFetch({ dialect: 'anthropic' });
    const response = await fetch(whole.url, post(ASKED));
    assert.deepEqual([response.status, await response.json()], [529, overloaded]);
    const stream = await backend(t, [200, SSE, streamOf(SEARCHES).join('')], [529, JSON_TYPE, overloaded]);
    const events = eventsOf(await (await fetch(stream.url, post(ASKED))).text());
    assert.deepEqual(events.at(-1), overloaded);
    assert.deepEqual(blocksOf(events), TOLD.slice(0, 2));
  });

  test('rounds are bounded', async (t) => {
    const { url, got } = await backend(t, [200, JSON_TYPE, SEARCHES], [200, JSON_TYPE, SEARCHES]);
    const reply = await (await toolwireFetch({ dialect: 'anthropic', maxRounds: 1 })(url, post(ASKED))).json();
    assert.equal(reply.stop_reason, 'pause_turn');
    assert.equal(got.length, 2);
  });
});

describe('bodies and headers', () => {
  const inputs = {
    'a string': (url) => [url, post(ASKED)],
    'a URL': (url) => [new URL(url), post(ASKED)],
    'a Request': (url) => [new Request(url, post(ASKED))],
    'a Request and more': (url) => [new Request(url, post('{}')), { body: ASKED }],
    bytes: (url) => [url, post(new TextEncoder().encode(ASKED))],
    'an ArrayBuffer': (url) => [url, post(new TextEncoder().encode(ASKED).buffer)],
    'a Blob': (url) => [url, post(new Blob([ASKED]))],
    'a stream': (url) => [url, post(new Blob([ASKED]).stream(), { duplex: 'half' })],
    'no content type': (url) => [url, { method: 'post', body: new Blob([ASKED]) }],
  };
  for (const [name, given] of Object.entries(inputs)) {
    test(`given as ${name}`, async (t) => {
      const { url, got } = await backend(t, [200, JSON_TYPE, SEARCHES], [200, JSON_TYPE, CALLS]);
      const reply = await (await toolwireFetch({ dialect: 'anthropic' })(...given(url))).json();
      assert.deepEqual(
        reply.content.map(({ type }) => type),
        TOLD,
      );
      assert.deepEqual(
        got.map(({ method }) => method),
        ['POST', 'POST'],
      );
    });
  }

  test('the betas of deferred loading go, others stay, and with the feature all stay', async (t) => {
    const ok = [200, JSON_TYPE, CALLS];
    const { url, got } = await backend(t, ok, ok, ok);
    const beta = {
      ...JSON_TYPE,
      'anthropic-beta': 'tool-search-tool-2025-10-19,files-api-2025-04-14',
      'x-api-key': 'k',
    };
    const plain = JSON.stringify({ model: 'm', messages: [], tools: [] });
    await toolwireFetch({ dialect: 'anthropic' })(url, { ...post(ASKED), headers: beta });
    await toolwireFetch({ dialect: 'anthropic' })(url, { ...post(plain), headers: new Headers(beta) });
    await toolwireFetch({ dialect: 'anthropic', deferred: false })(url, { ...post(plain), headers: beta });
    const left = 'files-api-2025-04-14';
    assert.deepEqual(
      got.map(({ headers }) => headers['anthropic-beta']),
      [left, left, beta['anthropic-beta']],
    );
    assert.deepEqual(
      got.map(({ headers }) => headers['x-api-key']),
      ['k', 'k', 'k'],
    );
  });

  test('gzip', async (t) => {
    const zipped = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    const { url } = await backend(
      t,
      [200, zipped, gzipSync(JSON.stringify(CALLS))],
      [200, { ...SSE, 'content-encoding': 'gzip' }, gzipSync(streamOf(CALLS).join(''))],
    );
    const fetch = toolwireFetch({ dialect: 'anthropic' });
    const response = await fetch(url, post(LOADED));
    assert.equal(response.headers.get('content-encoding'), null);
    assert.equal((await response.json()).content[0].name, 'book.room');
    const [, { content_block: block }] = eventsOf(await (await fetch(url, post(LOADED))).text());
    assert.equal(block.name, 'book.room');
  });
});

describe('what passes untouched', () => {
  const spelled = ' { "model": "m",  "messages": [ ], "tools": [] }';
  const form = new FormData();
  form.set('file', 'x');
  const passing = {
    'a request with nothing to adapt': ['/v1/messages', post(spelled), spelled],
    'another path': ['/v1/files', post(ASKED), ASKED],
    'a body that is no object': ['/v1/messages', post('[1]'), '[1]'],
    'a text': ['/v1/messages', { method: 'POST', body: ASKED, headers: { 'content-type': 'text/plain' } }, ASKED],
    'a packed body': [
      '/v1/messages',
      post('zipped', { headers: { ...JSON_TYPE, 'content-encoding': 'br' } }),
      'zipped',
    ],
    'a stream for another path': ['/v1/x', post(new Blob([ASKED]).stream(), { duplex: 'half' }), ASKED],
    "a message for one of OpenAI's threads": ['/v1/threads/t/messages', post(' {"role": "user"}'), ' {"role": "user"}'],
    'a GET': ['/v1/messages', undefined, ''],
    'a form': ['/v1/messages', { method: 'POST', body: form }, undefined],
  };
  for (const [name, [path, init, body]] of Object.entries(passing)) {
    test(name, async (t) => {
      const { url, got } = await backend(t, [200, JSON_TYPE, '{ "content": [ ] }']);
      const seen = [];
      const spy = (input, given) => {
        seen.push([input, given]);
        return fetch(input, given);
      };
      const response = await toolwireFetch({ dialect: 'anthropic', fetch: spy })(new URL(path, url), init);
      assert.equal(await response.text(), '{ "content": [ ] }');
      if (body !== undefined) assert.equal(got[0].body, body);
      assert.equal(seen.length, 1);
      if (!(init?.body instanceof ReadableStream)) assert.equal(seen[0][1], init);
    });
  }

  const binary = Buffer.from('7b22c3280aff00efbbbf', 'hex');
  for (const [name, headers] of Object.entries({ 'no type': {}, 'the type of JSON': JSON_TYPE })) {
    test(`bytes that are no text, in a stream with ${name}`, async (t) => {
      const { url, got } = await backend(t, [200, {}, '']);
      const init = { method: 'POST', headers, body: new Blob([binary]).stream(), duplex: 'half' };
      await toolwireFetch({ dialect: 'anthropic' })(url, init);
      assert.deepEqual(got[0].bytes, binary);
    });
  }

  test('replies that are errors, and what is neither JSON nor events', async (t) => {
    const { url } = await backend(
      t,
      [400, JSON_TYPE, ' {"error": 1}'],
      [200, { 'content-type': 'text/html' }, '<p>'],
      [204, {}, ''],
    );
    const fetch = toolwireFetch({ dialect: 'anthropic' });
    for (const [status, text] of [
      [400, ' {"error": 1}'],
      [200, '<p>'],
      [204, ''],
    ]) {
      const response = await fetch(url, post(ASKED));
      assert.deepEqual([response.status, await response.text()], [status, text]);
    }
  });
});

describe('errors', () => {
  const throws = (code) => (error) => error instanceof ToolwireError && error.code === code;
  test('wrong options are told at once', () => {
    assert.throws(() => toolwireFetch({ dialect: 'antropic' }), throws('unknown-dialect'));
    assert.throws(() => toolwireFetch({ dialekt: 'anthropic' }), throws('unknown-option'));
    assert.throws(() => toolwireFetch({ deferred: { target: 'openai-chat' } }), throws('invalid-option'));
    assert.throws(() => toolwireFetch({ onSetAside: 'warm' }), throws('invalid-option'));
    assert.throws(() => toolwireFetch({ onReport: 'warn' }), throws('invalid-option'));
    assert.throws(() => toolwireFetch({ onreport: () => {} }), /`toolwireFetch` takes `fetch` and `onReport`, too$/);
  });
  test('nothing is sent that cannot be adapted', async (t) => {
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
  test('what cannot be asked again is answered as a bad request, too', async (t) => {
    const { url, got } = await backend(t, [200, JSON_TYPE, SEARCHES]);
    const fetch = toolwireFetch({ dialect: 'anthropic', onSetAside: 'error' });
    const later = { ...ROOM, input_schema: { type: 'array' } };
    const body = JSON.stringify({ ...JSON.parse(ASKED), tools: [SEARCH, later] });
    const response = await fetch(url, post(body));
    assert.equal(response.status, 400);
    assert.equal((await response.json()).error.code, 'not-representable');
    assert.equal(got.length, 1);
  });
  test('what the caller throws is no bad request', async (t) => {
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
    const told = [];
    const fetch = toolwireFetch({
      dialect: 'moonshot',
      onReport: ({ quarantined, dialect }, request) => {
        aside.push(...quarantined);
        sent.push({ ...request, reported: dialect });
      },
      onSetAside: (tools, request) => told.push([tools.map(({ name }) => name), request.dialect]),
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
    assert.deepEqual(told, [[['bad'], 'moonshot']]);
    assert.deepEqual(
      JSON.parse(got[0].body).tools.map(({ name }) => name),
      ['good'],
    );
  });
});

describe('streams', () => {
  test('nothing is read before somebody wants it, and giving up reaches the backend', async (t) => {
    let closed;
    const gone = new Promise((resolve) => {
      closed = resolve;
    });
    const [head, ...rest] = streamOf(CALLS);
    const { url } = await backend(t, [
      200,
      SSE,
      (response) => {
        response.on('close', closed);
        response.write(head);
        setTimeout(() => response.write(rest[0]), 20);
      },
    ]);
    const response = await toolwireFetch({ dialect: 'anthropic' })(url, post(LOADED));
    const reader = response.body.getReader();
    const text = new TextDecoder();
    assert.equal(text.decode((await reader.read()).value), head);
    assert.equal(text.decode((await reader.read()).value).includes('book.room'), true);
    await reader.cancel();
    await gone;
  });

  test('letters cut in two, a mark at the beginning, and bytes that are no letters', async (t) => {
    const said = streamOf(CALLS).join('').replace('"input":{}', '"input":{},"title":"Größe 🎈"');
    const bytes = Buffer.concat([Buffer.from('\ufeff'), Buffer.from(said), Buffer.from(': \xff\n\n', 'latin1')]);
    const { url } = await backend(t, [
      200,
      SSE,
      async (response) => {
        for (const byte of bytes) {
          response.write(Buffer.from([byte]));
          await new Promise(setImmediate);
        }
        response.end();
      },
    ]);
    const text = await (await toolwireFetch({ dialect: 'anthropic' })(url, post(LOADED))).text();
    const [, { content_block: block }] = eventsOf(text);
    assert.deepEqual([block.name, block.title], ['book.room', 'Größe 🎈']);
    assert.ok(text.startsWith('event: message_start'));
    assert.ok(text.endsWith(': \ufffd\n\n'));
  });

  test('an aborted request is aborted in every round', async (t) => {
    const { url } = await backend(
      t,
      [200, SSE, streamOf(SEARCHES).join('')],
      [200, SSE, (response) => response.write(streamOf(CALLS)[0])],
      [200, JSON_TYPE, SEARCHES],
      [200, JSON_TYPE, () => {}],
    );
    const fetch = toolwireFetch({ dialect: 'anthropic' });
    for (const input of ['init', 'request']) {
      const controller = new AbortController();
      const init = post(ASKED, { signal: controller.signal });
      const aborted = async () => {
        const response = await (input === 'init' ? fetch(url, init) : fetch(new Request(url, init)));
        await response.text();
      };
      setTimeout(() => controller.abort(), 100);
      await assert.rejects(aborted(), { name: 'AbortError' });
    }
  });

  test('a function that is called again begins again', async (t) => {
    const { url, got } = await backend(t, [429, JSON_TYPE, '{}'], [200, JSON_TYPE, SEARCHES], [200, JSON_TYPE, CALLS]);
    const fetch = toolwireFetch({ dialect: 'anthropic' });
    const request = post(ASKED);
    assert.equal((await fetch(url, request)).status, 429);
    assert.equal((await (await fetch(url, request)).json()).content.length, 3);
    assert.equal(got[0].body, got[1].body);
  });
});

describe('headers that are about another body', () => {
  const OF_BODY = {
    'content-digest': 'sha-256=:AAAA:',
    'repr-digest': 'sha-256=:AAAA:',
    digest: 'sha-256=AAAA',
    'content-md5': 'AAAA',
  };
  const KEYS = { 'idempotency-key': 'k', 'x-idempotency-key': 'k' };

  test('go, and a key that stands for one request goes with the second one', async (t) => {
    const reply = { ...JSON_TYPE, ...OF_BODY, etag: '"1"' };
    const { url, got } = await backend(t, [200, reply, SEARCHES], [200, reply, CALLS]);
    const init = post(ASKED, { headers: { ...JSON_TYPE, ...OF_BODY, ...KEYS, 'x-own': 'stays' } });
    const response = await toolwireFetch({ dialect: 'anthropic' })(url, init);
    assert.equal((await response.json()).content.length, 3);
    for (const name of [...Object.keys(OF_BODY), 'etag', 'transfer-encoding']) {
      assert.equal(response.headers.get(name), null, name);
      for (const { headers } of got) assert.equal(headers[name], undefined, name);
    }
    for (const name of Object.keys(KEYS)) {
      assert.deepEqual(
        got.map(({ headers }) => headers[name]),
        ['k', undefined],
        name,
      );
    }
    for (const { headers } of got) assert.equal(headers['x-own'], 'stays');
  });

  test('stay where nothing is rewritten', async (t) => {
    const { url, got } = await backend(t, [200, { ...JSON_TYPE, etag: '"1"' }, CALLS]);
    const body = JSON.stringify({ model: 'm', messages: [] });
    const response = await toolwireFetch({ dialect: 'anthropic' })(
      url,
      post(body, { headers: { ...JSON_TYPE, ...OF_BODY, ...KEYS } }),
    );
    assert.equal(response.headers.get('etag'), '"1"');
    for (const [name, value] of Object.entries({ ...OF_BODY, ...KEYS }))
      assert.equal(got[0].headers[name], value, name);
  });
});
