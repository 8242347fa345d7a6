/**
 * A tool list that is sent with every request. Like a kept one it has an instance of its own; unlike that it is known here, too, as
 * text, so that another instance can take it over after a defect.
 */

import type { Text } from '../options.js';
import { callOn, onText, onValues } from './call.js';
import { type Engine, Place } from './instance.js';
import { isText } from './text.js';

/** What is made of a list: JSON texts, for most of it nobody looks at. */
export interface Ready {
  json: string;
  quarantined: string;
  lossless: boolean;
  restore: string;
  /** If tools are missing. */
  warning?: string;
  /** The list it was made of. */
  list: string;
}

export class KeptSet {
  readonly #place = new Place(true, true);
  /** Where it is kept. */
  #engine: Engine | undefined;
  /** The list, as compact JSON text. */
  #list: string | undefined;

  /** Takes a list, a value or text; `false`: it says what the one before said. */
  take(name: string, tools: unknown): boolean {
    return isText(tools) ? this.#takeText(name, tools) : this.#takeValue(tools);
  }

  #takeValue(tools: unknown): boolean {
    return this.#takes(
      () =>
        onValues(this.#place, [tools], null, ({ glue }, words, chars, spelled) => glue.keepSet(words, chars, spelled))
          .value as string | null,
    );
  }

  #takeText(name: string, tools: Text): boolean {
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

  /** The list for some options, and what stands beside it, less the changes. */
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

/**
 * The changes of a list for some options: much text, and few look at it. So it is made when somebody does, from the list, by what all
 * calls share.
 */
export function changesOf(list: string, options: unknown): object {
  return (callOn('sanitizeTools', list, options).report() as { changes: object }).changes;
}
