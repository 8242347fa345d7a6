/**
 * Reads an answer's records as values. bindings-wasm/src/answer.rs writes them and defines their layout.
 */

import type { Desk } from '../engine/desk.js';
import { define } from '../engine/report.js';
import type { Records } from './records.js';

const GIVEN = 0;
const GIVEN_NAME = 1;
const CONSTANT = 2;
const NUMBER = 3;
const STRING = 4;
const JSON_TEXT = 5;
const ARRAY = 6;
const OBJECT = 7;

/** Returns the value that the answer in the shared buffer describes. */
export function answered(desk: Desk, records: Records): unknown {
  const { words, start } = desk.answerRecords;
  return new Answer(words, start, desk.answerText, records, desk.share).value();
}

class Answer {
  private at = 0;

  constructor(
    private readonly words: Uint32Array,
    private next: number,
    private readonly chars: string,
    private readonly records: Records,
    private readonly share: boolean,
  ) {}

  value(): unknown {
    const word = this.words[this.next++] as number;
    const payload = word >>> 3;
    switch (word & 7) {
      case GIVEN:
        return this.records.given(payload, this.share);
      case CONSTANT:
        return payload === 0 ? null : payload === 2;
      case NUMBER:
        return Number(this.text(payload));
      case STRING:
        return this.text(payload);
      case JSON_TEXT:
        return JSON.parse(this.text(payload));
      case ARRAY: {
        const items: unknown[] = [];
        for (let index = 0; index < payload; index++) items.push(this.value());
        return items;
      }
      case OBJECT: {
        const object: Record<string, unknown> = {};
        for (let index = 0; index < payload; index++) define(object, this.name(), this.value());
        return object;
      }
      default:
        throw new Error('the two sides of toolwire disagree about an answer');
    }
  }

  private name(): string {
    const word = this.words[this.next] as number;
    if ((word & 7) !== GIVEN_NAME) return this.value() as string;
    this.next++;
    return this.records.name(word >>> 3);
  }

  private text(length: number): string {
    const start = this.at;
    this.at += length;
    return this.chars.slice(start, this.at);
  }
}
