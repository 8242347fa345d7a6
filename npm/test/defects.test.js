// Tests the effect of a defect in toolwire: an error that reports it, a next call that works, and no effect on other objects. The
// WebAssembly has a hidden function that makes its next call trap; this test collects all instances, in order to call it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

const instances = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...given) {
    super(...given);
    instances.push(this.exports);
  }
};

const toolwire = await import('../dist/index.js');
const { adaptRequest, Exchange, restoreArguments, Restore, sanitize } = toolwire;
const { ToolIndex, ToolSet, ToolwireError } = toolwire;

const failNext = (instance = instances.at(-1)) => instance.failNext();

function caught(call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof ToolwireError, String(error));
    return error;
  }
  return assert.fail('expected an error');
}

function isInternal(call, next) {
  const error = caught(call);
  assert.deepEqual([error.code, error.pointer], ['internal', '']);
  assert.match(error.message, /found a defect in toolwire .*Please report it .*SECURITY\.md/);
  assert.match(error.message, next);
  return error;
}

const TOOLS = [{ name: 'files.read', inputSchema: { type: 'object', properties: { $ref: { type: 'string' } } } }];
const REQUEST = { messages: [], tools: [{ name: 'a.b', input_schema: { type: 'object', properties: {} } }] };
const { restore } = toolwire.sanitizeTools(TOOLS, { dialect: 'moonshot' });
const piece = (text) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] })}\n\n`;
const begin = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'files_read', arguments: '' } }] } }] })}\n\n`;
const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}\n\n`;

describe('a call that traps', () => {
  const schema = { type: 'object', properties: { a: { const: 1 } } };
  const call = { type: 'tool_use', id: 'c', name: 'tool_search', input: { query: 'read' } };
  const calls = {
    sanitize: () => sanitize(schema, { dialect: 'codex' }).schema,
    'sanitize text': () => sanitize(JSON.stringify(schema), { dialect: 'codex' }).schema,
    check: () => toolwire.check(schema, { dialect: 'codex' }),
    sanitizeTools: () => toolwire.sanitizeTools(TOOLS, { dialect: 'moonshot' }).tools,
    adaptRequest: () => adaptRequest(REQUEST, { dialect: 'anthropic' }).request,
    applyDeferredLoading: () => toolwire.applyDeferredLoading(REQUEST).request,
    restoreCall: () => restore.call('files_read', { dollar_ref_: 'x' }),
    restoreReply: () => restore.reply('{"content":[]}').reply,
    dialectFor: () => toolwire.dialectFor({ host: 'api.moonshot.ai' }).dialect,
    deferralFor: () => toolwire.deferralFor({ host: 'api.moonshot.ai', model: 'kimi-k3' }),
    searchTools: () => toolwire.searchTools(TOOLS, 'read'),
    answerToolSearch: () => toolwire.answerToolSearch(call, TOOLS),
  };
  for (const [name, call] of Object.entries(calls)) {
    test(name, () => {
      const expected = call();
      failNext();
      const { cause } = isInternal(call, /the next call works/);
      assert.ok(cause instanceof WebAssembly.RuntimeError);
      assert.deepEqual(call(), expected);
    });
  }

  test('a tool set continues in another instance', () => {
    const codex = new ToolSet(TOOLS).sanitize({ dialect: 'codex' }).json;
    const set = new ToolSet(TOOLS);
    const first = set.sanitize({ dialect: 'moonshot' });
    failNext();
    isInternal(() => set.sanitize({ dialect: 'codex' }), /the next call works/);
    assert.equal(set.sanitize({ dialect: 'moonshot' }), first);
    assert.equal(set.sanitize({ dialect: 'codex' }).json, codex);
    const other = [...TOOLS, ...REQUEST.tools];
    failNext();
    isInternal(() => set.update(other), /the next call works/);
    assert.deepEqual([set.size, set.update(TOOLS), set.update(other), set.size], [1, false, true, 2]);
    const huge = [{ name: 'huge', description: 'x'.repeat(80 << 20), inputSchema: { type: 'object', properties: {} } }];
    assert.deepEqual([set.update(huge), set.size, set.update(huge), set.update(TOOLS)], [true, 1, false, true]);
    assert.deepEqual(set.sanitize({ dialect: 'moonshot' }), first);
  });

  test('an index is lost, but a new one works', () => {
    const index = new ToolIndex(TOOLS);
    failNext();
    isInternal(() => index.search('read'), /create it again/);
    isInternal(() => index.search('read'), /create it again/);
    assert.deepEqual(new ToolIndex(TOOLS).search('read'), ['files.read']);
  });
});

describe('other objects continue', () => {
  test('streams', () => {
    const whole = restore.stream();
    const expected = [begin, piece('{"dollar_ref_":'), piece('"main"}'), end]
      .map((text) => whole.feedText(text))
      .join('');
    const [one, other, idle] = [restore.stream(), restore.stream(), restore.stream()];
    const here = instances.at(-1);
    let out = one.feedText(begin) + one.feedText(piece('{"dollar_ref_":').slice(0, 40));
    other.feedText(begin);
    assert.equal(idle.feedText('data: {}\n\n'), 'data: {}\n\n');
    failNext(here);
    isInternal(() => other.feedText(piece('{')), /create it again/);
    isInternal(() => other.feedText(piece('{')), /create it again/);
    isInternal(() => other.finishText(), /create it again/);
    // In the middle of an event, with arguments held back: nothing is missing.
    out += one.feedText(piece('{"dollar_ref_":').slice(40)) + one.feedText(piece('"main"}')) + one.feedText(end);
    assert.equal(out, expected);
    assert.match(expected, /\$ref/);
    assert.equal(idle.feedText('data: {}\n\n'), 'data: {}\n\n');
    assert.equal(restore.stream().feedText(begin), begin.replace('files_read', 'files.read'));
  });

  test('streams of events, even if the events change afterwards', () => {
    const events = [begin, piece('{"dollar_ref_":'), piece('"main"}'), end].map((text) => JSON.parse(text.slice(6)));
    const [one, other] = [restore.stream(), restore.stream()];
    const here = instances.at(-1);
    const out = [];
    for (const event of events.slice(0, 2)) out.push(...one.feed(event));
    events[1].choices[0].delta.tool_calls[0].function.arguments = 'changed by the caller';
    failNext(here);
    isInternal(() => other.feed({}), /create it again/);
    for (const event of events.slice(2)) out.push(...one.feed(event));
    assert.deepEqual(out.at(-1).choices[0].delta.tool_calls[0].function.arguments, '{"$ref":"main"}');
  });

  test('the memory of a stream is bounded, and an event that cannot be read twice is not remembered', () => {
    const parsed = (text) => JSON.parse(text.slice(6));
    const long = { choices: [{ index: 0, delta: { content: 'a'.repeat(9_000_000) } }] };
    const [endless, odd, resting, other] = [restore.stream(), restore.stream(), restore.stream(), restore.stream()];
    const here = instances.at(-1);
    for (const stream of [endless, resting]) {
      stream.feed(parsed(begin));
      for (let piece = 0; piece < 8; piece++) assert.equal(stream.feed(long).length, 1);
    }
    resting.feed(parsed(piece('{}')));
    resting.feed(parsed(end));
    const { choices } = parsed(begin);
    let reads = 0;
    const once = {
      get choices() {
        if (reads++ > 0) throw new Error('read twice');
        return choices;
      },
    };
    assert.equal(odd.feed(once).length, 1);
    failNext(here);
    isInternal(() => other.feed({}), /create it again/);
    isInternal(() => endless.feed(parsed(piece('{'))), /create it again/);
    isInternal(() => odd.feed(parsed(piece('{'))), /create it again/);
    assert.deepEqual(resting.feed({ choices: [] }), [{ choices: [] }]);
  });

  const url = 'http://localhost/v1/messages';
  const options = { dialect: 'anthropic' };
  const body = JSON.stringify({
    messages: [{ role: 'user', content: 'hello' }],
    tools: [
      { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
      {
        name: 'files.read',
        description: 'Reads',
        input_schema: { type: 'object', properties: {} },
        defer_loading: true,
      },
    ],
  });
  const searches = (id) =>
    JSON.stringify({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id, name: 'tool_search', input: { query: 'reads' } }],
    });
  const calls = JSON.stringify({
    stop_reason: 'tool_use',
    content: [{ type: 'tool_use', id: 'c', name: 'files_read', input: {} }],
  });

  test('exchanges', () => {
    const alone = Exchange.open(url, body, options);
    assert.equal(alone.reply(searches('s')), null);
    const expected = alone.reply(calls);
    assert.match(expected, /tool_search_tool_result.*files\.read/);
    const given = { ...options };
    const [one, other] = [Exchange.open(url, Buffer.from(body), given), Exchange.open(url, body, options)];
    const here = instances.at(-1);
    assert.equal(one.reply(searches('s')), null);
    given.dialect = 'changed by the caller';
    failNext(here);
    isInternal(() => other.reply(calls), /create it again/);
    isInternal(() => other.reply(calls), /create it again/);
    assert.equal(one.reply(calls), expected);
    one.close();
    other.close();
  });

  test('a request that cannot be opened does not affect other exchanges', () => {
    const one = Exchange.open(url, body, options);
    const here = instances.at(-1);
    assert.equal(one.reply(searches('s')), null);
    failNext(here);
    isInternal(() => Exchange.open(url, body, options), /create it again/);
    assert.match(one.reply(calls), /tool_search_tool_result.*files\.read/);
    one.close();
  });

  test('the number of sessions in one instance is bounded', () => {
    const streams = Array.from({ length: 200 }, () => restore.stream());
    const homes = instances.slice(-3);
    const before = instances.length;
    failNext(homes[2]);
    isInternal(() => streams.at(-1).feedText('x'), /create it again/);
    for (const stream of streams.slice(0, -1))
      assert.equal(stream.feedText(begin), begin.replace('files_read', 'files.read'));
    assert.ok(instances.length - before <= 2, `${instances.length - before} new instances`);
  });
});

describe('memory', () => {
  const huge = `data: {"x":"${'a'.repeat(80_000_000)}"}\n\n`;

  test('a huge stream does not keep later ones in its instance', () => {
    restore.stream().feedText(huge);
    const before = instances.length;
    restore.stream().feedText(begin);
    assert.equal(instances.length, before + 1);
  });

  test('an instance is discarded with the last session in it', () => {
    const url = 'http://localhost/v1/messages';
    const exchange = Exchange.open(url, JSON.stringify(REQUEST), { dialect: 'anthropic' });
    exchange.feedText(huge);
    assert.ok(instances.some(({ memory }) => memory.buffer.byteLength > 64 << 20));
    exchange.close();
    const before = instances.length;
    Exchange.open(url, JSON.stringify(REQUEST), { dialect: 'anthropic' }).close();
    assert.equal(instances.length, before + 1);
  });
});

/** Runs a program that imports this package. */
async function run(program, ...flags) {
  const child = promisify(execFile)(process.execPath, [...flags, '--input-type=module', '-e', program], {
    cwd: new URL('.', import.meta.url),
  });
  return child.then(
    ({ stdout }) => ({ stdout, stderr: '' }),
    (error) => error,
  );
}

test('an uncaught error prints only a few lines', async () => {
  for (const file of ['index.js', 'index.cjs']) {
    const { stderr, code } = await run(
      `const { sanitize } = await import('../dist/${file}').then((all) => all.default ?? all); sanitize({}, { dialect: 'none' }).schema;`,
    );
    assert.equal(code, 1);
    assert.match(stderr, /ToolwireError: unknown-dialect at `\/dialect`: expected one of/);
    assert.ok(stderr.length < 8000, `${stderr.length} characters`);
  }
});

test('a frozen prototype changes nothing', async () => {
  const { stdout, stderr } = await run(`
    import { applyDeferredLoading, Restore, sanitize, sanitizeTools } from '../dist/index.js';
    const stream = Restore.from({ version: 2, tools: { b: { name: 'constructor' } } }).stream();
    for (const one of [Object, Array, String, Number, Boolean, Function, Map, Error]) Object.freeze(one.prototype);
    const names = [...Object.getOwnPropertyNames(Object.prototype), 'a'];
    const properties = Object.fromEntries(names.map((name) => [name, { const: name }]));
    Object.defineProperty(properties, '__proto__', { value: { const: 1 }, enumerable: true });
    const schema = sanitize({ type: 'object', properties }, { dialect: 'codex' }).schema;
    const tools = names.map((name) => ({ name: name + '.', inputSchema: { type: 'object', properties } }));
    const listed = sanitizeTools(tools, { dialect: 'moonshot' });
    const call = listed.restore.call('constructor_', {});
    const { properties: same } = applyDeferredLoading({ messages: [], properties }, { share: false }).request;
    const passed = stream.feed({ constructor: 1, type: 'content_block_start', content_block: { type: 'tool_use', name: 'b' } });
    console.log(JSON.stringify([
      Object.keys(schema.properties).length === names.length,
      Object.keys(same).length === names.length,
      listed.tools.length === names.length,
      call.name,
      Object.keys(passed[0]),
      passed[0].content_block.name,
    ]));
  `);
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), [
    true,
    true,
    true,
    'constructor.',
    ['constructor', 'type', 'content_block'],
    'constructor',
  ]);
});

test('bytes are read with their real length, whatever length they report', () => {
  const text = JSON.stringify({ type: 'object', properties: { a: { const: 'x'.repeat(100_000) } } });
  const expected = sanitize(text, { dialect: 'codex' }).schema;
  for (const claimed of [0, 4, 2 ** 40, -1, Number.NaN]) {
    class Liar extends Uint8Array {
      get length() {
        return claimed;
      }
      get byteLength() {
        return claimed;
      }
      get byteOffset() {
        return claimed;
      }
      get buffer() {
        return new ArrayBuffer(8);
      }
    }
    const found = sanitize(new Liar(Buffer.from(text)), { dialect: 'codex' }).schema;
    assert.equal(Buffer.from(found).toString(), expected);
  }
  assert.deepEqual(sanitize(text, { dialect: 'codex' }).schema, expected);
});

test('a `restore` of an older version is refused, and so is a forged one', () => {
  const older = { version: 1, tools: { a: { name: 'a', options: { dialect: 'gemini' }, schema: {} } } };
  const { code, pointer, message } = caught(() => Restore.from(older));
  assert.deepEqual([code, pointer], ['invalid-value', '/version']);
  assert.match(message, /expected version 2 to 6 of a `restore`, found 1.*sanitize the tools again/);
  const forged = { version: 2, tools: { a: { name: 'a', plan: { encoded: [] } } } };
  assert.equal(caught(() => Restore.from(forged)).pointer, '/tools/a/plan/encoded');
});

test('a value that is not a plan is refused, and the message states what is expected', () => {
  const refuses = (plan, pointer, message) => {
    for (const call of [() => restoreArguments({}, plan), () => restoreArguments('{}', plan)]) {
      const error = caught(call);
      assert.deepEqual([error.code, error.pointer], ['invalid-value', pointer]);
      assert.match(error.message, message);
    }
  };
  refuses({ type: 'object' }, '/version', /an unchanged restore plan, .*found an object without one, such as a schema/);
  refuses({ version: 1 }, '/version', /expected version 2 of a plan, found 1, .*sanitize the schema again/);
  refuses({ version: 3 }, '/version', /expected version 2 of a plan, found 3, which a newer toolwire wrote/);
  refuses({ version: 2, tools: {} }, '/tools', /an unchanged restore plan, .*of one schema; found the member `tools`/);
  refuses(null, '', /an unchanged restore plan, .*an object; found null/);
  // A value that JSON cannot express.
  const circle = { version: 2 };
  circle.encoded = { items: circle };
  refuses(circle, '/encoded/items', /cycle|circular/);
  refuses({ version: 2, json: { enum: [1n] } }, '/json/enum/0', /BigInt|bigint/);
  assert.equal(caught(() => restoreArguments({})).code, 'invalid-value');
  assert.equal(caught(() => restoreArguments('{}')).code, 'invalid-value');
});

test('a restore does not change with the value from which it was read', () => {
  const json = { version: 2, tools: { a_b: { name: 'a.b' } } };
  const kept = Restore.from(json);
  json.tools.a_b.name = 'changed';
  assert.equal(kept.call('a_b', {}).name, 'a.b');
  kept.toJSON().tools.a_b.name = 'changed';
  assert.equal(kept.call('a_b', {}).name, 'a.b');
});

test('workers are independent of each other', async () => {
  const program = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { Restore, sanitize } from '../dist/index.js';
    const name = 'tool' + workerData;
    const stream = Restore.from({ version: 2, tools: { called: { name } } }).stream();
    const found = new Set();
    for (let round = 0; round < 300; round++) {
      const properties = { [name]: { const: round } };
      found.add(Object.keys(sanitize({ properties }, { dialect: 'codex' }).schema.properties).join());
      const event = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 'called' } };
      found.add(stream.feed(event)[0].content_block.name);
    }
    parentPort.postMessage([...found]);
  `;
  const workers = Array.from({ length: 4 }, (_, number) => {
    const file = new URL(
      `data:text/javascript,${encodeURIComponent(program.replaceAll('../dist', new URL('../dist', import.meta.url).href))}`,
    );
    const worker = new Worker(file, { workerData: number });
    return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  });
  for (const [number, found] of (await Promise.all(workers)).entries()) assert.deepEqual(found, [`tool${number}`]);
});
