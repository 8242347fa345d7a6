// What the view "Deferred loading" makes of a request before anything is shown: its turns, its messages in words, its
// prompt, and what both backends see. Without a browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const example = (name) => readFileSync(new URL(`../src/examples/${name}.json`, import.meta.url), 'utf8');
const says = (role, content = 'a') => ({ role, content });
const tool = (name, more = {}) => ({ name, description: name, input_schema: { type: 'object' }, ...more });

describe('turns', () => {
  let vite;
  let turns;
  let words;
  let prompt;
  let conversation;
  let backends;
  before(async () => {
    const server = { middlewareMode: true, ws: false };
    vite = await createServer({ root: ROOT, appType: 'custom', logLevel: 'error', server });
    const load = (name) => vite.ssrLoadModule(`/src/calls/${name}.ts`);
    [turns, words, prompt, conversation, backends] = await Promise.all(
      ['turns', 'words', 'prompt', 'conversation', 'backends'].map(load),
    );
  });
  after(() => vite.close());

  const endsOf = (request) => turns.turnsOf(JSON.stringify(request))?.ends;

  test('a turn ends where the model begins to speak, and the last one is the request', () => {
    const all = ['user', 'assistant', 'user', 'system', 'assistant', 'assistant', 'user'];
    const cases = [
      [{ messages: all.map((role) => says(role)) }, [1, 4, 7]],
      [{ messages: [says('user'), says('assistant')] }, [1, 2]],
      [{ messages: [says('assistant'), says('user')] }, [2]],
      [{ messages: [] }, [0]],
      [{ input: 'hi' }, undefined],
      [{ model: 'm' }, undefined],
      [[says('user')], undefined],
    ];
    for (const [request, ends] of cases) assert.deepEqual(endsOf(request), ends, JSON.stringify(request));
    assert.equal(turns.turnsOf('{'), undefined);
  });

  test('items of Responses: calls and hosted searches are the model’s, outputs and carriers the client’s', () => {
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [] },
      { type: 'message', role: 'user', content: 'a' },
      { type: 'reasoning' },
      { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: '1', output: 'b' },
      { type: 'tool_search_call', execution: 'server', call_id: null },
      { type: 'tool_search_output', execution: 'server', call_id: null, tools: [] },
      { type: 'function_call', call_id: '2', name: 'g', arguments: '{}' },
      { type: 'function_call_output', call_id: '2', output: 'c' },
      { type: 'tool_search_call', execution: 'client', call_id: '3' },
      { type: 'tool_search_output', execution: 'client', call_id: '3', tools: [] },
    ];
    assert.deepEqual(endsOf({ input }), [2, 5, 9, 11]);
  });

  test('the format is that of the whole request, and only the last request has its choice', () => {
    const found = turns.turnsOf(example('kimi'));
    assert.equal(found.format, 'openai-chat');
    assert.equal(turns.turnsOf(example('codex')).format, 'openai-responses');
    assert.equal(turns.turnsOf(example('claude-code')).format, 'anthropic');
    const chosen = turns.turnsOf(JSON.stringify({ ...JSON.parse(example('kimi')), tool_choice: 'required' }));
    assert.equal(turns.requestOf(chosen, 0).tool_choice, undefined);
    assert.equal(turns.requestOf(chosen, 0).messages.length, 2);
    assert.deepEqual(turns.requestOf(chosen, 5), chosen.request);
    assert.deepEqual(
      chosen.ends.flatMap((_, at) => turns.itemsOf(chosen, at)),
      chosen.items,
    );
  });

  test('a conversation without an end is refused', () => {
    const messages = (count) => Array.from({ length: 2 * count - 1 }, (_, at) => says(at % 2 ? 'assistant' : 'user'));
    assert.equal(endsOf({ messages: messages(200) }).length, 200);
    assert.throws(() => endsOf({ messages: messages(201) }), /at most 200 turns, found 201/);
  });

  test('messages in words, whatever their format', () => {
    const reference = { type: 'tool_reference', name: 'f' };
    const cases = [
      [says('user', 'hi'), 'user', ['text hi ']],
      ['hi', 'user', ['text hi ']],
      [
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
        'assistant',
        ['call f({}) f'],
      ],
      [{ role: 'system', tools: [{ function: { name: 'f' } }] }, 'system', ['brings  f']],
      [{ type: 'function_call', name: 'f', arguments: '{"a":1}' }, 'assistant', ['call f({"a":1}) f']],
      [{ type: 'custom_tool_call', name: 'f', input: 'x' }, 'assistant', ['call f(x) f']],
      [{ type: 'function_call_output', output: 'done' }, 'tool', ['text done ']],
      [
        { type: 'tool_search_output', tools: [{ name: 'ns', tools: [{ name: 'f' }, { name: 'g' }] }] },
        'tool',
        ['brings  f,g'],
      ],
      [{ type: 'reasoning', summary: [] }, 'assistant', ['other reasoning ']],
      [
        says('user', [{ type: 'tool_result', content: [{ type: 'tool_reference', tool_name: 'f' }] }]),
        'user',
        ['refers  f'],
      ],
      [
        says('system', [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool('f') } }]),
        'system',
        ['brings  f'],
      ],
      [says('system', [{ type: 'tool_addition', tool: reference }]), 'system', ['refers  f']],
      [says('system', [{ type: 'tool_removal', tool: reference }]), 'system', ['takes  f']],
      [null, 'user', []],
    ];
    for (const [message, who, pieces] of cases) {
      const found = words.wordsOf(message);
      assert.equal(found.who, who);
      assert.deepEqual(
        found.pieces.map(({ kind, text, names }) => `${kind} ${text} ${names}`),
        pieces,
        JSON.stringify(message),
      );
    }
  });

  test('a prompt parts from the one before at its first entry that differs, in the order in which it is read', () => {
    const first = { messages: [says('user')], system: 's', tools: [tool('f')] };
    const growth = (next) => prompt.growthOf(prompt.promptOf(first), prompt.promptOf({ ...first, ...next }));
    const more = [says('user'), says('assistant')];
    assert.deepEqual(growth({ messages: more }), {
      bytes: JSON.stringify([tool('f'), 's', ...more]).length - 5,
      newBytes: JSON.stringify(more[1]).length,
      partsAt: undefined,
      firstMessage: 1,
    });
    assert.equal(growth({ tools: [tool('f'), tool('g')], messages: more }).partsAt, '/tools/1');
    assert.equal(growth({ tools: [], messages: more }).partsAt, '/tools/0');
    assert.equal(growth({ system: 't' }).partsAt, '/system');
    assert.equal(growth({ messages: [says('user', 'b')] }).partsAt, '/messages/0');
    assert.equal(growth({ messages: [] }).partsAt, '/messages/0');
    // A tool that the provider keeps back is no part of the prompt.
    assert.equal(growth({ tools: [tool('f'), tool('g', { defer_loading: true })] }).partsAt, undefined);
  });

  test('every example on every backend: what comes and goes adds up to what is visible', () => {
    for (const name of ['claude-code', 'codex', 'kimi', 'conversation']) {
      for (const id of backends.BACKEND_IDS) {
        const [{ turns: played, failed }] = conversation.conversationOf(example(name), [id, id], {}).sides;
        assert.equal(failed, undefined, `${name} on ${id}`);
        const visible = new Set();
        for (const { came, went, tools } of played) {
          for (const each of went) assert.ok(visible.delete(each), each);
          for (const each of came) visible.add(each);
          assert.deepEqual([...visible].sort(), tools.map((seen) => seen.name).sort(), `${name} on ${id}`);
        }
      }
    }
  });

  test('a native backend and an emulated one show a model the same tools', () => {
    for (const name of ['claude-code', 'codex', 'kimi']) {
      const { sides } = conversation.conversationOf(example(name), ['anthropic-inline', 'openai-chat'], {});
      const [native, emulated] = sides.map(({ turns: played }) =>
        played.map(({ tools }) => tools.map((seen) => seen.name).sort()),
      );
      assert.deepEqual(native, emulated, name);
    }
  });
});
