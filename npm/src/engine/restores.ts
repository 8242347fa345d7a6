/**
 * Data for restoring calls. The shared instance caches it by number, with its schemas already parsed, and evicts the least recently
 * used. If the instance does not have it, it is sent along with the call, so that nothing is lost if the instance is replaced.
 */

import type { Text } from '../options.js';
import { type FunctionName, number, type Outcome, onText, onValues } from './call.js';
import { shared } from './instance.js';

let last = 0;

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
    last = (last + 1) % 2 ** 32;
    this.#number = last;
  }

  /** Calls a function on values. */
  onValues(name: RestoreFunction, inputs: readonly unknown[]): Outcome<unknown> {
    // Evaluated after the inputs were read, because reading them may run getters that call toolwire.
    const more = () => (this.#isCached() ? [] : [this.#json]);
    return onValues(
      shared,
      inputs,
      null,
      (engine, words, chars, spelled, count) =>
        engine.glue.callRestore(this.#number, number(engine, name), count, words, chars, spelled),
      more,
    );
  }

  /** Restores a reply that is JSON text. */
  onText<T extends Text>(reply: T): Outcome<T> {
    const texts: [T, ...Text[]] = [reply];
    if (!this.#isCached()) {
      this.#text ??= JSON.stringify(this.#json);
      texts.push(this.#text);
    }
    return onText(shared, 'restoreReply', texts, null, ({ glue }, count, words, chars, spelled, broken) =>
      glue.callRestoreText(this.#number, count, words, chars, spelled, broken),
    );
  }

  #isCached(): boolean {
    return shared.running().glue.hasRestore(this.#number);
  }
}
