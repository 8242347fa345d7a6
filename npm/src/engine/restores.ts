/**
 * Data for restoring calls. The shared instance caches it by number, with its schemas already parsed, and evicts the least recently
 * used. Data that is not cached is sent along with the call.
 */

import type { Text } from '../options.js';
import { type FunctionName, functionNumber, type Outcome, onText, onValues } from './call.js';
import { shared } from './instance.js';

let lastNumber = 0;

/** The functions that a restore can call. */
type RestoreFunction = FunctionName & ('restoreCall' | 'restoreClientCall' | 'restoreContent' | 'restoreReply');

export class CachedRestore {
  readonly #json: object;
  // 32 bits are enough: when the counter wraps around, the old entry has long been evicted.
  readonly #number: number;
  #text: string | undefined;

  /** @param json - The caller must not change it afterwards. */
  constructor(json: object) {
    this.#json = json;
    lastNumber = (lastNumber + 1) % 2 ** 32;
    this.#number = lastNumber;
  }

  /** Calls a function on values. */
  onValues(name: RestoreFunction, inputs: readonly unknown[]): Outcome<unknown> {
    // Called after reading the inputs, because their getters may call toolwire, which may evict the entry.
    const restoreIfMissing = () => (this.#isCached() ? [] : [this.#json]);
    return onValues(
      shared,
      inputs,
      null,
      (engine, wordCount, byteCount, escaped, count) =>
        engine.glue.callRestore(this.#number, functionNumber(engine, name), count, wordCount, byteCount, escaped),
      restoreIfMissing,
    );
  }

  /** Restores a reply that is JSON text. */
  onText<T extends Text>(reply: T): Outcome<T> {
    const texts: [T, ...Text[]] = [reply];
    if (!this.#isCached()) {
      this.#text ??= JSON.stringify(this.#json);
      texts.push(this.#text);
    }
    return onText(shared, 'restoreReply', texts, null, ({ glue }, count, wordCount, byteCount, escaped, truncated) =>
      glue.callRestoreText(this.#number, count, wordCount, byteCount, escaped, truncated),
    );
  }

  #isCached(): boolean {
    return shared.getEngine().glue.hasRestore(this.#number);
  }
}
