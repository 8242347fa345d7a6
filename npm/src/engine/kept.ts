/**
 * A tool list that is kept in a separate instance, which is freed with this object. It does not enlarge the shared instance, which is
 * discarded when it grows.
 */

import { onText, onValues } from './call.js';
import { Place } from './instance.js';
import { isText } from './text.js';

export class Kept {
  readonly #place = new Place(true);

  private constructor() {}

  /** Stores a tool list, given as a value or as text. */
  static of(name: string, tools: unknown): Kept {
    const kept = new Kept();
    if (isText(tools)) {
      onText(kept.#place, name, [tools], null, ({ glue }, _, words, chars, spelled, broken) =>
        glue.keepText(words, chars, spelled, broken),
      );
    } else {
      onValues(kept.#place, [tools], null, ({ glue }, words, chars, spelled) => glue.keep(words, chars, spelled));
    }
    return kept;
  }

  /** Number of tools. */
  get size(): number {
    return this.#place.running().glue.keptTools();
  }

  /** Searches for a query, or answers a call to the tool search. */
  ask(what: 'searchKept' | 'answerKept', input: unknown, options: unknown): unknown {
    return onValues(this.#place, [input], options, ({ glue }, words, chars, spelled) =>
      glue[what](words, chars, spelled),
    ).value;
  }
}
