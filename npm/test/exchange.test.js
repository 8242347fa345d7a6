// One request of a client and its reply: the cases of tests/exchange, which all languages play.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Exchange, ToolwireError } from '../dist/search.js';

const casesOf = (name) =>
  JSON.parse(readFileSync(new URL(`../../tests/exchange/${name}.json`, import.meta.url), 'utf8'));
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const open = ({ url = 'http://localhost/v1/messages', options }, body) => Exchange.open(url, body, options);

/** Events as text, `whole` or without the line ends behind the last one, which some servers leave out. */
function textOf(events, named, whole) {
  const text = events.map((event) => `${named ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  return whole ? text.join('') : text.join('').trimEnd();
}

function eventsOf(text) {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const { name, data } = /^(?:event: (?<name>.*)\n)?data: (?<data>.*)$/.exec(event).groups;
      if (name !== undefined) assert.equal(name, JSON.parse(data).type);
      return JSON.parse(data);
    });
}

function feed(exchange, text) {
  let out = '';
  for (let at = 0; at < text.length; at += 7) out += exchange.feedText(text.slice(at, at + 7));
  return out + exchange.finishText();
}

/** Plays a case, its request and its replies as strings or as bytes. */
function play(one, as, named, whole) {
  const text = one.bare ?? JSON.stringify(one.asked);
  if (one.error !== undefined) {
    assert.throws(
      () => open(one, as.given(text)),
      (error) => {
        assert.ok(error instanceof ToolwireError, error);
        assert.deepEqual({ code: error.code, pointer: error.pointer }, one.error, error.message);
        return true;
      },
    );
    return;
  }
  const exchange = open(one, as.given(text));
  if (one.passes) {
    assert.equal(exchange, null);
    return;
  }
  let streamed = '';
  for (const [number, { sent, reply, events }] of one.rounds.entries()) {
    assert.equal(exchange.request, sent === null ? text : JSON.stringify(sent), `round ${number}`);
    assert.ok(Array.isArray(exchange.report.changes), `round ${number}: a report`);
    const last = number === one.rounds.length - 1;
    if (events !== undefined) {
      streamed += feed(exchange, textOf(events, named, whole));
      assert.equal(exchange.asksAgain, !last, `round ${number}`);
    } else {
      const told = exchange.reply(as.given(JSON.stringify(reply)));
      assert.equal(told && as.text(told), last ? JSON.stringify(one.told) : null, `round ${number}`);
    }
  }
  if (Array.isArray(one.told)) assert.deepEqual(eventsOf(streamed), one.told);
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

for (const one of casesOf('streams')) {
  test(`stream: ${one.name}`, () => {
    for (const whole of [true, false]) {
      play(one, STRINGS, true, whole);
      play(one, BYTES, false, whole);
    }
  });
}

test('exchanges do not disturb each other, and one that is closed is over', () => {
  const [one] = casesOf('whole');
  const body = JSON.stringify(one.asked);
  const exchanges = [1, 2, 3].map(() => open(one, body));
  exchanges[1].close();
  exchanges[1].close();
  assert.throws(() => exchanges[1].reply('{}'), /found one that was closed/);
  const later = open(one, body);
  for (const exchange of [exchanges[0], exchanges[2], later]) {
    assert.equal(exchange.reply(JSON.stringify(one.rounds[0].reply)), null);
    assert.equal(exchange.reply(JSON.stringify(one.rounds[1].reply)), JSON.stringify(one.told));
  }
});
