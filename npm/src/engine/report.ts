/**
 * Objects with any names: a caller's own may be called `__proto__`.
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
