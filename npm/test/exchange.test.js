// Tests `Exchange` with the cases of tests/exchange, which all languages run.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock, test } from 'node:test';

import { Exchange, ToolwireError } from '../dist/index.js';

const casesOf = (name) =>
  JSON.parse(readFileSync(new URL(`../../tests/exchange/${name}.json`, import.meta.url), 'utf8'));
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const open = ({ url = 'http://localhost/v1/messages', options }, body) => Exchange.open(url, body, options);

const typeOf = (event) => event.type ?? event.event_type;

/** Returns events as text: `whole`, or without the final line ends, which some servers omit. */
function textOf(events, named, whole) {
  // Events of Chat Completions and Gemini have no type.
  const nameOf = (event) => (named && typeOf(event) !== undefined ? `event: ${typeOf(event)}\n` : '');
  const text = events.map((event) => `${nameOf(event)}data: ${JSON.stringify(event)}\n\n`);
  return whole ? text.join('') : text.join('').trimEnd();
}

function eventsOf(text) {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const { name, data } = /^(?:event: (?<name>.*)\n)?data: (?<data>.*)$/.exec(event).groups;
      if (name !== undefined) assert.equal(name, typeOf(JSON.parse(data)));
      return JSON.parse(data);
    });
}

function feed(exchange, text) {
  let out = '';
  for (let at = 0; at < text.length; at += 7) out += exchange.feedText(text.slice(at, at + 7));
  return out + exchange.finishText();
}

/** Runs a case, with its request and its replies as strings or as bytes. */
function play(one, as, named, whole) {
  const text = one.bare ?? JSON.stringify(one.asked);
  if (one.error !== undefined) {
    assert.throws(
      () => open(one, as.given(text)),
      (error) => {
        assert.ok(error instanceof ToolwireError, error);
        assert.deepEqual({ code: error.code, pointer: error.pointer }, one.error, error.message);
        const url = one.url ?? 'http://localhost/v1/messages';
        if (one.refusal !== undefined) assert.equal(Exchange.refusal(url, error), JSON.stringify(one.refusal));
        return true;
      },
    );
    return;
  }
  const warn = mock.method(console, 'warn', () => {});
  const exchange = open(one, as.given(text));
  warn.mock.restore();
  const warned = warn.mock.calls.map(({ arguments: [line] }) => line);
  // The same warning is not repeated.
  if (one.warning === undefined || warned.length > 0) {
    assert.deepEqual(warned, one.warning === undefined ? [] : [`toolwire: ${one.warning}`]);
  }
  if (one.passes) {
    assert.equal(exchange, null);
    return;
  }
  let streamed = '';
  for (const [number, { sent, betas = [], reply, events, refused }] of one.rounds.entries()) {
    assert.equal(exchange.request, sent === null ? text : JSON.stringify(sent), `round ${number}`);
    assert.ok(Array.isArray(exchange.report.changes), `round ${number}: a report`);
    assert.deepEqual(exchange.betas, betas, `round ${number}`);
    const last = number === one.rounds.length - 1;
    if (refused !== undefined) {
      const answer = () =>
        events === undefined
          ? exchange.reply(as.given(JSON.stringify(reply)))
          : exchange.feedText(textOf(events, named, true));
      assert.throws(answer, ({ code, pointer }) => code === refused.code && pointer === refused.pointer);
      exchange.close();
      return;
    }
    if (events !== undefined) {
      streamed += feed(exchange, textOf(events, named, whole));
      assert.equal(exchange.asksAgain, !last, `round ${number}`);
    } else {
      const reported = exchange.reply(as.given(JSON.stringify(reply)));
      assert.equal(reported && as.text(reported), last ? JSON.stringify(one.told) : null, `round ${number}`);
    }
  }
  if (Array.isArray(one.told)) assert.deepEqual(eventsOf(streamed), one.told);
  assert.deepEqual(exchange.takeRepairedCalls(), one.repaired ?? []);
  assert.deepEqual(exchange.takeAnswerChanges(), one.answerChanges ?? []);
  exchange.close();
}

const STRINGS = { given: (text) => text, text: (text) => text };
const BYTES = { given: (text) => encoder.encode(text), text: (bytes) => decoder.decode(bytes) };

for (const one of casesOf('whole')) {
  test(`whole: ${one.name}`, () => {
    play(one, STRINGS);
    play(one, BYTES);
  });
}

for (const one of casesOf('endpoints')) {
  test(`endpoint: ${one.name}`, () => {
    play(one, STRINGS);
    play(one, BYTES);
  });
}

for (const one of casesOf('streams')) {
  test(`stream: ${one.name}`, () => {
    for (const whole of [true, false]) {
      play(one, STRINGS, true, whole);
      play(one, BYTES, false, whole);
    }
  });
}

test('exchanges are independent of each other, and a closed one cannot be used', () => {
  const [one] = casesOf('whole');
  const body = JSON.stringify(one.asked);
  const exchanges = [1, 2, 3].map(() => open(one, body));
  exchanges[1].close();
  exchanges[1].close();
  assert.throws(() => exchanges[1].reply('{}'), /found a closed one/);
  const later = open(one, body);
  for (const exchange of [exchanges[0], exchanges[2], later]) {
    assert.equal(exchange.reply(JSON.stringify(one.rounds[0].reply)), null);
    assert.equal(exchange.reply(JSON.stringify(one.rounds[1].reply)), JSON.stringify(one.told));
  }
});

const BAD = JSON.stringify({
  messages: [],
  tools: [{ name: 'good' }, { name: 'odd', input_schema: { type: 'array' } }],
});
const ANTHROPIC = { options: { dialect: 'anthropic' } };

test('a warning is printed once, but not if `onSetAside` is a function', () => {
  const warn = mock.method(console, 'warn', () => {});
  const reported = [];
  try {
    for (let times = 0; times < 3; times += 1) {
      open(ANTHROPIC, BAD);
      open({ options: { dialect: 'anthropic', onSetAside: (...given) => reported.push(given) } }, BAD);
    }
  } finally {
    warn.mock.restore();
  }
  assert.equal(warn.mock.calls.length, 1);
  assert.match(warn.mock.calls[0].arguments[0], /^toolwire: 1 tool was not sent: `odd` at /);
  assert.equal(reported.length, 3);
  const [[tools, { url, dialect, body }]] = reported;
  assert.deepEqual([tools[0].name, tools[0].pointer], ['odd', '/tools/1/input_schema']);
  assert.deepEqual([url, dialect], ['http://localhost/v1/messages', 'anthropic']);
  assert.deepEqual(
    JSON.parse(body).tools.map(({ name }) => name),
    ['good'],
  );
});

test('each dialect has its own warning, and errors of a function pass through', () => {
  const warn = mock.method(console, 'warn', () => {});
  open({ options: { dialect: 'bedrock' } }, BAD);
  open({ options: { dialect: 'mistral' } }, BAD);
  warn.mock.restore();
  assert.equal(warn.mock.calls.length, 2);
  const thrower = () => {
    throw new TypeError('mine');
  };
  assert.throws(() => open({ options: { dialect: 'anthropic', onSetAside: thrower } }, BAD), { message: 'mine' });
});

test('a tool that turns out to be unusable after a search is reported after the search', () => {
  const warn = mock.method(console, 'warn', () => {});
  const tools = [
    { type: 'tool_search_tool_bm25_1', name: 's' },
    { name: 'later', description: 'rooms', input_schema: { type: 'array' }, defer_loading: true },
  ];
  const body = JSON.stringify({ messages: [], tools });
  const exchange = open(ANTHROPIC, body);
  assert.equal(warn.mock.calls.length, 0);
  const search = { type: 'tool_use', id: 't1', name: 'tool_search', input: { query: 'rooms' } };
  assert.equal(exchange.reply(JSON.stringify({ content: [search], stop_reason: 'tool_use' })), null);
  warn.mock.restore();
  assert.match(warn.mock.calls[0].arguments[0], /`later` at/);
  assert.match(exchange.request, /Tool references removed/);

  const strict = open({ options: { dialect: 'anthropic', onSetAside: 'error' } }, body);
  assert.throws(() => strict.reply(JSON.stringify({ content: [search], stop_reason: 'tool_use' })), {
    code: 'not-representable',
  });
  // A client that already has the beginning of a stream receives the error in the stream.
  const streaming = open({ options: { dialect: 'anthropic', onSetAside: 'error' } }, body);
  const events = [
    { type: 'message_start', message: { content: [] } },
    { type: 'content_block_start', index: 0, content_block: { ...search, input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"rooms"}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ];
  const last = eventsOf(feed(streaming, textOf(events, true, true))).at(-1);
  assert.equal(streaming.asksAgain, false);
  assert.deepEqual([last.type, last.error.code], ['error', 'not-representable']);
});

test('a repeated list gives the same result', () => {
  const tools = [{ name: 'look.up', inputSchema: { type: 'object', properties: { a: { const: 1 } } } }];
  const body = JSON.stringify({ model: 'm', messages: [], tools });
  for (const dialect of ['moonshot', 'openai-strict', 'anthropic-strict']) {
    const [alone, ...kept] = [0, 4, 4].map((toolListCache) => {
      const exchange = Exchange.open('http://localhost/v1/chat/completions', body, { dialect, toolListCache });
      const { request, report } = exchange;
      exchange.close();
      return { request, report };
    });
    assert.match(alone.request, /look_up/);
    assert.deepEqual(kept, [alone, alone]);
  }
});

test('the report can be read after the end', () => {
  const text = JSON.stringify({ model: 'm', messages: [], tools: [{ name: 'look.up', inputSchema: {} }] });
  const body = encoder.encode(text);
  const options = { dialect: 'moonshot' };
  const [early, late] = [0, 1].map(() => Exchange.open('http://localhost/v1/chat/completions', body, options));
  const expected = early.report;
  // Later changes of the caller's objects do not affect the report.
  body.fill(32);
  options.dialect = 'gemini';
  for (const exchange of [early, late]) exchange.close();
  assert.equal(early.report, expected);
  assert.deepEqual(late.report, expected);
  assert.equal(late.report, late.report);
  assert.deepEqual([expected.dialect, expected.changes.at(-1).rule], ['moonshot', 'rename-tool']);
});
