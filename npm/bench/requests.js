// Measures a request of 10 MB, compared with V8's time to parse and print it, for the same three kinds of content as
// core/examples/requests. The contenders take turns in every round; the table gives the fastest round of each.

import { applyDeferredLoading } from '../dist/index.js';

// A test runs each benchmark once.
const ONCE = process.env.TOOLWIRE_BENCH === 'once';
const ROUNDS = ONCE ? 1 : 21;
const SIZE = ONCE ? 1_000_000 : 10_000_000;
const SENTENCE = 'The harbour was quiet that morning; "too quiet", said the captain, and lit his pipe once more.\n';

const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));

/** Turns of 5 KB, with a line break and two quotes per hundred characters. */
function prose() {
  const content = SENTENCE.repeat(50);
  const count = Math.floor(SIZE / (content.length + 3 * 50));
  return times(count, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
}

/** Calls with a few arguments, and results of 1 KB that are JSON themselves, with a quote per ten characters. */
function toolCalls() {
  const row = { id: 1024, path: 'src/harbour/captain.rs', kind: 'file', size: 52311, tags: ['a', 'b'] };
  const text = JSON.stringify(row).repeat(11);
  return times(Math.floor(SIZE / 1540), (at) => {
    const id = `toolu_${String(at).padStart(6, '0')}`;
    const input = { path: 'src/harbour', depth: 3, pattern: '*.rs', hidden: false };
    const call = { type: 'tool_use', id, name: 'list_files', input };
    const result = { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }] };
    return [
      { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }, call] },
      { role: 'user', content: [result] },
    ];
  }).flat();
}

/** Images of half a megabyte. */
function images() {
  const data = 'iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4CAYAAADo08FDAAAgAElEQVR4nOzdd5xU'.repeat(8192);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  const content = [{ type: 'text', text: 'What is this?' }, image];
  return times(Math.floor(SIZE / data.length), () => ({ role: 'user', content }));
}

/** Returns a request with these messages and fifty deferred tools, one of which the messages load. */
function request(messages) {
  const properties = Object.fromEntries(
    times(12, (at) => [`argument_${at}`, { type: 'string', description: SENTENCE }]),
  );
  const input_schema = { type: 'object', properties, required: ['argument_0'] };
  const tools = times(50, (at) => ({
    name: `tool_${at}`,
    description: SENTENCE,
    input_schema,
    defer_loading: true,
  }));
  const loaded = [{ type: 'tool_reference', tool_name: 'tool_7' }];
  const history = [
    ...messages,
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'search', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: loaded }] },
  ];
  return JSON.stringify({ model: 'm', max_tokens: 1000, messages: history, tools });
}

console.log(`Node ${process.version}, a request of 10 MB, milliseconds, and the ratio to parsing and printing it`);
for (const [name, messages] of Object.entries({ prose, 'tool calls': toolCalls, images })) {
  const text = request(messages());
  const bytes = new TextEncoder().encode(text);
  const contenders = {
    'JSON.parse + JSON.stringify': () => JSON.stringify(JSON.parse(text)),
    // A gateway holds bytes: it reads them from a socket and writes them to one.
    'the same, from bytes to bytes': () =>
      new TextEncoder().encode(JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)))),
    'applyDeferredLoading, Uint8Array': () => applyDeferredLoading(bytes).request,
    'applyDeferredLoading, string': () => applyDeferredLoading(text).request,
    'copy alone, Uint8Array': () => bytes.slice(),
  };
  const best = Object.fromEntries(Object.keys(contenders).map((contender) => [contender, Infinity]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [contender, run] of Object.entries(contenders)) {
      globalThis.gc?.();
      const start = performance.now();
      run();
      best[contender] = Math.min(best[contender], performance.now() - start);
    }
  }
  const parsed = best['JSON.parse + JSON.stringify'];
  for (const [contender, time] of Object.entries(best)) {
    console.log(
      `  ${name}, ${contender}`.padEnd(54),
      time.toFixed(2).padStart(7),
      (time / parsed).toFixed(2).padStart(7),
    );
  }
}
