/**
 * Reports and errors as plain objects. They come over as `Map`s, because tools can be called `__proto__`.
 */

/**
 * Sets a member of an object that was made here. Names that the prototype has are defined: an assignment would change the prototype
 * (`__proto__`), or throw where it is frozen (`constructor`).
 */
export function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name in object) {
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
