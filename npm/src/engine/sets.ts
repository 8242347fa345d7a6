/**
 * A tool list that is sent with every request. Like a stored index, it has a separate instance. In addition, its text is stored here, so that
 * another instance can take it over after a trap.
 */

import type { Text } from '../options.js';
import { callOn, onText, onValues } from './call.js';
import { type Engine, Place } from './instance.js';
import { isText } from './text.js';

/** The results for a list, as JSON texts, because most of them are never read. */
export interface Ready {
  json: string;
  quarantined: string;
  lossless: boolean;
  restore: string;
  /** Present if tools are missing. */
  warning?: string;
  /** The list from which they were computed. */
  list: string;
}

export class StoredSet {
  readonly #place = new Place(true, true);
  /** The instance that has the list. */
  #engine: Engine | undefined;
  /** The list, as compact JSON text. */
  #list: string | undefined;

  /** Stores a list, given as a value or as text. Returns `false` if it is equal to the previous one. */
  take(name: string, tools: unknown): boolean {
    return isText(tools) ? this.#takeText(name, tools) : this.#takeValue(tools);
  }

  #takeValue(tools: unknown): boolean {
    return this.#takes(
      () =>
        onValues(this.#place, [tools], null, ({ glue }, words, chars, spelled) => glue.storeSet(words, chars, spelled))
          .value as string | null,
    );
  }

  #takeText(name: string, tools: Text): boolean {
    return this.#takes(() => {
      const value = this.#storeText(name, tools);
      const list = typeof value === 'string' ? value : new TextDecoder().decode(value);
      return list === 'null' ? null : list;
    });
  }

  /** Number of tools. */
  get size(): number {
    return this.#running().glue.toolsInSet();
  }

  /** Returns the results for some options, without the changes. */
  ready(options: unknown): Ready {
    this.#running();
    const { value } = onValues(this.#place, [], options, ({ glue }, words, chars, spelled) =>
      glue.readySet(words, chars, spelled),
    );
    return { ...(value as Omit<Ready, 'list'>), list: this.#list as string };
  }

  #takes(take: () => string | null): boolean {
    const engine = this.#running();
    const list = take();
    this.#engine = engine;
    if (list === null) return false;
    this.#list = list;
    return true;
  }

  #storeText<T extends Text>(name: string, tools: T): T {
    return onText(this.#place, name, [tools], null, ({ glue }, _, words, chars, spelled, broken) =>
      glue.storeSetText(words, chars, spelled, broken),
    ).value;
  }

  /** Returns the instance, with the list in it. */
  #running(): Engine {
    const engine = this.#place.running();
    if (engine !== this.#engine && this.#list !== undefined) {
      this.#engine = engine;
      this.#storeText('ToolSet', this.#list);
    }
    return engine;
  }
}

/**
 * Returns the changes of a list for some options. They are large and seldom read, so the shared
 * instance computes them from the list only when they are read.
 */
export function changesOf(list: string, options: unknown): object {
  return (callOn('sanitizeTools', list, options).report() as { changes: object }).changes;
}
