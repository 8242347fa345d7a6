/**
 * JSON text as callers hold it: a string, or bytes.
 */

import { ToolwireError } from '../error.js';
import type { Text } from '../options.js';
import { described } from '../values/foreign.js';
import { isWellFormed } from '../values/records.js';
import type { Desk } from './desk.js';

/** What every typed array has, whatever a subclass says: which kind it is, and what it is a view of. */
const TYPED = Object.getPrototypeOf(Uint8Array.prototype) as object;
const [kind, buffer, offset, length] = [Symbol.toStringTag, 'buffer', 'byteOffset', 'byteLength'].map(
  (name) => Object.getOwnPropertyDescriptor(TYPED, name)?.get as () => unknown,
) as [() => unknown, () => ArrayBuffer, () => number, () => number];

/** Is it text? By what it is, not by whose `Uint8Array` it is: test runners have several. */
export function isText(value: unknown): value is Text {
  return typeof value === 'string' || kind.call(value) === 'Uint8Array';
}

/** Is it text in bytes? */
export function isBytes(value: unknown): value is Uint8Array {
  return typeof value !== 'string' && isText(value);
}

/** The same bytes as a plain `Uint8Array`: a subclass may say that it is shorter than what it holds, and more would be written than fits. */
export function genuine(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer.call(bytes), offset.call(bytes), length.call(bytes));
}

/** The error for something else. */
export function unreadable(name: string, value: unknown): ToolwireError {
  const found = typeof value === 'object' && value !== null ? `an object; \`${name}\` takes values` : described(value);
  return new ToolwireError('invalid-value', '', `expected JSON text as a string or \`Uint8Array\`, found ${found}`);
}

/** The text, or what stands before the first half of a surrogate pair: UTF-8 would quietly replace it. */
export function readable(text: Text): Text {
  if (typeof text !== 'string') return genuine(text);
  if (isWellFormed(text)) return text;
  let index = 0;
  for (;;) {
    const point = text.codePointAt(index) as number;
    if (point >= 0xd800 && point <= 0xdfff) return text.slice(0, index);
    index += point > 0xffff ? 2 : 1;
  }
}

/** The answer on the desk, as text of the same type. A `Buffer` gives a `Buffer`: the two differ in `toString`. */
export function like<T extends Text>(text: T, desk: Desk): T;
export function like(text: Text, desk: Desk): Text {
  if (typeof text === 'string') return desk.answerText;
  const bytes = desk.answerBytes.slice();
  const { Buffer } = globalThis as { Buffer?: BufferConstructor };
  return Buffer?.isBuffer(text) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;
}

/** Bytes as a string; undefined if they are not UTF-8. */
export function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(genuine(bytes));
  } catch {
    return undefined;
  }
}

/** A string as bytes of the same type. */
export function likeBytes(text: Uint8Array, written: string): Uint8Array {
  const bytes = new TextEncoder().encode(written);
  const { Buffer } = globalThis as { Buffer?: BufferConstructor };
  return Buffer?.isBuffer(text) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;
}

/** As much of Node's `Buffer` as is used here; the types of Node must not be needed to use this package. */
interface BufferConstructor {
  isBuffer(value: unknown): boolean;
  from(buffer: ArrayBufferLike, offset: number, length: number): Uint8Array;
}
