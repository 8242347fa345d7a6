import { once } from './engine/call.js';
import { handlerOf, type SetAsideWarning, warnUnless, withoutHandler } from './engine/set-aside.js';
import { changesOf, KeptSet, type Ready } from './engine/sets.js';
import type { ToolsOptions } from './options.js';
import type { Quarantined, ToolChange } from './report.js';
import { Restore } from './restore.js';
import type { ToolFor } from './tool-types.js';
import type { SanitizedTools } from './tools.js';

/**
 * A tool list that an API accepts, made once. It is frozen, all the way down: whoever gets it gets the same objects. All but `json` and
 * `lossless` are made when they are first read.
 *
 * The type does not say that the list is frozen, because the SDKs take no `readonly` lists. A change throws a `TypeError`: change a copy.
 */
export interface ReadyTools<T> extends Readonly<Omit<SanitizedTools<T[]>, 'restore'>> {
  /** The tools as compact JSON text, to be put into a request as it is. */
  readonly json: string;
  /** Brings the model's calls back to what the tools' own servers expect. */
  readonly restore: Restore;
}

/**
 * A tool list that is sent with every request: sanitized once for each dialect, and handed out as it is after that.
 *
 * It is known by its contents: what becomes of the list after it was given changes nothing here. {@link update} takes the list that
 * `tools/list_changed` brings, and then only tools that changed are sanitized again.
 *
 * It has WebAssembly memory of its own, about a megabyte and what the list takes, which goes when the set does.
 *
 * @example
 * ```ts
 * const set = new ToolSet(await client.listTools());
 * const { tools, restore } = set.sanitize({ dialect: 'moonshot' }); // again and again: the same objects
 * client.setNotificationHandler(ToolListChangedNotificationSchema, async () => set.update(await client.listTools()));
 * ```
 */
export class ToolSet {
  readonly #kept = new KeptSet();
  /** What was handed out, by the options; the one used last comes last. */
  readonly #ready = new Map<string, HandedOut>();

  /**
   * @param tools - A list of tools, as {@link sanitizeTools} takes it: a value or JSON text.
   * @throws {@link ToolwireError} `invalid-request` if it is no list of tools, `invalid-json`, `invalid-value`, `too-deep`.
   */
  constructor(tools: unknown) {
    this.#kept.take('new ToolSet', tools);
  }

  /** How many tools it has, those that an API runs itself included. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * Takes another list in place of this one. `false`: it says the same, and all that was made stays.
   *
   * @throws {@link ToolwireError} as the constructor; the list stays what it was then.
   */
  update(tools: unknown): boolean {
    return this.#changed(this.#kept.take('update', tools));
  }

  /**
   * What {@link sanitizeTools} gives for this list, and its JSON text: made by the first call with such options, the same frozen
   * objects after that.
   *
   * If tools were set aside, `console.warn` names them as {@link sanitizeTools} does it, when the list is made. A function as
   * `onSetAside` is called every time.
   *
   * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `not-representable` if tools
   *   have to be set aside and `onSetAside` is `"error"`.
   */
  sanitize<O extends ToolsOptions>(options: O): ReadyTools<ToolFor<O>> {
    const given = withoutHandler(options);
    const handler = handlerOf(options?.onSetAside);
    // The function reads which tools are missing: a list for a caller who has none must still warn of them.
    const key = keyOf([handler !== undefined, given]);
    const known = key === undefined ? undefined : this.#ready.get(key);
    const handedOut = known ?? this.#made(given, key);
    const { ready, warning } = handedOut;
    if (warning !== undefined) {
      if (handler !== undefined) handler(ready.quarantined, { dialect: options.dialect });
      // Reading `quarantined` once is enough while the list stays the same.
      else if (!handedOut.isWatched) warnUnless(() => handedOut.isRead, warning);
      handedOut.isWatched = true;
    }
    return ready as ReadyTools<ToolFor<O>>;
  }

  /** Makes the list for some options, and keeps it under their key. */
  #made(options: unknown, key: string | undefined): HandedOut {
    const made = this.#kept.ready(options);
    // A copy, of what JSON has a spelling for: what the caller does with the options later must not change what was made for them.
    const ready = handOut(made, JSON.parse(JSON.stringify(options)));
    if (key !== undefined) {
      if (this.#ready.size >= MOST) for (const oldest of this.#ready.keys()) if (this.#ready.delete(oldest)) break;
      this.#ready.set(key, ready);
    }
    return ready;
  }

  #changed(is: boolean): boolean {
    if (is) this.#ready.clear();
    return is;
  }
}

/** The most different options that lists are kept for. */
const MOST = 16;

/** Options as text; `undefined` if they are for the other side to refuse. */
function keyOf(options: unknown): string | undefined {
  try {
    return JSON.stringify(options, spelled);
  } catch {
    return undefined;
  }
}

/** What JSON has no spelling for is not to look like what it has one for. */
function spelled(_: string, value: unknown): unknown {
  const isJson =
    typeof value === 'number' ? Number.isFinite(value) : typeof value !== 'function' && typeof value !== 'symbol';
  return isJson ? value : { no: String(value) };
}

/** A list as it is returned, and the warning of its missing tools. */
interface HandedOut {
  readonly ready: ReadyTools<unknown>;
  readonly warning: SetAsideWarning | undefined;
  /** Whether `quarantined` was read. */
  isRead: boolean;
  /** Whether the warning was shown, or will be at the end of the turn. */
  isWatched: boolean;
}

/**
 * What is handed out. Everything but the list's text is made when it is first read: an agent that writes its own body reads that and
 * `restore`, and nothing else. What has become of the set by then, and of the caller's options, makes no difference.
 */
function handOut(made: Ready, options: unknown): HandedOut {
  const { json, quarantined, lossless, restore, warning, list } = made;
  const tools = once(() => frozen(JSON.parse(json)));
  const setAside = once(() => frozen(JSON.parse(quarantined)));
  const changes = once(() => frozen(changesOf(list, options)));
  const restorer = once(() => Object.freeze(new Restore(JSON.parse(restore))) as Restore);
  const ready = Object.freeze({
    get tools() {
      return tools() as unknown[];
    },
    json,
    get quarantined() {
      handed.isRead = true;
      return setAside() as Quarantined[];
    },
    get changes() {
      return changes() as ToolChange[];
    },
    lossless,
    get restore() {
      return restorer();
    },
  });
  const told = warning === undefined ? undefined : (JSON.parse(warning) as SetAsideWarning);
  const handed: HandedOut = { ready, warning: told, isRead: false, isWatched: false };
  return handed;
}

/** The same value, which came from JSON text, frozen all the way down; without recursion, for it may be deep. */
function frozen(value: object): object {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const one = rest.pop();
    if (typeof one !== 'object' || one === null) continue;
    Object.freeze(one);
    for (const inner of Object.values(one)) rest.push(inner);
  }
  return value;
}
