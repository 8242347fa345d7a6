/**
 * A tool list that is sent with every request. Like a kept one it has an instance of its own; unlike that it is known here, too, as
 * text, so that another instance can take it over after a defect.
 */

import type { Text } from '../options.js';
import { onText, onValues } from './call.js';
import { type Engine, Place } from './instance.js';

export class KeptSet {
  readonly #place = new Place(true, true);
  /** Where it is kept. */
  #engine: Engine | undefined;
  /** The list, as compact JSON text. */
  #list: string | undefined;

  /** Takes a list that is a value; `false`: it says what the one before said. */
  takeValue(tools: unknown): boolean {
    return this.#takes(
      () =>
        onValues(this.#place, [tools], null, ({ glue }, words, chars, spelled) => glue.keepSet(words, chars, spelled))
          .value as string | null,
    );
  }

  /** Takes a list that is JSON text. */
  takeText(name: string, tools: Text): boolean {
    return this.#takes(() => {
      const value = this.#keep(name, tools);
      const list = typeof value === 'string' ? value : new TextDecoder().decode(value);
      return list === 'null' ? null : list;
    });
  }

  /** How many tools there are. */
  get size(): number {
    return this.#running().glue.toolsInSet();
  }

  /** The list for some options, as JSON text, and what stands beside it. */
  ready(options: unknown): { json: string; report: object } {
    this.#running();
    const { value, report } = onValues(this.#place, [], options, ({ glue }, words, chars, spelled) =>
      glue.readySet(words, chars, spelled),
    );
    return { json: value as string, report: report as object };
  }

  #takes(take: () => string | null): boolean {
    const engine = this.#running();
    const list = take();
    this.#engine = engine;
    if (list === null) return false;
    this.#list = list;
    return true;
  }

  #keep<T extends Text>(name: string, tools: T): T {
    return onText(this.#place, name, [tools], null, ({ glue }, _, words, chars, spelled, broken) =>
      glue.keepSetText(words, chars, spelled, broken),
    ).value;
  }

  /** The instance, with the list in it. */
  #running(): Engine {
    const engine = this.#place.running();
    if (engine !== this.#engine && this.#list !== undefined) {
      this.#engine = engine;
      this.#keep('ToolSet', this.#list);
    }
    return engine;
  }
}
