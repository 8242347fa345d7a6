// Tests `toolwire/fetch` against a local server: the requests that are sent, what passes unchanged, and the replies.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crc32, gzipSync } from 'node:zlib';

import { toolwireFetch } from '../dist/fetch.js';
import {
  ASKED,
  backend,
  blocksOf,
  CALLS,
  eventsOf,
  JSON_TYPE,
  LOADED,
  post,
  ROOM,
  SEARCHES,
  SSE,
  streamOf,
  TYPES,
} from './fetch/backend.js';

describe('searches are answered by the exchange', () => {
  test('in a whole reply', async (t) => {
    const { url, got } = await backend(t, [200, JSON_TYPE, SEARCHES], [200, JSON_TYPE, CALLS]);
    const reports = [];
    const fetch = toolwireFetch({ dialect: 'anthropic', onReport: (report, { body }) => reports.push([report, body]) });
    const response = await fetch(url, post(ASKED));
    const reply = await response.json();
    assert.deepEqual(
      reply.content.map(({ type }) => type),
      TYPES,
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

  test('a reply without a body passes', async (t) => {
    for (const [status, headers] of [
      [204, JSON_TYPE],
      [205, JSON_TYPE],
      [204, SSE],
      [200, JSON_TYPE],
    ]) {
      const { url } = await backend(t, [status, { ...headers, 'x-of-theirs': 'kept' }, '']);
      const response = await toolwireFetch({ dialect: 'anthropic' })(url, post(ASKED));
      assert.deepEqual([response.status, response.headers.get('x-of-theirs')], [status, 'kept']);
      assert.deepEqual([response.url, await response.text()], [url, '']);
    }
  });

  test('in a stream, whose first round is passed on before the second is requested', async (t) => {
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
    assert.deepEqual(blocksOf(eventsOf(first)), TYPES.slice(0, 2));
    assert.equal(got.length, 1);
    let rest = '';
    for (let step = await reader.read(); !step.done; step = await reader.read()) rest += step.value;
    const events = eventsOf(first + rest);
    assert.deepEqual(blocksOf(events), TYPES);
    assert.equal(events.filter(({ type }) => type === 'message_start').length, 1);
    assert.equal(events.at(-1).type, 'message_stop');
    assert.equal(got.length, 2);
  });

  test('an error in the second round becomes the reply, or an event of the stream', async (t) => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'later' } };
    const whole = await backend(t, [200, JSON_TYPE, SEARCHES], [529, JSON_TYPE, overloaded]);
    const fetch = toolwireFetch({ dialect: 'anthropic' });
    const response = await fetch(whole.url, post(ASKED));
    assert.deepEqual([response.status, await response.json()], [529, overloaded]);
    const stream = await backend(t, [200, SSE, streamOf(SEARCHES).join('')], [529, JSON_TYPE, overloaded]);
    const events = eventsOf(await (await fetch(stream.url, post(ASKED))).text());
    assert.deepEqual(events.at(-1), overloaded);
    assert.deepEqual(blocksOf(events), TYPES.slice(0, 2));
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
    'a Request, with the body in the second argument': (url) => [new Request(url, post('{}')), { body: ASKED }],
    bytes: (url) => [url, post(new TextEncoder().encode(ASKED))],
    'an ArrayBuffer': (url) => [url, post(new TextEncoder().encode(ASKED).buffer)],
    'a Blob': (url) => [url, post(new Blob([ASKED]))],
    'a stream': (url) => [url, post(new Blob([ASKED]).stream(), { duplex: 'half' })],
    'a Blob without a content type': (url) => [url, { method: 'post', body: new Blob([ASKED]) }],
  };
  for (const [name, given] of Object.entries(inputs)) {
    test(`a body is adapted if it is given as ${name}`, async (t) => {
      const { url, got } = await backend(t, [200, JSON_TYPE, SEARCHES], [200, JSON_TYPE, CALLS]);
      const reply = await (await toolwireFetch({ dialect: 'anthropic' })(...given(url))).json();
      assert.deepEqual(
        reply.content.map(({ type }) => type),
        TYPES,
      );
      assert.deepEqual(
        got.map(({ method }) => method),
        ['POST', 'POST'],
      );
    });
  }

  test('a backend with a native construct for deferred tools receives the betas that it needs', async (t) => {
    const { url, got } = await backend(t, ...Array(3).fill([200, JSON_TYPE, CALLS]));
    const fetch = toolwireFetch({ dialect: 'anthropic', deferred: { native: 'inline' } });
    const added = { type: 'tool_addition', tool: { type: 'tool_definition', definition: { ...ROOM, name: 'late' } } };
    const body = JSON.parse(LOADED);
    const late = JSON.stringify({ ...body, messages: [...body.messages, { role: 'system', content: [added] }] });
    const beta = { ...JSON_TYPE, 'anthropic-beta': 'files-api-2025-04-14' };
    await fetch(url, { ...post(late), headers: beta });
    await fetch(url, post(late));
    await fetch(url, { ...post(LOADED), headers: beta });
    assert.deepEqual(
      got.map(({ headers }) => headers['anthropic-beta']),
      ['files-api-2025-04-14,inline-tools-2026-09-15', 'inline-tools-2026-09-15', 'files-api-2025-04-14'],
    );
  });

  test('with native "auto", the URL and the model determine the construct', async () => {
    const got = [];
    const backend = async (input, init) => {
      const request = new Request(input, init);
      got.push([request.headers.get('anthropic-beta'), await request.text()]);
      return Response.json(CALLS);
    };
    const fetch = toolwireFetch({ dialect: 'anthropic', deferred: { native: 'auto' }, fetch: backend });
    const added = { type: 'tool_addition', tool: { type: 'tool_definition', definition: { ...ROOM, name: 'late' } } };
    const body = JSON.parse(LOADED);
    const messages = [...body.messages, { role: 'system', content: [added] }];
    const late = JSON.stringify({ ...body, model: 'claude-opus-5', messages });
    for (const host of ['api.anthropic.com', 'gateway.example']) await fetch(`https://${host}/v1/messages`, post(late));
    assert.deepEqual(
      got.map(([beta, body]) => [beta, body.includes('tool_addition')]),
      [
        ['inline-tools-2026-09-15', true],
        [null, false],
      ],
    );
  });

  test('with native "auto", Google Cloud gets deferred tools if the header names their beta', async () => {
    const got = [];
    const backend = async (input, init) => {
      const request = new Request(input, init);
      got.push([request.headers.get('anthropic-beta'), (await request.text()).includes('tool_reference')]);
      return Response.json(CALLS);
    };
    const fetch = toolwireFetch({ dialect: 'anthropic', deferred: { native: 'auto' }, fetch: backend });
    const host = 'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5';
    const url = `${host}/publishers/anthropic/models/claude-sonnet-4-5:rawPredict`;
    const late = { ...ROOM, name: 'late', defer_loading: true };
    const body = {
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 1,
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'find', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'tool_reference', tool_name: 'late' }],
            },
          ],
        },
      ],
      tools: [{ ...ROOM, name: 'find' }, late],
    };
    const beta = 'tool-search-tool-2025-10-19';
    await fetch(url, { ...post(JSON.stringify(body)), headers: { ...JSON_TYPE, 'anthropic-beta': beta } });
    await fetch(url, post(JSON.stringify(body)));
    assert.deepEqual(got, [
      [beta, true],
      [null, false],
    ]);
  });

  test('only betas of deferred loading are removed; with `deferred: false`, all are kept', async (t) => {
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

  test('replies that are compressed with gzip are restored', async (t) => {
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

describe('requests and replies that pass unchanged', () => {
  const spelled = ' { "model": "m",  "messages": [ ], "tools": [] }';
  const form = new FormData();
  form.set('file', 'x');
  const passing = {
    'a request with nothing to adapt': ['/v1/messages', post(spelled), spelled],
    'another path': ['/v1/files', post(ASKED), ASKED],
    'a body that is not an object': ['/v1/messages', post('[1]'), '[1]'],
    'plain text': ['/v1/messages', { method: 'POST', body: ASKED, headers: { 'content-type': 'text/plain' } }, ASKED],
    'a compressed body': [
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
  for (const [name, headers] of Object.entries({ 'no content type': {}, 'a JSON content type': JSON_TYPE })) {
    test(`bytes that are not text are sent unchanged in a stream with ${name}`, async (t) => {
      const { url, got } = await backend(t, [200, {}, '']);
      const init = { method: 'POST', headers, body: new Blob([binary]).stream(), duplex: 'half' };
      await toolwireFetch({ dialect: 'anthropic' })(url, init);
      assert.deepEqual(got[0].bytes, binary);
    });
  }

  test('error replies, and replies that are neither JSON nor events, are returned unchanged', async (t) => {
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

describe('streams', () => {
  test('nothing is read before the client reads, and cancelling reaches the backend', async (t) => {
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

  test('split characters are joined, a byte order mark is removed, and invalid bytes are replaced', async (t) => {
    const streamed = streamOf(CALLS).join('').replace('"input":{}', '"input":{},"title":"Größe 🎈"');
    const bytes = Buffer.concat([Buffer.from('\ufeff'), Buffer.from(streamed), Buffer.from(': \xff\n\n', 'latin1')]);
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

  test('aborting a request ends it in the second round, too', async (t) => {
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

  test('each call to the function is independent', async (t) => {
    const { url, got } = await backend(t, [429, JSON_TYPE, '{}'], [200, JSON_TYPE, SEARCHES], [200, JSON_TYPE, CALLS]);
    const fetch = toolwireFetch({ dialect: 'anthropic' });
    const request = post(ASKED);
    assert.equal((await fetch(url, request)).status, 429);
    assert.equal((await (await fetch(url, request)).json()).content.length, 3);
    assert.equal(got[0].body, got[1].body);
  });
});

describe('headers that describe the original body', () => {
  const OF_BODY = {
    'content-digest': 'sha-256=:AAAA:',
    'repr-digest': 'sha-256=:AAAA:',
    digest: 'sha-256=AAAA',
    'content-md5': 'AAAA',
  };
  const KEYS = { 'idempotency-key': 'k', 'x-idempotency-key': 'k' };

  test('are removed, and an idempotency key is removed from the second request', async (t) => {
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

  test('are kept if nothing is rewritten', async (t) => {
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

/** Returns a frame of a binary event stream with an event of InvokeModelWithResponseStream. */
function frame(event) {
  const header = (name, value) => [[name.length], Buffer.from(name), [7, 0, value.length], Buffer.from(value)];
  const headers = Buffer.concat(
    [...header(':event-type', 'chunk'), ...header(':message-type', 'event')].map((part) => Buffer.from(part)),
  );
  const payload = Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') }));
  const bytes = Buffer.alloc(16 + headers.length + payload.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(headers.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  headers.copy(bytes, 12);
  payload.copy(bytes, 12 + headers.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
  return bytes;
}

/** Returns the events in frames. */
function eventsIn(bytes) {
  const events = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const one = bytes.subarray(at, at + length);
    assert.equal(one.readUInt32BE(length - 4), crc32(one.subarray(0, -4)));
    const payload = JSON.parse(one.subarray(12 + one.readUInt32BE(4), length - 4));
    events.push(JSON.parse(Buffer.from(payload.bytes, 'base64')));
    at += length;
  }
  return events;
}

test('a stream of Bedrock in frames is restored', async (t) => {
  const events = (name) => [
    { type: 'message_start', message: { role: 'assistant', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't1', name, input: {} } },
    { type: 'message_stop' },
  ];
  // The first byte of a stream determines its kind.
  for (const kind of ['application/vnd.amazon.eventstream', 'text/event-stream']) {
    const { url } = await backend(t, [200, { 'content-type': kind }, Buffer.concat(events('book_room').map(frame))]);
    const { model: _, ...request } = JSON.parse(LOADED);
    const body = JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', ...request });
    const { origin } = new URL(url);
    const fetch = toolwireFetch({ dialect: 'bedrock-anthropic' });
    const response = await fetch(`${origin}/model/claude/invoke-with-response-stream`, post(body));
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.deepEqual(eventsIn(bytes), events('book.room'), kind);
  }
});
