/**
 * Reads the records of a result as values. bindings-wasm/src/wire_encoder.rs writes them and defines their layout.
 */

import { define } from '../engine/report.js';
import type { SharedBuffer } from '../engine/shared-buffer.js';
import type { WireEncoder } from './wire-encoder.js';

const INPUT = 0;
const INPUT_NAME = 1;
const CONSTANT = 2;
const NUMBER = 3;
const STRING = 4;
const JSON_TEXT = 5;
const ARRAY = 6;
const OBJECT = 7;

/** Returns the value that the output in the shared buffer describes. */
export function decodeOutput(buffer: SharedBuffer, encoder: WireEncoder): unknown {
  const { words, start } = buffer.outputRecords;
  return new WireDecoder(words, start, buffer.outputText, encoder, buffer.share).value();
}

class WireDecoder {
  private at = 0;

  constructor(
    private readonly words: Uint32Array,
    private next: number,
    private readonly chars: string,
    private readonly encoder: WireEncoder,
    private readonly share: boolean,
  ) {}

  value(): unknown {
    const word = this.words[this.next++] as number;
    const payload = word >>> 3;
    switch (word & 7) {
      case INPUT:
        return this.encoder.input(payload, this.share);
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
        throw new Error('the two sides of toolwire disagree about a result');
    }
  }

  private name(): string {
    const word = this.words[this.next] as number;
    if ((word & 7) !== INPUT_NAME) return this.value() as string;
    this.next++;
    return this.encoder.name(word >>> 3);
  }

  private text(length: number): string {
    const start = this.at;
    this.at += length;
    return this.chars.slice(start, this.at);
  }
}
