/**
 * A tool list that is kept in a separate instance, which is freed with this object. The shared instance would grow and be
 * discarded.
 */

import { onText, onValues } from './call.js';
import { EngineHolder } from './instance.js';
import { isText } from './text.js';

export class StoredIndex {
  readonly #holder = new EngineHolder(true);

  private constructor() {}

  /** Stores a tool list, given as a value or as text. */
  static of(name: string, tools: unknown): StoredIndex {
    const index = new StoredIndex();
    if (isText(tools)) {
      onText(index.#holder, name, [tools], null, ({ glue }, _, wordCount, byteCount, escaped, truncated) =>
        glue.storeIndexText(wordCount, byteCount, escaped, truncated),
      );
    } else {
      onValues(index.#holder, [tools], null, ({ glue }, wordCount, byteCount, escaped) =>
        glue.storeIndex(wordCount, byteCount, escaped),
      );
    }
    return index;
  }

  /** Number of tools. */
  get size(): number {
    return this.#holder.getEngine().glue.toolsInIndex();
  }

  /** Searches for a query, or answers a call to the tool search. */
  ask(operation: 'searchIndex' | 'answerFromIndex', input: unknown, options: unknown): unknown {
    return onValues(this.#holder, [input], options, ({ glue }, wordCount, byteCount, escaped) =>
      glue[operation](wordCount, byteCount, escaped),
    ).value;
  }
}
