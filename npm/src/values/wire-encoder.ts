/**
 * A caller's values as records. Every value is visited once, in document order, with the semantics of `JSON.stringify`.
 * bindings-wasm/src/wire_decoder.rs reads the records and defines their layout.
 *
 * The values are kept until the result is built, because a result refers to the caller's values by number.
 */

import { define } from '../engine/report.js';
import { ToolwireError } from '../error.js';
import { describe, isBytes, isOpaque, isPlain, unbox } from './foreign.js';

const NULL = 0;
const FALSE = 1;
const TRUE = 2;
const NUMBER = 3;
const STRING = 4;
const ARRAY = 5;
const OBJECT = 6;

/**
 * Number of words in a record. Until the records are transferred, the third word holds the
 * number of the value after the last descendant.
 */
const RECORD = 3;

/** The same limits as in limits.rs. */
const MAX_DEPTH = 512;
const MAX_VALUES = 10_000_000;

/** Number of values above which the arrays are discarded after use. */
const MAX_KEPT = 100_000;

/** The largest length that fits into the 29 bits of a record, and V8's limit for strings. */
const MAX_LENGTH = 2 ** 29 - 1;

/** The characters of everything that was read, and their encoding. */
export interface EncodedStrings {
  readonly chars: string;
  /** True if the strings are escaped as in JSON text, because a lone surrogate has no other representation. */
  readonly escaped: boolean;
}

/** Values as records. */
export class WireEncoder {
  private buffer = new Uint32Array(256 * RECORD);
  private parts: string[] = [];
  private partCount = 0;
  /**
   * The values by number. May be longer than `count`, because storing by index is twice as fast as
   * `push`, and clearing is twice as fast as growing.
   */
  private values: unknown[] = [];
  private names: string[] = [];
  private count = 0;
  /** The containers that differ from the caller's objects, for example because of a `toJSON` or an `undefined`. */
  private altered: Set<number> | undefined;
  /** The path from the root to the current value: the containers, their numbers, and the name or index in each. */
  private readonly ancestors: (object | undefined)[] = [];
  private readonly ancestorNumbers: number[] = [];
  private readonly steps: (string | number)[] = [];

  /** True if functions and symbols as members are refused; otherwise they are omitted. Undefined members are always omitted. */
  private strict = false;

  /** Reads one more value. */
  read(value: unknown, strict = false): void {
    this.strict = strict;
    this.makeRoom();
    this.clearName();
    const jsonValue = isSimple(value) ? value : this.toJsonValue(value, '', 0);
    if (isAbsent(jsonValue)) this.refuse(jsonValue, 0);
    this.value(jsonValue, 0);
  }

  /** The records of all values that were read. */
  get words(): Uint32Array {
    return this.buffer.subarray(0, this.count * RECORD);
  }

  /** Returns the characters that belong to the records. */
  encodedStrings(): EncodedStrings {
    try {
      this.parts.length = this.partCount;
      let chars = this.parts.join('\n');
      const escaped = !isWellFormed(chars);
      if (escaped) chars = this.escape();
      if (chars.length <= MAX_LENGTH) return { chars, escaped };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    throw new ToolwireError('limit-exceeded', '', 'expected less than 512 MB of text in one value, found more');
  }

  /** Returns all strings with JSON escapes, and corrects their lengths in the records. */
  private escape(): string {
    const words = this.buffer;
    const parts = this.parts.map((part) => JSON.stringify(part).slice(1, -1));
    let next = 0;
    for (let word = 0; word < this.count * RECORD; word += RECORD) {
      if (words[word + 1] !== 0) words[word + 1] = (parts[next++] as string).length + 1;
      const kind = (words[word] as number) & 7;
      if (kind === STRING || kind === NUMBER) words[word] = kind | ((parts[next++] as string).length << 3);
    }
    return parts.join('\n');
  }

  /** Returns the name of a member by the number of its value. */
  name(number: number): string {
    return this.names[number] as string;
  }

  /** Returns a value by its number: the caller's object if `share` allows it and it is unaltered, otherwise a copy. */
  input(number: number, share: boolean): unknown {
    const value = this.values[number];
    if (typeof value !== 'object' || value === null) return value;
    if (share && !this.altered?.has(number)) return value;
    const head = this.buffer[number * RECORD] as number;
    const length = head >>> 3;
    let child = number + 1;
    if ((head & 7) === ARRAY) {
      const items: unknown[] = [];
      for (let index = 0; index < length; index++) {
        items.push(this.input(child, share));
        child = this.after(child);
      }
      return items;
    }
    const object: Record<string, unknown> = {};
    for (let index = 0; index < length; index++) {
      define(object, this.names[child] as string, this.input(child, share));
      child = this.after(child);
    }
    return object;
  }

  /** Removes all records, so that the caller's values can be collected. */
  clear(): void {
    if (this.count > MAX_KEPT) {
      this.buffer = new Uint32Array(256 * RECORD);
      this.parts = [];
      this.values = [];
      this.names = [];
    } else {
      this.parts.fill('', 0, this.partCount);
      this.values.fill(undefined, 0, this.count);
      this.names.fill('', 0, this.count);
    }
    this.ancestors.fill(undefined);
    this.count = 0;
    this.partCount = 0;
    this.altered = undefined;
  }

  /** Returns the number of the value that follows a value and all its descendants. */
  private after(number: number): number {
    return this.buffer[number * RECORD + 2] as number;
  }

  /** Writes the record of a value. Its name must already be written, and the buffer must have room. */
  private value(value: unknown, depth: number): void {
    const number = this.count++;
    this.values[number] = value;
    let head: number;
    switch (typeof value) {
      case 'string':
        this.parts[this.partCount++] = value;
        head = STRING | (value.length << 3);
        break;
      case 'object':
        if (value === null) head = NULL;
        else if (Array.isArray(value)) head = ARRAY | (this.array(value, number, depth) << 3);
        else head = OBJECT | (this.object(value as Record<string, unknown>, number, depth) << 3);
        break;
      case 'boolean':
        head = value ? TRUE : FALSE;
        break;
      case 'number': {
        if (!Number.isFinite(value)) this.refuse(value, depth);
        const text = String(value);
        this.parts[this.partCount++] = text;
        head = NUMBER | (text.length << 3);
        break;
      }
      default:
        this.refuse(value, depth);
    }
    this.buffer[number * RECORD] = head;
    this.buffer[number * RECORD + 2] = this.count;
  }

  private array(items: unknown[], number: number, depth: number): number {
    this.enter(items, number, depth);
    const length: unknown = items.length;
    // A proxy may return any length, and the record must have exactly as many items as its length.
    if (!isLength(length)) {
      const found = typeof length === 'number' ? `\`${length}\`` : describe(length);
      this.fail('invalid-value', depth, `expected an array with an integer as its length, found ${found}`);
    }
    if (this.count + length > MAX_VALUES) this.tooMany();
    for (let index = 0; index < length; index++) {
      this.steps[depth] = index;
      let item = items[index];
      if (!isSimple(item)) {
        item = this.toJsonValue(item, index, depth + 1);
        if (item === undefined) {
          this.markAltered(depth);
          item = null;
        } else if (isAbsent(item)) {
          this.refuse(item, depth + 1);
        }
      }
      this.makeRoom();
      this.clearName();
      this.value(item, depth + 1);
    }
    return length;
  }

  private object(object: Record<string, unknown>, number: number, depth: number): number {
    this.enter(object, number, depth);
    const { names, parts, steps } = this;
    let members = 0;
    for (const name of Object.keys(object)) {
      steps[depth] = name;
      let member = object[name];
      if (!isSimple(member)) {
        member = this.toJsonValue(member, name, depth + 1);
        if (isAbsent(member)) {
          if (this.strict && member !== undefined) this.refuse(member, depth + 1);
          this.markAltered(depth);
          continue;
        }
      }
      members++;
      const next = this.count;
      if ((next + 1) * RECORD > this.buffer.length) this.grow();
      names[next] = name;
      parts[this.partCount++] = name;
      this.buffer[next * RECORD + 1] = name.length + 1;
      if (typeof member === 'string') {
        this.count = next + 1;
        this.values[next] = member;
        parts[this.partCount++] = member;
        this.buffer[next * RECORD] = STRING | (member.length << 3);
        this.buffer[next * RECORD + 2] = next + 1;
      } else {
        this.value(member, depth + 1);
      }
    }
    return members;
  }

  /** Returns the value that `JSON.stringify` would write for a value that is not simple. */
  private toJsonValue(value: unknown, key: string | number, depth: number): unknown {
    if (value === undefined || typeof value === 'symbol') return value;
    const plain = typeof value === 'object' && isPlain(value as object);
    if (!plain && isBytes(value as object)) this.refuse(value, depth);
    const { toJSON } = value as { toJSON?: unknown };
    let jsonValue: unknown = value;
    if (typeof toJSON === 'function') {
      jsonValue = toJSON.call(value, String(key));
      this.markAltered(depth - 1);
    } else if (plain) {
      return value;
    }
    if (typeof jsonValue !== 'object' || jsonValue === null || isPlain(jsonValue)) return jsonValue;
    const inner = unbox(jsonValue);
    if (inner !== jsonValue) this.markAltered(depth - 1);
    else if (isOpaque(jsonValue)) this.refuse(jsonValue, depth);
    return inner;
  }

  private enter(container: object, number: number, depth: number): void {
    const { ancestors } = this;
    for (let above = 0; above < depth; above++) {
      if (ancestors[above] === container) {
        const where = above === 0 ? 'the root' : `\`${this.pointer(above)}\``;
        this.fail('invalid-value', depth, `expected a tree, found a cycle: the same object as at ${where}`);
      }
    }
    if (depth >= MAX_DEPTH) this.fail('too-deep', depth, `expected at most ${MAX_DEPTH} levels of nesting, found more`);
    ancestors[depth] = container;
    this.ancestorNumbers[depth] = number;
  }

  /** Marks the containers down to a depth as different from the caller's objects. */
  private markAltered(depth: number): void {
    this.altered ??= new Set();
    for (let above = depth; above >= 0; above--) {
      const number = this.ancestorNumbers[above] as number;
      // Its ancestors are marked, too.
      if (this.altered.has(number)) return;
      this.altered.add(number);
    }
  }

  private clearName(): void {
    this.names[this.count] = '';
    this.buffer[this.count * RECORD + 1] = 0;
  }

  /** Grows the buffer if it has no room for one more record. */
  private makeRoom(): void {
    if ((this.count + 1) * RECORD > this.buffer.length) this.grow();
  }

  private grow(): void {
    if (this.count >= MAX_VALUES) this.tooMany();
    const words = new Uint32Array(this.buffer.length * 2);
    words.set(this.buffer);
    this.buffer = words;
  }

  private tooMany(): never {
    throw new ToolwireError('limit-exceeded', '', `expected at most ${MAX_VALUES} values, found more`);
  }

  private refuse(value: unknown, depth: number): never {
    this.fail('invalid-value', depth, `expected a JSON value, found ${describe(value)}`);
  }

  private fail(code: 'invalid-value' | 'too-deep', depth: number, message: string): never {
    throw new ToolwireError(code, this.pointer(depth), message);
  }

  private pointer(depth: number): string {
    const steps = this.steps.slice(0, depth);
    return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  }
}

/** Returns true if a value is a valid array length. */
function isLength(length: unknown): length is number {
  return Number.isSafeInteger(length) && (length as number) >= 0;
}

/** Returns true if a value is a string, boolean, number or null. */
function isSimple(value: unknown): boolean {
  const type = typeof value;
  return type === 'string' || type === 'boolean' || type === 'number' || value === null;
}

/** Returns true if `JSON.stringify` omits a member with this value. */
function isAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

/** `String.prototype.isWellFormed`, with a substitute for engines that lack it. */
export function isWellFormed(text: string): boolean {
  const { isWellFormed: native } = text as { isWellFormed?: () => boolean };
  return native === undefined ? !/\p{Surrogate}/u.test(text) : native.call(text);
}
