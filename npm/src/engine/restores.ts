/**
 * What brings calls back, known to the shared instance by a number: what it has of schemas is read and prepared there once. The
 * instance keeps those used last; one that it does not keep goes along with the call, so that nothing is lost with an instance.
 */

import type { Text } from '../options.js';
import { type FunctionName, number, type Outcome, onText, onValues } from './call.js';
import { shared } from './instance.js';

let last = 0;

/** Any of the functions that a restore has. */
type RestoreFunction = FunctionName & ('restoreCall' | 'restoreClientCall' | 'restoreContent' | 'restoreReply');

export class KeptRestore {
  readonly #json: object;
  // As many as 32 bits count; who comes round once more has long been forgotten.
  readonly #number: number;
  #text: string | undefined;

  /** @param json - Nobody changes it any more. */
  constructor(json: object) {
    this.#json = json;
    last = (last + 1) % 2 ** 32;
    this.#number = last;
  }

  /** Calls a function on values. */
  onValues(name: RestoreFunction, inputs: readonly unknown[]): Outcome<unknown> {
    // Asked once the inputs are read, which may run code of their owner's that calls toolwire.
    const more = () => (this.#isKept() ? [] : [this.#json]);
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
    if (!this.#isKept()) {
      this.#text ??= JSON.stringify(this.#json);
      texts.push(this.#text);
    }
    return onText(shared, 'restoreReply', texts, null, ({ glue }, count, words, chars, spelled, broken) =>
      glue.callRestoreText(this.#number, count, words, chars, spelled, broken),
    );
  }

  #isKept(): boolean {
    return shared.running().glue.keepsRestore(this.#number);
  }
}
