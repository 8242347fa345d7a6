/**
 * A tool list that is kept in a separate instance, which is freed with this object. It does not enlarge the shared instance, which is
 * discarded when it grows.
 */

import { onText, onValues } from './call.js';
import { Place } from './instance.js';
import { isText } from './text.js';

export class StoredIndex {
  readonly #place = new Place(true);

  private constructor() {}

  /** Stores a tool list, given as a value or as text. */
  static of(name: string, tools: unknown): StoredIndex {
    const index = new StoredIndex();
    if (isText(tools)) {
      onText(index.#place, name, [tools], null, ({ glue }, _, words, chars, spelled, broken) =>
        glue.storeIndexText(words, chars, spelled, broken),
      );
    } else {
      onValues(index.#place, [tools], null, ({ glue }, words, chars, spelled) =>
        glue.storeIndex(words, chars, spelled),
      );
    }
    return index;
  }

  /** Number of tools. */
  get size(): number {
    return this.#place.running().glue.toolsInIndex();
  }

  /** Searches for a query, or answers a call to the tool search. */
  ask(operation: 'searchIndex' | 'answerFromIndex', input: unknown, options: unknown): unknown {
    return onValues(this.#place, [input], options, ({ glue }, words, chars, spelled) =>
      glue[operation](words, chars, spelled),
    ).value;
  }
}
