// Tests callers' values on the object path, one pitfall after the other.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';

import { normalizeEnvelope, restoreArguments, sanitize, sanitizeTools, ToolwireError } from '../dist/index.js';

/** Wraps a value in an accepted root, so that `normalizeEnvelope` passes the value through. */
const around = (value) => ({ type: 'object', properties: {}, x: value });
const through = (value, options) => normalizeEnvelope(around(value), options).schema.x;

/** Wraps a value in a root that is rewritten, so that the value is passed through inside new containers. */
const throughRewrite = (value, options) =>
  sanitize({ x: value, properties: { a: { const: 1 } } }, { dialect: 'codex', ...options }).schema.x;

const refusedOption = (call, pointer, found) => refused(call, pointer, found, 'invalid-option');

function refused(call, pointer, found, code = 'invalid-value') {
  assert.throws(call, (error) => {
    assert.ok(error instanceof ToolwireError, String(error));
    assert.deepEqual([error.code, error.pointer], [code, pointer], error.message);
    assert.match(error.message, found);
    return true;
  });
}

describe('values are converted as by JSON.stringify, on every path', () => {
  class Point {
    constructor() {
      this.x = 1;
    }
    get hidden() {
      return 2;
    }
  }
  const sparse = [1, 2, 3];
  delete sparse[1];
  const cases = {
    'plain values': { a: [1, 'b', true, false, null, { c: {} }], 'ü€😀': '😀ü' },
    'integer-like keys': { b: 1, 10: 2, 2: 3 },
    'undefined, functions and symbols as members': { a: undefined, b() {}, c: Symbol('s'), d: 1 },
    'undefined as an item': [undefined, 1],
    holes: sparse,
    'symbol keys': { [Symbol('s')]: 1, a: 1 },
    'members that are not enumerable': Object.defineProperty({ a: 1 }, 'b', { value: 2 }),
    'inherited members': Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true } }),
    'no prototype': Object.assign(Object.create(null), { a: 1 }),
    'class instances': new Point(),
    'arrays with other members': Object.assign([1], { extra: 1 }),
    'subclasses of Array': new (class extends Array {})(3).fill(0),
    Date: new Date(0),
    'an invalid Date': [new Date(Number.NaN)],
    'boxed primitives': [Object('s'), Object(1), Object(true), { a: Object('t') }],
    'toJSON gets its key': { a: { toJSON: (key) => key }, b: [{ toJSON: (key) => key }] },
    'toJSON that gives undefined': { a: { toJSON() {} }, b: [{ toJSON() {} }] },
    'toJSON is called once': { a: { toJSON: () => ({ toJSON: () => 'twice', b: 1 }) } },
    'toJSON that is not a function': { toJSON: { type: 'string' } },
    'toJSON on a function': { a: Object.assign(() => {}, { toJSON: () => 1 }) },
    URL: new URL('https://example.com/'),
    exponents: [1e21, 1e-7, 5e-324, 1.7976931348623157e308, 0.1],
    'strings that JSON escapes': '"\\\b\f\n\r\t\u0000\u001f\u007f\u2028',
    'a leading byte order mark': '\ufeffa',
    'control characters as keys': { '\u0000': 1, '': 2, '\n': 3 },
    'the prototype as a key': JSON.parse('{"__proto__":{"__proto__":[]},"a":{"__proto__":null}}'),
    'other names of Object.prototype': { constructor: 1, toString: 2, hasOwnProperty: { valueOf: 3 } },
    'a proxy of an object': new Proxy({ a: [1] }, {}),
    'a proxy of an array': new Proxy([1, { a: 1 }], {}),
    'objects of another realm': runInNewContext('({ a: [1, { b: 2 }], d: new Date(0), n: new Number(1) })'),
  };
  for (const [name, value] of Object.entries(cases)) {
    test(name, () => {
      const expected = JSON.stringify(value);
      for (const way of [through, throughRewrite]) {
        assert.equal(JSON.stringify(way(value)), expected);
        assert.deepEqual(way(value), JSON.parse(expected));
        assert.equal(JSON.stringify(way(value, { share: true })), expected);
      }
    });
  }
});

describe('surrogates', () => {
  for (const value of ['\ud800', '\udc00', 'a\ud83d', '\ude00b', '\udc00\ud800', '😀\ud800😀', '"\ud800\n']) {
    test(JSON.stringify(value), () => {
      for (const way of [through, throughRewrite]) {
        assert.deepEqual(way({ [value]: [value, 1.5, '\\u0041', 'ü'], plain: 'ü"' }), {
          [value]: [value, 1.5, '\\u0041', 'ü'],
          plain: 'ü"',
        });
      }
    });
  }

  test('lone surrogates in neighboring strings do not form a pair', () => {
    assert.deepEqual(through(['\ud83d', '\ude00']), ['\ud83d', '\ude00']);
    assert.deepEqual(through({ '\ud83d': '\ude00' }), { '\ud83d': '\ude00' });
  });

  test('a lone surrogate survives in a string that a rule moves', () => {
    const moved = sanitize({ properties: { '\ud800': { const: '\udc00' } } }, { dialect: 'codex' }).schema;
    assert.deepEqual(moved.properties, { '\ud800': { type: 'string', enum: ['\udc00'] } });
  });
});

test('-0 is kept if nothing changes it', () => {
  for (const way of [through, throughRewrite]) assert.ok(Object.is(way([-0])[0], -0));
});

test('the key `__proto__` never sets a prototype', () => {
  const value = through(JSON.parse('{"__proto__":{"polluted":1}}'));
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.deepEqual(Object.getOwnPropertyDescriptor(value, '__proto__'), {
    value: { polluted: 1 },
    writable: true,
    enumerable: true,
    configurable: true,
  });
  assert.equal({}.polluted, undefined);
});

describe('values that are refused with a pointer', () => {
  const cyclic = { a: [{}] };
  cyclic.a[0].back = cyclic.a;
  const views = [new Uint8Array(1), Buffer.from('{}'), new DataView(new ArrayBuffer(1)), new ArrayBuffer(1)];
  const opaque = [
    new Map(),
    new Set(),
    new WeakMap(),
    /r/,
    Promise.resolve(),
    new Error('e'),
    Object(Symbol('s')),
    ...views,
  ];
  const bare = Object.setPrototypeOf(new Date(0), Object.create(Object.prototype));
  for (const value of [1n, Object(1n), Number.NaN, Infinity, -Infinity, Object(Number.NaN), bare, ...opaque]) {
    const name = typeof value === 'object' ? Object.prototype.toString.call(value) : String(value);
    test(`${name}`, () => {
      refused(() => through(value), '/x', /expected a JSON value, found /);
      refused(() => through([0, { 'a/~': [value] }]), '/x/1/a~1~0/0', /expected a JSON value, found /);
      // At the root, bytes are text.
      if (!(value instanceof Uint8Array)) refused(() => normalizeEnvelope(value), '', /expected a JSON value, found /);
      refusedOption(() => normalizeEnvelope({}, { share: value }), '/share', /expected a JSON value, found /);
    });
  }
  test('functions and symbols among options', () => {
    for (const value of [() => {}, Symbol('s')]) {
      refusedOption(() => normalizeEnvelope({}, { share: value }), '/share', /found a (function|symbol)/);
      refusedOption(() => normalizeEnvelope({}, { unknown: value }), '/unknown', /found a (function|symbol)/);
      const nested = { dialect: 'portable', repair: { disable: value } };
      refusedOption(() => sanitizeTools([], nested), '/repair/disable', /found a (function|symbol)/);
    }
    assert.ok(normalizeEnvelope({}, { share: undefined }));
  });
  test('functions and symbols as items', () => {
    refused(() => through([() => {}]), '/x/0', /found a function/);
    refused(() => through([1, Symbol('s')]), '/x/1', /found a symbol/);
  });
  test('undefined, functions and symbols at the root', () => {
    refused(() => normalizeEnvelope(undefined).schema, '', /found `undefined`/);
    refused(() => normalizeEnvelope(() => {}).schema, '', /found a function/);
    refused(() => normalizeEnvelope(Symbol('s')).schema, '', /found a symbol/);
  });
  test('cycles', () => {
    refused(() => normalizeEnvelope(cyclic).schema, '/a/0/back', /cycle: the same object as at `\/a`/);
    const self = {};
    self.self = self;
    refused(() => normalizeEnvelope(self).schema, '/self', /cycle: the same object as at the root/);
    refusedOption(() => normalizeEnvelope({}, self), '/self', /cycle/);
    const wide = { list: Array.from({ length: 30_000 }, () => ({})) };
    wide.self = wide;
    refused(() => normalizeEnvelope(wide).schema, '/self', /cycle/);
  });
  test('the message advises how to convert the value', () => {
    refused(() => through(new Map()), '/x', /found a `Map`; make it an object with `Object.fromEntries`/);
    refused(() => through(12n), '/x', /found the BigInt `12`; make it a number or a string/);
  });
});

test('the same object in two places is not a cycle', () => {
  const part = { type: 'string' };
  const result = through([part, part, { part }]);
  assert.deepEqual(result, [part, part, { part }]);
  assert.notEqual(result[0], result[1]);
});

describe('depth', () => {
  const nested = (levels) => {
    let value = 1;
    for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
    return value;
  };
  test('512 levels pass', () => {
    const value = nested(511);
    assert.deepEqual(normalizeEnvelope({ type: 'object', properties: {}, a: value }).schema.a, value);
  });
  for (const levels of [513, 10_000]) {
    test(`${levels} do not`, () => {
      assert.throws(
        () => normalizeEnvelope(nested(levels)).schema,
        (error) => {
          assert.equal(error.code, 'too-deep');
          assert.equal(error.pointer.split('/').length - 1, 512);
          return true;
        },
      );
    });
  }
  test('a toJSON that never ends is refused', () => {
    const endless = () => ({ toJSON: () => ({ a: endless() }) });
    assert.throws(() => normalizeEnvelope(endless()).schema, { code: 'too-deep' });
  });
});

test('an exponential tree of shared members is refused in bounded time', () => {
  let value = ['x'];
  for (let level = 0; level < 40; level++) value = [value, value];
  assert.throws(() => normalizeEnvelope(value).schema, { code: 'limit-exceeded', name: 'ToolwireError' });
  assert.throws(() => normalizeEnvelope(new Array(4_000_000_000)).schema, { code: 'limit-exceeded' });
});

describe('code that runs while reading', () => {
  test('getters run once', () => {
    let runs = 0;
    const value = {
      get counted() {
        runs++;
        return { list: [runs] };
      },
    };
    assert.deepEqual(through(value), { counted: { list: [1] } });
    assert.deepEqual(throughRewrite(value), { counted: { list: [2] } });
    assert.equal(runs, 2);
  });

  test('errors of a getter or toJSON pass through, and the next call works', () => {
    const own = new RangeError('mine');
    const thrower = () => {
      throw own;
    };
    for (const value of [
      Object.defineProperty({}, 'a', { get: thrower, enumerable: true }),
      [{ toJSON: thrower }],
      new Proxy({}, { ownKeys: thrower }),
    ]) {
      assert.throws(
        () => through(value),
        (error) => error === own,
      );
      assert.deepEqual(through([1]), [1]);
    }
  });

  test('a getter may call toolwire itself', () => {
    const value = {
      before: ['kept'],
      get inner() {
        return normalizeEnvelope({ properties: { deep: { a: [1, 'ü'] } } }).schema;
      },
      after: ['kept too'],
    };
    assert.deepEqual(through(value), {
      before: ['kept'],
      inner: { type: 'object', properties: { deep: { a: [1, 'ü'] } } },
      after: ['kept too'],
    });
  });
});

describe('share', () => {
  test('unchanged parts are the same objects', () => {
    const part = { description: 'd', list: [1] };
    const root = { properties: { a: { const: 1 }, b: part } };
    const result = sanitize({ ...root, type: 'object', x: part }, { dialect: 'codex', share: true }).schema;
    assert.equal(result.x, part);
    assert.notEqual(result.properties, root.properties);
    const own = around(part);
    assert.equal(normalizeEnvelope(own, { share: true }).schema, own);
    assert.notEqual(normalizeEnvelope(own).schema.x, part);
  });

  test('a part that JSON writes differently is copied, its neighbors are not', () => {
    const plain = { a: 1 };
    const date = { when: new Date(0), plain };
    const own = around({ date, plain, gone: undefined });
    const result = normalizeEnvelope(own, { share: true }).schema;
    assert.notEqual(result, own);
    assert.deepEqual(result.x, { date: { when: '1970-01-01T00:00:00.000Z', plain: { a: 1 } }, plain: { a: 1 } });
    assert.equal(result.x.plain, plain);
    assert.equal(result.x.date.plain, plain);
    assert.equal(result.properties, own.properties);
  });
});

test('large values are copied unchanged', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { type: 'string', description: `ü${at}` }]),
  );
  const value = { type: 'object', properties };
  assert.deepEqual(normalizeEnvelope(value).schema, value);
  const long = '€'.repeat(30_000_000);
  assert.equal(through(long), long);
  assert.deepEqual(through([1]), [1]);
});

test('plans can hold names with a lone surrogate', () => {
  const schema = { type: 'object', properties: { '\ud800': { type: 'string' }, a: { type: 'string' } } };
  const answered = { '\ud800': null, a: 'x' };
  const { restorePlan } = sanitize(schema, { dialect: 'openai-strict' });
  const tools = [{ name: 'tool', inputSchema: schema }];
  const { restore } = sanitizeTools(tools, { dialect: 'openai-strict' });
  assert.deepEqual(restoreArguments(answered, JSON.parse(JSON.stringify(restorePlan))), { a: 'x' });
  assert.deepEqual(restore.call('tool', answered).arguments, { a: 'x' });
});

describe('a proxy with arbitrary lengths', () => {
  const lying = (length) =>
    new Proxy([{ a: 1 }, 'b'], { get: (target, key) => (key === 'length' ? length : target[key]) });

  // With 1.5, the items used to shift into the next value, and with -1 the module used to trap.
  for (const length of [
    1.5,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 60,
    '2',
    2n,
    null,
    undefined,
    {},
    () => 2,
  ]) {
    test(`a length of ${typeof length} ${String(length)} is refused`, () => {
      for (const input of [around(lying(length)), around({ b: [lying(length)] })]) {
        const pointer = Array.isArray(input.x.b) ? '/x/b/0' : '/x';
        refused(() => normalizeEnvelope(input).schema, pointer, /an integer as its length/);
        refused(() => sanitize(input, { dialect: 'codex' }).schema, pointer, /an integer as its length/);
      }
      refused(() => sanitizeTools(lying(length), { dialect: 'portable' }), '', /an integer as its length/);
    });
  }

  test('the length determines the number of items, regardless of the items', () => {
    assert.deepEqual(through(lying(1)), [{ a: 1 }]);
    assert.deepEqual(through(lying(3)), [{ a: 1 }, 'b', null]);
    assert.deepEqual(through(lying(-0)), []);
  });

  test('more items than the limit are refused', () => {
    assert.throws(() => through(lying(2 ** 40)), { code: 'limit-exceeded' });
  });

  test('items that are removed while they are read become null', () => {
    const list = [
      {
        get a() {
          list.length = 1;
          return 1;
        },
      },
      2,
      3,
    ];
    assert.deepEqual(through(list), [{ a: 1 }, null, null]);
  });

  test('`Symbol.toStringTag` does not determine how an object is read', () => {
    for (const tag of ['Boolean', 'Number', 'String', 'BigInt']) {
      class Tagged {
        x = 1;
        get [Symbol.toStringTag]() {
          return tag;
        }
      }
      assert.deepEqual(through(new Tagged()), { x: 1 }, tag);
    }
  });

  test('the next call works', () => {
    assert.throws(() => through(lying(1.5)));
    assert.deepEqual(through([1, { b: 2 }]), [1, { b: 2 }]);
  });
});
