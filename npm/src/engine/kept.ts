/**
 * A tool list that is kept in an instance of its own: gone when this object is, and no burden to the shared instance,
 * which is given up when it grows.
 */

import type { Text } from '../options.js';
import { onText, onValues } from './call.js';
import { Place } from './instance.js';

export class Kept {
  readonly #place = new Place(true);

  private constructor() {}

  /** Keeps a tool list that is a value. */
  static ofValue(tools: unknown): Kept {
    const kept = new Kept();
    onValues(kept.#place, [tools], null, ({ glue }, words, chars, spelled) => glue.keep(words, chars, spelled));
    return kept;
  }

  /** Keeps a tool list that is JSON text. */
  static ofText(name: string, tools: Text): Kept {
    const kept = new Kept();
    onText(kept.#place, name, [tools], null, ({ glue }, _, words, chars, spelled, broken) =>
      glue.keepText(words, chars, spelled, broken),
    );
    return kept;
  }

  /** How many tools there are. */
  get size(): number {
    return this.#place.running().glue.keptTools();
  }

  /** Searches for a query, or answers a call. */
  ask(what: 'searchKept' | 'answerKept', input: unknown, options: unknown): unknown {
    return onValues(this.#place, [input], options, ({ glue }, words, chars, spelled) =>
      glue[what](words, chars, spelled),
    ).value;
  }
}
