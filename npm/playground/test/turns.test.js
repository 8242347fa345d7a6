// Tests the data for the view "Deferred loading", without a browser: a request's turns, its messages in readable form, its
// prompt, and the tools that both backends see.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { startEngine } from './engine.js';

const example = (name) => readFileSync(new URL(`../src/examples/${name}.json`, import.meta.url), 'utf8');
const messageOf = (role, content = 'a') => ({ role, content });
const tool = (name, more = {}) => ({ name, description: name, input_schema: { type: 'object' }, ...more });

describe('turns', () => {
  let engine;
  let turns;
  let words;
  let prompt;
  let conversation;
  let backends;
  before(async () => {
    engine = await startEngine();
    [turns, words, prompt, conversation, backends] = await engine.load(
      ...['turns', 'words', 'prompt', 'conversation', 'backends'].map((name) => `calls/${name}`),
    );
  });
  after(() => engine.stop());

  const endsOf = (request) => turns.turnsOf(JSON.stringify(request))?.ends;

  test("a turn ends where the model's message begins, and the last turn is the request itself", () => {
    const all = ['user', 'assistant', 'user', 'system', 'assistant', 'assistant', 'user'];
    const cases = [
      [{ messages: all.map((role) => messageOf(role)) }, [1, 4, 7]],
      [{ messages: [messageOf('user'), messageOf('assistant')] }, [1, 2]],
      [{ messages: [messageOf('assistant'), messageOf('user')] }, [2]],
      [{ messages: [] }, [0]],
      [{ input: 'hi' }, undefined],
      [{ model: 'm' }, undefined],
      [[messageOf('user')], undefined],
    ];
    for (const [request, ends] of cases) assert.deepEqual(endsOf(request), ends, JSON.stringify(request));
    assert.equal(turns.turnsOf('{'), undefined);
  });

  test('items of Responses are attributed: calls and hosted searches to the model, outputs and additions of tools to the client', () => {
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
    // OpenAI's own search may lack `execution`; a search with a call to answer is the client's.
    const withoutExecution = input.map(({ execution, ...item }) => item);
    assert.deepEqual(endsOf({ input: withoutExecution }), [2, 5, 9, 11]);
  });

  test('the format is that of the whole request, and only the last request has the tool choice', () => {
    const formatOf = (text, options = {}) => turns.formatOf(turns.turnsOf(text), options);
    assert.equal(formatOf(example('kimi')), 'openai-chat');
    assert.equal(formatOf(example('codex')), 'openai-responses');
    assert.equal(formatOf(example('claude-code')), 'anthropic');
    // The format is toolwire's decision, not a rule of the page: here it depends on the target.
    const either = JSON.stringify({ model: 'm', messages: [messageOf('user')], seed: 1 });
    assert.deepEqual([formatOf(either), formatOf(either, { target: 'openai-chat' })], ['anthropic', 'openai-chat']);
    assert.equal(formatOf(JSON.stringify({ messages: [messageOf('user')], tools: 1 })), undefined);
    const chosen = turns.turnsOf(JSON.stringify({ ...JSON.parse(example('kimi')), tool_choice: 'required' }));
    assert.equal(turns.requestOf(chosen, 0).tool_choice, undefined);
    assert.equal(turns.requestOf(chosen, 0).messages.length, 2);
    assert.deepEqual(turns.requestOf(chosen, 5), chosen.request);
    assert.deepEqual(
      chosen.ends.flatMap((_, at) => turns.itemsOf(chosen, at)),
      chosen.items,
    );
  });

  test('only the last turns of a long conversation are shown, with a notice', () => {
    const messages = (count) =>
      Array.from({ length: 2 * count - 1 }, (_, at) => messageOf(at % 2 ? 'assistant' : 'user'));
    const of = (count) => turns.turnsOf(JSON.stringify({ messages: messages(count) }));
    assert.deepEqual([of(200).ends.length, of(200).skipped], [200, 0]);
    const more = of(203);
    assert.deepEqual([more.ends.length, more.skipped, more.ends[0], more.ends.at(-1)], [200, 3, 7, 405]);
    // The first turn that is shown has all earlier items.
    assert.equal(turns.requestOf(more, 0).messages.length, 7);
    assert.equal(turns.itemsOf(more, 0).length, 7);
    assert.equal(turns.itemsOf(more, 1).length, 2);
    const long = JSON.stringify({ messages: messages(203) });
    const { skipped, gists, sides } = conversation.conversationOf(long, ['same', 'openai-chat'], {});
    assert.deepEqual([skipped, gists.length, ...sides.map((side) => side.turns.length)], [3, 200, 200, 200]);
    assert.match(conversation.shortened(200, 3), /has 203 turns. The last 200 are shown/);
  });

  test('messages of all formats are shown in readable form', () => {
    const reference = { type: 'tool_reference', name: 'f' };
    const cases = [
      [messageOf('user', 'hi'), 'user', ['text hi ']],
      ['hi', 'user', ['text hi ']],
      [
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
        'assistant',
        ['call f({}) f'],
      ],
      [
        { role: 'assistant', tool_calls: [{ id: '1', type: 'custom', custom: { name: 'exec', input: 'pwd' } }] },
        'assistant',
        ['call exec(pwd) exec'],
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
        messageOf('user', [{ type: 'tool_result', content: [{ type: 'tool_reference', tool_name: 'f' }] }]),
        'user',
        ['refers  f'],
      ],
      [
        messageOf('system', [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool('f') } }]),
        'system',
        ['brings  f'],
      ],
      [messageOf('system', [{ type: 'tool_addition', tool: reference }]), 'system', ['refers  f']],
      [messageOf('system', [{ type: 'tool_removal', tool: reference }]), 'system', ['takes  f']],
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

  test('a prompt differs from the previous one at its first different entry, in reading order', () => {
    const first = { messages: [messageOf('user')], system: 's', tools: [tool('f')] };
    const growth = (next) => prompt.growthOf(prompt.promptOf(first), prompt.promptOf({ ...first, ...next }));
    const more = [messageOf('user'), messageOf('assistant')];
    assert.deepEqual(growth({ messages: more }), {
      bytes: JSON.stringify([tool('f'), 's', ...more]).length - 5,
      newBytes: JSON.stringify(more[1]).length,
      partsAt: undefined,
      firstMessage: 1,
    });
    assert.equal(growth({ tools: [tool('f'), tool('g')], messages: more }).partsAt, '/tools/1');
    assert.equal(growth({ tools: [], messages: more }).partsAt, '/tools/0');
    assert.equal(growth({ system: 't' }).partsAt, '/system');
    assert.equal(growth({ messages: [messageOf('user', 'b')] }).partsAt, '/messages/0');
    assert.equal(growth({ messages: [] }).partsAt, '/messages/0');
    // A tool that the provider defers is not part of the prompt.
    assert.equal(growth({ tools: [tool('f'), tool('g', { defer_loading: true })] }).partsAt, undefined);
  });

  test('a deferred definition counts once, where it is loaded', () => {
    const deferred = tool('f', { defer_loading: true });
    const loads = messageOf('user', [{ type: 'tool_result', content: [{ type: 'tool_reference', tool_name: 'f' }] }]);
    const removal = messageOf('system', [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'f' } }]);
    const bytes = (...messages) => prompt.growthOf([], prompt.promptOf({ tools: [deferred], messages })).bytes;
    const lengthOf = (...values) => values.reduce((sum, value) => sum + JSON.stringify(value).length, 0);
    assert.equal(bytes(messageOf('user')), lengthOf(messageOf('user')));
    assert.equal(bytes(loads), lengthOf(loads, deferred));
    assert.equal(bytes(loads, loads), lengthOf(loads, loads, deferred));
    assert.equal(bytes(removal), lengthOf(removal));
    const space = (...members) => ({ type: 'namespace', name: 'ns', tools: members });
    const shown = prompt.promptOf({ tools: [space(tool('g'), deferred)], input: [] });
    assert.deepEqual(
      shown.map(({ text }) => text),
      [JSON.stringify(space(tool('g')))],
    );
  });

  test('tools in namespaces of the list are in `tools`, by their flat names', () => {
    const fn = (name, more = {}) => ({ type: 'function', name, parameters: { type: 'object' }, ...more });
    const space = (name, ...tools) => ({ type: 'namespace', name, description: '', tools });
    const found = { type: 'tool_search_output', call_id: 's', execution: 'client', status: 'completed' };
    const request = {
      model: 'm',
      tools: [
        space('mcp__docs', fn('search'), fn('fetch', { defer_loading: true })),
        { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } },
      ],
      input: [
        { type: 'message', role: 'user', content: 'a' },
        { type: 'tool_search_call', call_id: 's', execution: 'client', status: 'completed', arguments: {} },
        { ...found, tools: [space('mcp__docs', fn('fetch', { defer_loading: true }))] },
      ],
    };
    const [{ turns: played }] = conversation.conversationOf(
      JSON.stringify(request),
      ['openai-tool-search', 'same'],
      {},
    ).sides;
    assert.deepEqual(
      played.map(({ tools }) => tools.map(({ name, listed }) => `${name}${listed ? '' : ' in the history'}`)),
      [
        ['mcp__docs__search', 'tool_search'],
        ['mcp__docs__search', 'mcp__docs__fetch in the history', 'tool_search'],
      ],
    );
  });

  // Written by hand, from the examples' histories.
  const ALL = [
    'calendar_cancel_event',
    'calendar_create_event',
    'calendar_list_events',
    'deploy_start',
    'deploy_status',
    'issues_comment',
    'issues_create',
    'issues_search',
    'mail_search',
    'mail_send',
    'metrics_query',
    'read_file',
    'rooms_find',
  ];
  const SEEN = {
    'claude-code': {
      1: 'Bash Read SEARCH',
      2: 'Bash Read SEARCH mcp__tracker__close_issue mcp__tracker__find_issue',
      5: 'Bash Read SEARCH mcp__releases__draft mcp__tracker__find_issue',
    },
    codex: {
      1: 'SEARCH apply_patch shell',
      2: 'SEARCH apply_patch mcp__deploy__logs mcp__deploy__status shell',
      5: 'SEARCH apply_patch mcp__chat__post mcp__deploy__logs mcp__deploy__status shell',
    },
    kimi: {
      1: 'SEARCH',
      2: 'SEARCH weather_forecast',
      5: 'SEARCH train_book train_search weather_forecast',
    },
    conversation: {
      1: 'SEARCH read_file',
      2: 'SEARCH calendar_create_event read_file rooms_find',
      6: 'SEARCH calendar_create_event issues_search read_file rooms_find',
      9: 'SEARCH calendar_create_event deploy_start issues_comment issues_search read_file rooms_find',
    },
  };
  const SEARCHES = ['ToolSearch', 'tool_search', 'find_tools'];

  test('every example on every backend shows what a model sees in each turn, and which tools are added and removed', () => {
    for (const [name, expected] of Object.entries(SEEN)) {
      for (const id of backends.BACKEND_IDS) {
        const [{ turns: played, failed }] = conversation.conversationOf(example(name), [id, id], {}).sides;
        assert.equal(failed, undefined, `${name} on ${id}`);
        // The provider's own search: a backend without one gets all tools at once, or (natively) no search.
        const { native } = backends.backendOf(id).options;
        const loadsAll = name === 'conversation' && native === undefined;
        const hasSearch = name !== 'conversation' || !['additional-tools', 'kimi'].includes(native);
        const visible = new Set();
        let names = [];
        for (const [at, { came, went, tools }] of played.entries()) {
          names = expected[at + 1]?.split(' ').filter((each) => each !== 'SEARCH' || hasSearch) ?? names;
          const seen = tools.map((each) => (SEARCHES.includes(each.name) ? 'SEARCH' : each.name)).sort();
          assert.deepEqual(seen, loadsAll ? ALL : names, `${name} on ${id}, turn ${at + 1}`);
          for (const each of went) assert.ok(visible.delete(each), each);
          for (const each of came) visible.add(each);
          assert.deepEqual([...visible].sort(), tools.map((each) => each.name).sort(), `${name} on ${id}`);
        }
        assert.ok(played.length > Math.max(...Object.keys(expected)) - 1, name);
      }
    }
  });

  test('the bars and numbers of the timeline have text alternatives', () => {
    const [native, emulated] = conversation.conversationOf(example('claude-code'), ['kimi', 'openai-chat'], {}).sides;
    const describe = (name, at) => conversation.describeVisibility(native, name, at);
    assert.equal(describe('Bash', 0), 'Kimi K3: visible');
    assert.equal(describe('mcp__tracker__close_issue', 0), 'Kimi K3: not visible');
    assert.equal(describe('mcp__tracker__close_issue', 1), 'Kimi K3: visible from this turn on');
    assert.equal(describe('mcp__tracker__close_issue', 2), 'Kimi K3: visible');
    assert.equal(describe('mcp__tracker__close_issue', 4), 'Kimi K3: not visible');
    const failed = { ...native, turns: [], failed: { rule: 'invalid-request' } };
    assert.equal(conversation.describeVisibility(failed, 'Bash', 0), 'Kimi K3: not available');
    assert.match(conversation.describeGrowth(native.turns[1]), /^of [\d,]+ bytes are new$/);
    assert.match(
      conversation.describeGrowth(emulated.turns[1]),
      /^of [\d,]+ bytes are new: the prefix ends at \/tools\/3$/,
    );
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
