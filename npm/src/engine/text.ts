/**
 * JSON text in the forms that callers use: a string, or bytes.
 */

import { ToolwireError } from '../error.js';
import type { Text } from '../options.js';
import { describe } from '../values/foreign.js';
import { isWellFormed } from '../values/wire-encoder.js';
import type { SharedBuffer } from './shared-buffer.js';

/** Getters of all typed arrays, taken from the prototype because a subclass may override them. */
const TYPED = Object.getPrototypeOf(Uint8Array.prototype) as object;
const [kind, buffer, offset, length] = [Symbol.toStringTag, 'buffer', 'byteOffset', 'byteLength'].map(
  (name) => Object.getOwnPropertyDescriptor(TYPED, name)?.get as () => unknown,
) as [() => unknown, () => ArrayBuffer, () => number, () => number];

/** Returns true if a value is text. It does not use `instanceof`, because test runners have several `Uint8Array` constructors. */
export function isText(value: unknown): value is Text {
  return typeof value === 'string' || kind.call(value) === 'Uint8Array';
}

/** Returns true if a value is text as bytes. */
export function isBytes(value: unknown): value is Uint8Array {
  return typeof value !== 'string' && isText(value);
}

/** Returns the same bytes as a plain `Uint8Array`. A subclass may report too small a length, so that writes would overflow. */
export function plainBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer.call(bytes), offset.call(bytes), length.call(bytes));
}

/** Returns the error for a value that is not text. */
export function notTextError(name: string, value: unknown): ToolwireError {
  const description =
    typeof value === 'object' && value !== null ? `an object; \`${name}\` takes values` : describe(value);
  return new ToolwireError(
    'invalid-value',
    '',
    `expected JSON text as a string or \`Uint8Array\`, found ${description}`,
  );
}

/** Returns the text up to the first lone surrogate, which UTF-8 encoding would silently replace. */
export function wellFormedStart(text: Text): Text {
  if (typeof text !== 'string') return plainBytes(text);
  if (isWellFormed(text)) return text;
  let index = 0;
  for (;;) {
    const point = text.codePointAt(index) as number;
    if (point >= 0xd800 && point <= 0xdfff) return text.slice(0, index);
    index += point > 0xffff ? 2 : 1;
  }
}

/** Returns the result in the shared buffer as text of the same type as the input. A `Buffer` gives a `Buffer`, because its `toString` differs. */
export function outputLike<T extends Text>(text: T, buffer: SharedBuffer): T;
export function outputLike(text: Text, buffer: SharedBuffer): Text {
  if (typeof text === 'string') return buffer.outputText;
  const bytes = buffer.outputBytes.slice();
  const { Buffer } = globalThis as { Buffer?: BufferConstructor };
  return Buffer?.isBuffer(text) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;
}

/** Returns bytes as a string; undefined if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plainBytes(bytes));
  } catch {
    return undefined;
  }
}

/** Encodes a string as bytes of the type of `original`. */
export function encodeLike(original: Uint8Array, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const { Buffer } = globalThis as { Buffer?: BufferConstructor };
  return Buffer?.isBuffer(original) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;
}

/** The members of Node's `Buffer` that are used here, declared so that this package does not require the types of Node. */
interface BufferConstructor {
  isBuffer(value: unknown): boolean;
  from(buffer: ArrayBufferLike, offset: number, length: number): Uint8Array;
}
