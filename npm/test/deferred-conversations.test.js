// Tests deferred loading over whole conversations of an agent (tests/deferred-conversations), which all languages run,
// and the Anthropic one again over HTTP, against a fake backend for each translation target.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { answerToolSearch, applyDeferredLoading, stripDeferralBetas, ToolIndex } from '../dist/index.js';
import { start } from './fakes/backend.js';
import { validate } from './fakes/refuse.js';

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../tests/deferred-conversations/${name}.json`, import.meta.url), 'utf8'));
const TARGETS = ['openai-responses', 'openai-chat'];
const OURS = /tool_reference|tool_search_tool|defer_loading|"type":"tool_search"/;
const nameOf = (tool) => tool.function?.name ?? tool.name;

/** An agent in the middle of a conversation, with its state between turns. */
class Agent {
  history = [];
  loaded = [];

  constructor(script, target) {
    this.script = script;
    this.target = target;
    this.tools = script.tools;
  }

  /** Returns the rewritten request of a turn, after comparing it with the expected one. */
  request({ what, without = [], compacts, add, loadedTools, sent }) {
    this.tools = this.tools.filter((tool) => !without.includes(nameOf(tool)));
    this.history = [...(compacts ? [] : this.history), ...add];
    if (loadedTools !== undefined) assert.deepEqual(loadedTools, this.loaded, `${what}: the report`);
    const request = { model: 'm', [this.script.history]: this.history, tools: this.tools };
    const options = { ...this.script.options, loadedTools, target: this.target };
    const { request: body, report } = applyDeferredLoading(request, options);
    const text = JSON.stringify(body);
    assert.doesNotMatch(text, OURS, what);
    assert.equal(applyDeferredLoading(JSON.stringify(request), options).request, text, `${what}: text gives the same`);
    if (this.target === undefined)
      assert.equal(JSON.stringify(applyDeferredLoading(body, options).request), text, what);

    const { last, warnings = sent.report.warnings } = sent.translated?.[this.target] ?? sent;
    const { loaded, hidden, unreachable } = report;
    assert.deepEqual(body.tools.map(nameOf), sent.tools, what);
    assert.deepEqual((body.input ?? body.messages).at(-1), last, what);
    assert.deepEqual({ loaded, hidden, warnings: report.warnings, unreachable }, { ...sent.report, warnings }, what);
    // A compaction two turns later needs the tools that were loaded before it.
    if (!compacts) this.loaded = loaded;
    return body;
  }

  /** Records the model's message, and answers its searches. */
  answer({ what, call, answer }, message) {
    if (message !== undefined) this.history.push(message);
    if (call === undefined) return;
    assert.deepEqual(answerToolSearch(call, this.tools, this.script.searchOptions), answer, what);
    assert.deepEqual(
      new ToolIndex(this.tools).answer(call, this.script.searchOptions),
      answer,
      `${what}: from an index`,
    );
  }
}

for (const name of ['anthropic', ...TARGETS]) {
  test(`${name}: the whole conversation is rewritten`, () => {
    const script = read(name);
    const agent = new Agent(script);
    for (const turn of script.turns) {
      const body = agent.request(turn);
      if (name !== 'anthropic') validate(name, body);
      agent.answer(turn, turn.said);
    }
  });
}

/** Functions that convert a backend's reply to a message in Anthropic's format, which is the agent's. */
const MESSAGE_OF = {
  'openai-responses': ({ output }) => ({
    role: 'assistant',
    content: output.map((item) =>
      item.type === 'function_call'
        ? { type: 'tool_use', id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }
        : { type: 'text', text: item.content[0].text },
    ),
  }),
  'openai-chat': ({ choices: [{ message }] }) => ({
    role: 'assistant',
    content: message.tool_calls?.map(({ id, function: { name, arguments: text } }) => ({
      type: 'tool_use',
      id,
      name,
      input: JSON.parse(text),
    })) ?? [{ type: 'text', text: message.content }],
  }),
};

for (const api of TARGETS) {
  test(`${api}: the whole conversation works over HTTP`, async (t) => {
    const script = read('anthropic');
    // Every turn is a request, except those in which the model does not reply.
    const turns = script.turns.filter(({ model }) => model !== undefined);
    const backend = await start(
      api,
      turns.map(({ model }) => model),
    );
    t.after(backend.stop);
    const agent = new Agent(script, api);
    for (const turn of script.turns) {
      const body = agent.request(turn);
      if (turn.model === undefined) continue;
      const response = await post(backend.url, body, 'advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19');
      const answer = await response.json();
      assert.equal(response.status, 200, `${turn.what}: ${JSON.stringify(answer)}`);
      const message = MESSAGE_OF[api](answer);
      assert.deepEqual(message, turn.said, turn.what);
      agent.answer(turn, message);
    }
    assert.equal(backend.requests.length, turns.length);
  });

  test(`${api}: the fake refuses invalid requests`, async (t) => {
    const backend = await start(api, [{ text: 'hi' }]);
    t.after(backend.stop);
    const refused = read('refused').filter((one) => one.api === api);
    assert.ok(refused.length > 10);
    for (const { why, body } of refused) {
      const response = await post(backend.url, body);
      assert.equal(response.status, 400, `${why}: ${await response.text()}`);
    }
    // The agent's original request, before rewriting, is refused.
    const { tools, turns } = read('anthropic');
    const raw = { model: 'm', messages: turns[0].add, tools };
    assert.equal((await post(backend.url, raw)).status, 400);
    const body = applyDeferredLoading(raw, { target: api }).request;
    const header = { 'anthropic-beta': 'tool-search-tool-2025-10-19' };
    assert.equal(
      (await fetch(backend.url, { method: 'POST', body: JSON.stringify(body), headers: header })).status,
      400,
    );
    assert.equal((await post(backend.url, body)).status, 200);
  });
}

/** Passes a request on, as a gateway would. */
function post(url, body, beta) {
  const headers = new Headers({ 'content-type': 'application/json' });
  const left = stripDeferralBetas(beta);
  if (left !== null) headers.set('anthropic-beta', left);
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}
