/**
 * A tool list that is sent with every request. Like a kept one it has an instance of its own; unlike that it is known here, too, as
 * text, so that another instance can take it over after a defect.
 */

import type { Text } from '../options.js';
import { onText, onValues } from './call.js';
import { Place } from './instance.js';

export class KeptSet {
  #place = new Place(true);
  /** The list, as compact JSON text. */
  #list: string | undefined;

  /** Takes a list that is a value; `false`: it says what the one before said. */
  takeValue(tools: unknown): boolean {
    const { value } = onValues(this.#living(), [tools], null, ({ glue }, words, chars, spelled) =>
      glue.keepSet(words, chars, spelled),
    );
    return this.#took(value as string | null);
  }

  /** Takes a list that is JSON text. */
  takeText(name: string, tools: Text): boolean {
    const { value } = onText(this.#living(), name, [tools], null, ({ glue }, _, words, chars, spelled, broken) =>
      glue.keepSetText(words, chars, spelled, broken),
    );
    const list = typeof value === 'string' ? value : new TextDecoder().decode(value);
    return this.#took(list === 'null' ? null : list);
  }

  /** How many tools there are. */
  get size(): number {
    return this.#living().running().glue.toolsInSet();
  }

  /** The list for some options, as JSON text, and what stands beside it. */
  ready(options: unknown): { json: string; report: object } {
    const { value, report } = onValues(this.#living(), [], options, ({ glue }, words, chars, spelled) =>
      glue.readySet(words, chars, spelled),
    );
    return { json: value as string, report: report as object };
  }

  #took(list: string | null): boolean {
    if (list === null) return false;
    this.#list = list;
    return true;
  }

  /** Where it is kept: after a defect, somewhere else. */
  #living(): Place {
    if (this.#place.isLost) {
      this.#place = new Place(true);
      const list = this.#list;
      if (list !== undefined) this.takeText('ToolSet', list);
    }
    return this.#place;
  }
}
