import { callOnValues } from './engine/call.js';

/** What a {@link Restore} is as JSON. What is in it is nobody's business but toolwire's. */
export interface RestoreJson {
  version: number;
  tools: { [name: string]: unknown };
}

/** A call as the tool's own server expects it. */
export interface RestoredCall<T> {
  /** The tool's name. */
  name: string;
  /** The namespace of the tool (OpenAI Responses); absent if it stood in none. */
  namespace?: string;
  /** The arguments: text if text was given. */
  arguments: T;
}

/**
 * Brings calls back to what the tools' own servers expect: their names, and arguments in the shape of their schemas.
 *
 * Calls come back in a later turn, maybe in another process: `JSON.stringify` it, and {@link restoreFrom} what was kept.
 */
export class Restore {
  readonly #json: RestoreJson;

  /** @internal */
  constructor(json: RestoreJson) {
    this.#json = json;
  }

  /**
   * Restores a call. A tool that is not known comes back as it is, and so do arguments that are not understood.
   *
   * @param args - The arguments as a value, or as JSON text in a string, which is what OpenAI's APIs give.
   *
   * @throws {@link ToolwireError} `invalid-value`, `too-deep`.
   */
  restore<T>(name: string, args: T): RestoredCall<T> {
    const { version, tools } = this.#json;
    const known = Object.hasOwn(tools, name) ? { [name]: tools[name] } : {};
    return callOnValues('restoreCall', false, [{ version, tools: known }, name, args], null).value as RestoredCall<T>;
  }

  /** What `JSON.stringify` writes. */
  toJSON(): RestoreJson {
    return this.#json;
  }
}

/**
 * A {@link Restore} from what was kept of it: the JSON text, or the value parsed from it.
 *
 * @throws {@link ToolwireError} `invalid-value` if it is something else.
 */
export function restoreFrom(json: string | object): Restore {
  const kept: unknown = typeof json === 'string' ? JSON.parse(json) : json;
  // Restoring something that nothing is known of reads all of it.
  callOnValues('restoreCall', false, [kept, '', null], null);
  return new Restore(kept as RestoreJson);
}
