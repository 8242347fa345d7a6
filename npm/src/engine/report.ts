/**
 * Reports and errors as plain objects. They come over as `Map`s, because tools can be called `__proto__`.
 */

/** Sets a member, also one that an assignment would mistake for the prototype. */
export function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}

/** The same value with objects for `Map`s. */
export function asObject(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asObject);
  if (!(value instanceof Map)) return value;
  const object: Record<string, unknown> = {};
  for (const [name, member] of value as Map<string, unknown>) define(object, name, asObject(member));
  return object;
}
