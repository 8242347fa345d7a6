// Generates schemas with unusual JavaScript values in them: the value path must agree with the text path, and both with Rust.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { adaptRequest, dialects, normalizeEnvelope, restoreArguments, sanitize, ToolwireError } from '../dist/index.js';

const SEED = 20_261_122;
const names = dialects().map(({ name }) => name);

const cyclic = { a: [1] };
cyclic.a.push(cyclic);
class Point {
  constructor() {
    this.type = 'string';
  }
}
const thrown = new RangeError('thrown by a getter');
/** Unusual values: some that JSON can express, some that `JSON.stringify` omits, and others. No value is a whole schema. */
const odd = [
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -0,
  1e21,
  5e-324,
  2 ** 53,
  10n,
  Symbol('s'),
  () => {},
  new Date(0),
  new Date(Number.NaN),
  new Map([['type', 'string']]),
  new Set(),
  new Uint8Array(2),
  // biome-ignore lint/suspicious/noSparseArray: a sparse array is the value to test.
  [1, , 2],
  Object.assign([1], { extra: 1 }),
  Object('boxed'),
  Object(1),
  Object.create(null),
  new Point(),
  new Proxy({ type: 'string' }, {}),
  new Proxy(['a'], {}),
  { toJSON: () => ({ type: 'integer' }) },
  {
    get type() {
      throw thrown;
    },
  },
  new Proxy(
    {},
    {
      ownKeys() {
        throw thrown;
      },
    },
  ),
  cyclic,
  '\ud800',
  'a\udc00',
  { '\udfff': '\ud83d' },
  JSON.parse('{"__proto__": {"type": "string"}}'),
  { constructor: { type: 'string' }, toString: 1 },
];

const key = fc.constantFrom(
  'a',
  'b',
  'c',
  'type',
  '$ref',
  'properties',
  'é',
  'a b',
  '__proto__',
  'constructor',
  '\ud800',
);
const kind = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'object', 'array');
const reference = fc.constantFrom(
  '#',
  '#/$defs/D',
  '#/definitions/D',
  '#/properties/a',
  '#/properties/b/items',
  '#here',
  'x',
);
const json = fc.jsonValue({ maxDepth: 2 });

/** Schemas, biased towards keywords that are rewritten. `value` is generated wherever any value is allowed. */
const schemas = (value) =>
  fc.letrec((tie) => {
    const list = fc.array(tie('schema'), { maxLength: 3 });
    const map = fc.dictionary(key, tie('schema'), { maxKeys: 3 });
    return {
      schema: fc.oneof(
        { depthSize: 'small', maxDepth: 4 },
        fc.boolean(),
        fc.record({ type: kind }),
        fc.record({ $ref: reference, description: fc.string() }, { requiredKeys: ['$ref'] }),
        fc.record(
          {
            type: fc.oneof(kind, fc.uniqueArray(kind, { maxLength: 3 }), value),
            properties: map,
            required: fc.oneof(fc.uniqueArray(key, { maxLength: 3 }), value),
            additionalProperties: tie('schema'),
            patternProperties: fc.dictionary(fc.constantFrom('^a', '\\d', 'é'), tie('schema'), { maxKeys: 2 }),
            items: fc.oneof(tie('schema'), list),
            allOf: list,
            anyOf: list,
            oneOf: list,
            not: tie('schema'),
            if: tie('schema'),
            $defs: map,
            definitions: fc.record({ D: tie('schema') }),
            $anchor: fc.constant('here'),
            enum: fc.oneof(fc.array(json, { maxLength: 3 }), value),
            const: fc.oneof(json, value),
            default: fc.oneof(json, value),
            examples: value,
            minimum: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), value),
            maxLength: fc.oneof(fc.integer({ min: -1, max: 20 }), value),
            nullable: fc.boolean(),
            description: fc.oneof(fc.string({ unit: 'binary' }), value),
            'x-other': value,
          },
          { requiredKeys: [] },
        ),
      ),
    };
  }).schema;

/** Returns the result of a call, or toolwire's error. Any other error is the caller's, and is rethrown. */
function outcome(run) {
  try {
    return { given: run() };
  } catch (error) {
    if (!(error instanceof ToolwireError)) return { thrown: error };
    assert.notEqual(error.code, 'internal', error.message);
    return { error: [error.code, error.pointer, error.detail] };
  }
}

const text = (value) => JSON.stringify(value);
/** Spells text as a value would be: text preserves spellings that JavaScript would change. */
const respelled = (given) => (given === undefined ? undefined : text(JSON.parse(given)));
/** Runs a property. Keys that are array indices move to the front of a JavaScript object, which is a known difference. */
const run = (property, numRuns) => fc.assert(property, { seed: SEED, numRuns });

describe('generated', () => {
  test('JSON values: the value path agrees with the text path', () => {
    run(
      fc.property(schemas(json), fc.constantFrom(...names), (schema, dialect) => {
        const asText = text(schema);
        const byValue = outcome(() => text(sanitize(schema, { dialect }).schema));
        const byText = outcome(() => respelled(sanitize(asText, { dialect }).schema));
        assert.deepEqual(byValue, byText);
        assert.equal(text(schema), asText, 'the input was changed');
      }),
      1500,
    );
  });

  test('odd values: refused with a pointer, or converted as by `JSON.stringify`', () => {
    let refused = 0;
    let accepted = 0;
    run(
      fc.property(schemas(fc.constantFrom(...odd)), fc.constantFrom(...names), (schema, dialect) => {
        const byValue = outcome(() => text(sanitize(schema, { dialect }).schema));
        if (byValue.thrown !== undefined) {
          assert.equal(byValue.thrown, thrown, 'only errors of getters are thrown unchanged');
          refused++;
          return;
        }
        if (byValue.error?.[0] === 'invalid-value') {
          refused++;
          return;
        }
        const byText = outcome(() => respelled(sanitize(text(schema), { dialect }).schema));
        assert.deepEqual(byValue, byText);
        accepted++;
      }),
      3000,
    );
    assert.ok(refused > 300 && accepted > 300, `${refused} refused, ${accepted} accepted`);
    // No state is left behind.
    assert.deepEqual(normalizeEnvelope({ type: 'object', properties: {} }).schema, { type: 'object', properties: {} });
  });

  test('odd arguments are restored like their text', () => {
    const schema = { type: 'object', properties: { a: { type: 'object' }, b: { type: ['string', 'null'] } } };
    run(
      fc.property(
        fc.dictionary(key, fc.oneof(json, fc.constantFrom(...odd)), { maxKeys: 3 }),
        fc.constantFrom('openai-strict', 'anthropic-strict', 'moonshot', 'gemini'),
        (args, dialect) => {
          const byValue = outcome(() => text(restoreArguments(args, sanitize(schema, { dialect }).restorePlan)));
          if (byValue.thrown !== undefined) return assert.equal(byValue.thrown, thrown);
          if (byValue.error?.[0] === 'invalid-value') return;
          const byText = outcome(() =>
            respelled(restoreArguments(text(args), sanitize(text(schema), { dialect }).restorePlan)),
          );
          assert.deepEqual(byValue, byText);
        },
      ),
      1500,
    );
  });

  test('requests with odd values: the value path agrees with the text path', () => {
    const tools = fc.array(
      fc.record(
        {
          name: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...odd)),
          input_schema: schemas(json),
          description: fc.constantFrom(...odd),
        },
        { requiredKeys: ['name'] },
      ),
      { maxLength: 3 },
    );
    run(
      fc.property(tools, fc.constantFrom('moonshot', 'anthropic-strict', 'openai-chat'), (list, dialect) => {
        const request = { model: 'm', messages: [{ role: 'user', content: 'x' }], tools: list };
        const options = { dialect, format: 'anthropic' };
        const byValue = outcome(() => text(adaptRequest(request, options).request));
        if (byValue.thrown !== undefined) return assert.equal(byValue.thrown, thrown);
        if (byValue.error?.[0] === 'invalid-value') return;
        const byText = outcome(() => respelled(adaptRequest(text(request), options).request));
        assert.deepEqual(byValue, byText);
      }),
      500,
    );
  });

  test('this binding agrees with Rust, in every dialect', (t) => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    // An unpacked package has no Rust sources next to it.
    if (!existsSync(join(root, 'core/Cargo.toml'))) return t.skip('the sources of the core are missing');
    const folder = mkdtempSync(join(tmpdir(), 'toolwire-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const sample = join(folder, 'generated.jsonl');
    const rows = fc.sample(schemas(json), { seed: SEED, numRuns: 150 }).filter((schema) => typeof schema === 'object');
    writeFileSync(sample, rows.map((schema) => `${text({ schema })}\n`).join(''));
    const options = { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 };
    // Compiled with the features of the whole workspace, like Rust's tests; `cargo run` would compile the crates again.
    execFileSync('cargo', ['build', '--quiet', '--locked', '--workspace', '--example', 'compare'], options);
    const compare = join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'debug/examples/compare');
    const lines = execFileSync(compare, ['dump', sample, '--function', 'sanitize'], options).trim().split('\n');
    const inputs = new Map();
    let compared = 0;
    for (const { id, text: input, input: of, function: name, dialect, output, report, error } of lines.map((line) =>
      JSON.parse(line),
    )) {
      if (id !== undefined) inputs.set(id, input);
      if (name !== 'sanitize') continue;
      const found = outcome(() => sanitize(inputs.get(of), { dialect }));
      const { schema, ...reported } = found.given ?? {};
      // The report is text if a name in it holds a lone surrogate, which Rust's values cannot.
      const expectedReport = typeof report === 'string' ? JSON.parse(report) : report;
      const expected = error === undefined ? { schema: output ?? inputs.get(of), reported: expectedReport } : { error };
      assert.deepEqual(
        found.error === undefined ? { schema, reported } : { error: found.error },
        expected,
        `${dialect}: ${inputs.get(of)}`,
      );
      compared++;
    }
    assert.ok(compared >= 100 * names.length, `${compared} compared`);
  });
});
