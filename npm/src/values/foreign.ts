/**
 * Objects that are neither plain nor arrays: what `JSON.stringify` unwraps, and what JSON has no word for.
 */

/** How to say it in JSON, for messages. */
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

/** Is it an object that is read by its own properties without a second look? */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

/** Bytes are refused even where they have a `toJSON`: nobody means a list of numbers. */
export function isBytes(value: object): boolean {
  return ArrayBuffer.isView(value);
}

/**
 * The primitive in a boxed one, as `JSON.stringify` takes it out; any other object as it is, whatever it says it is: a
 * tag is only a hint.
 */
export function unboxed(value: object): unknown {
  switch (tag(value)) {
    case 'Number':
      return holds(Number.prototype.valueOf, value) ? Number(value) : value;
    case 'String':
      return holds(String.prototype.valueOf, value) ? String(value) : value;
    case 'Boolean':
      return holds(Boolean.prototype.valueOf, value) ? Boolean.prototype.valueOf.call(value) : value;
    case 'BigInt':
      return holds(BigInt.prototype.valueOf, value) ? BigInt.prototype.valueOf.call(value) : value;
    default:
      return value;
  }
}

/** Does an object hold the primitive that this function takes out? */
function holds(take: () => unknown, value: object): boolean {
  try {
    take.call(value);
    return true;
  } catch {
    return false;
  }
}

/** Is it one of the objects that JSON has no word for? */
export function isOpaque(value: object): boolean {
  return isBytes(value) || OPAQUE.has(tag(value));
}

/** What a value is and what to do about it, for messages. */
export function described(value: unknown): string {
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
      const advice = isBytes(value as object) ? 'text as bytes is taken where the whole input is text' : ADVICE[name];
      return `a \`${name}\`${advice === undefined ? '' : `; ${advice}`}`;
    }
  }
}

function tag(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
