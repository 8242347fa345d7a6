/**
 * Objects that are neither plain objects nor arrays. `JSON.stringify` unwraps some of them; JSON cannot express the others.
 */

/** Advice on expressing a value in JSON, for messages. */
const ADVICE: Record<string, string> = {
  Map: 'make it an object with `Object.fromEntries`',
  Set: 'make it an array with `[...set]`',
  Promise: '`await` it first',
  Date: 'give it a `toJSON`',
};

/** Built-in objects whose content is not in their properties: `JSON.stringify` would write `{}` and lose it. */
const OPAQUE = new Set([
  'ArrayBuffer',
  'AsyncGenerator',
  'DataView',
  'Date',
  'Error',
  'Generator',
  'Map',
  'Map Iterator',
  'Promise',
  'RegExp',
  'Set',
  'Set Iterator',
  'SharedArrayBuffer',
  'Symbol',
  'WeakMap',
  'WeakRef',
  'WeakSet',
]);

/** Returns true if an object can be read by its own properties without further checks. */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

/** Returns true if an object is bytes. Bytes are refused even if they have a `toJSON`, because a list of numbers is never intended. */
export function isBytes(value: object): boolean {
  return ArrayBuffer.isView(value);
}

/**
 * Returns the primitive of a boxed primitive, as `JSON.stringify` unwraps it, and any other object unchanged. The tag is only a hint,
 * because objects can choose it.
 */
export function unbox(value: object): unknown {
  switch (tag(value)) {
    case 'Number':
      return isBoxed(Number.prototype.valueOf, value) ? Number(value) : value;
    case 'String':
      return isBoxed(String.prototype.valueOf, value) ? String(value) : value;
    case 'Boolean':
      return isBoxed(Boolean.prototype.valueOf, value) ? Boolean.prototype.valueOf.call(value) : value;
    case 'BigInt':
      return isBoxed(BigInt.prototype.valueOf, value) ? BigInt.prototype.valueOf.call(value) : value;
    default:
      return value;
  }
}

/** Returns true if an object is a boxed primitive of the type of `unwrap`. */
function isBoxed(unwrap: () => unknown, value: object): boolean {
  try {
    unwrap.call(value);
    return true;
  } catch {
    return false;
  }
}

/** Returns true if JSON cannot express an object. */
export function isOpaque(value: object): boolean {
  return isBytes(value) || OPAQUE.has(tag(value));
}

/** Describes a value and how to express it in JSON, for messages. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return `the BigInt \`${value}\`; make it a number or a string`;
    case 'number':
      return `\`${value}\``;
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'undefined':
      return '`undefined`';
    default: {
      const name = tag(value as object);
      const advice = isBytes(value as object) ? 'bytes are accepted only as the whole input' : ADVICE[name];
      return `a \`${name}\`${advice === undefined ? '' : `; ${advice}`}`;
    }
  }
}

function tag(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
