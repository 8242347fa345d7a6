/**
 * Safe assignment of arbitrary member names, such as `__proto__`.
 */

/**
 * Sets a member of a new object. Names that the prototype also has are defined with a descriptor, because an assignment would change
 * the prototype (`__proto__`), or throw if the prototype is frozen (`constructor`).
 */
export function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name in object) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
