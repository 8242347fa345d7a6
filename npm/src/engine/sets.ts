/**
 * A tool list that is sent with every request. Like a stored index, it has a separate instance. Its text is also kept in JavaScript, so
 * that another instance can receive it after a trap.
 */

import type { Text } from '../options.js';
import { callOn, onText, onValues } from './call.js';
import { type Engine, EngineHolder } from './instance.js';
import { isText } from './text.js';

/** The results for a list, as JSON texts, because most of them are never read. */
export interface ListResults {
  json: string;
  quarantined: string;
  lossless: boolean;
  restore: string;
  /** Present if tools are missing. */
  warning?: string;
  /** The list that the results were computed from. */
  list: string;
}

export class StoredSet {
  readonly #holder = new EngineHolder(true, true);
  /** The instance that has the list. */
  #engine: Engine | undefined;
  /** The list, as compact JSON text. */
  #list: string | undefined;

  /** Stores a list, given as a value or as text. Returns `false` if it is equal to the previous one. */
  store(name: string, tools: unknown): boolean {
    return isText(tools) ? this.#storeAsText(name, tools) : this.#storeAsValue(tools);
  }

  #storeAsValue(tools: unknown): boolean {
    return this.#storeWith(
      () =>
        onValues(this.#holder, [tools], null, ({ glue }, wordCount, byteCount, escaped) =>
          glue.storeSet(wordCount, byteCount, escaped),
        ).value as string | null,
    );
  }

  #storeAsText(name: string, tools: Text): boolean {
    return this.#storeWith(() => {
      const value = this.#storeText(name, tools);
      const list = typeof value === 'string' ? value : new TextDecoder().decode(value);
      return list === 'null' ? null : list;
    });
  }

  /** Number of tools. */
  get size(): number {
    return this.#getEngine().glue.toolsInSet();
  }

  /** Returns the results for some options. {@link changesOf} returns the changes. */
  resultsFor(options: unknown): ListResults {
    this.#getEngine();
    const { value } = onValues(this.#holder, [], options, ({ glue }, wordCount, byteCount, escaped) =>
      glue.readySet(wordCount, byteCount, escaped),
    );
    return { ...(value as Omit<ListResults, 'list'>), list: this.#list as string };
  }

  #storeWith(storeList: () => string | null): boolean {
    const engine = this.#getEngine();
    const list = storeList();
    this.#engine = engine;
    if (list === null) return false;
    this.#list = list;
    return true;
  }

  #storeText<T extends Text>(name: string, tools: T): T {
    return onText(this.#holder, name, [tools], null, ({ glue }, _, wordCount, byteCount, escaped, truncated) =>
      glue.storeSetText(wordCount, byteCount, escaped, truncated),
    ).value;
  }

  /** Returns the instance, with the list in it. */
  #getEngine(): Engine {
    const engine = this.#holder.getEngine();
    if (engine !== this.#engine && this.#list !== undefined) {
      this.#engine = engine;
      this.#storeText('ToolSet', this.#list);
    }
    return engine;
  }
}

/**
 * Returns the changes of a list for some options. The shared instance computes them when they are
 * read, because they are large and seldom read.
 */
export function changesOf(list: string, options: unknown): object {
  return (callOn('sanitizeTools', list, options).report() as { changes: object }).changes;
}
