import { once } from './engine/call.js';
import { handlerOf, type SetAsideWarning, warnUnless, withoutHandler } from './engine/set-aside.js';
import { changesOf, type ListResults, StoredSet } from './engine/sets.js';
import type { ToolsOptions } from './options.js';
import type { Quarantined, ToolChange } from './report.js';
import { Restore } from './restore.js';
import type { ToolFor } from './tool-types.js';
import type { SanitizedTools } from './tools.js';

/**
 * A tool list that an API accepts, computed once. It is deeply frozen, because every caller receives the same objects. All members except
 * `json` and `lossless` are computed when they are first read.
 *
 * The type is not `readonly`, because the SDKs accept no `readonly` lists. Changing the list throws a `TypeError`: change a copy.
 */
export interface ReadyTools<T> extends Readonly<Omit<SanitizedTools<T[]>, 'restore'>> {
  /** The tools as compact JSON text, to be spliced into a request. */
  readonly json: string;
  /** Restores the model's calls for the tools' own servers. */
  readonly restore: Restore;
}

/**
 * A tool list that is sent with every request. It is sanitized once for each dialect; later calls return the same objects.
 *
 * The set copies the list: changing the list that was passed in has no effect. {@link update} accepts the list that
 * `tools/list_changed` announces.
 *
 * Each set has its own WebAssembly memory, about one megabyte plus the size of the list, which is freed with the set.
 *
 * @example
 * ```ts
 * const set = new ToolSet(await client.listTools());
 * const { tools, restore } = set.sanitize({ dialect: 'moonshot' }); // again and again: the same objects
 * client.setNotificationHandler(ToolListChangedNotificationSchema, async () => set.update(await client.listTools()));
 * ```
 */
export class ToolSet {
  readonly #stored = new StoredSet();
  /** The lists that were returned, by their options; the most recently used is last. */
  readonly #cache = new Map<string, CachedList>();

  /**
   * @param tools - A tool list in any form that {@link sanitizeTools} accepts: a value or JSON text.
   * @throws {@link ToolwireError} `invalid-request` if it is not a tool list, `invalid-json`, `invalid-value`, `too-deep`.
   */
  constructor(tools: unknown) {
    this.#stored.store('new ToolSet', tools);
  }

  /** Number of tools, including those that an API runs itself. */
  get size(): number {
    return this.#stored.size;
  }

  /**
   * Replaces the list. Returns `false` if the new list is equal to the old one, in which case all results are kept.
   *
   * @throws {@link ToolwireError} as the constructor; the list then stays unchanged.
   */
  update(tools: unknown): boolean {
    return this.#clearIfChanged(this.#stored.store('update', tools));
  }

  /**
   * Returns the result of {@link sanitizeTools} for this list, and its JSON text. The first call with some options computes it; later
   * calls with the same options return the same frozen objects.
   *
   * If tools were set aside, `console.warn` names them when the list is computed, as in {@link sanitizeTools}. A function as
   * `onSetAside` is called every time.
   *
   * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `not-representable` if tools
   *   have to be set aside and `onSetAside` is `"error"`.
   */
  sanitize<O extends ToolsOptions>(options: O): ReadyTools<ToolFor<O>> {
    const coreOptions = withoutHandler(options);
    const handler = handlerOf(options?.onSetAside);
    // A handler replaces the warning, so calls with and without a handler have separate entries.
    const key = keyOf([handler !== undefined, coreOptions]);
    const cached = key === undefined ? undefined : this.#cache.get(key);
    const list = cached ?? this.#compute(coreOptions, key);
    const { ready, warning } = list;
    if (warning !== undefined) {
      if (handler !== undefined) handler(ready.quarantined, { dialect: options.dialect });
      // Reading `quarantined` once suppresses the warning until the list changes.
      else if (!list.isWatched) warnUnless(() => list.isRead, warning);
      list.isWatched = true;
    }
    return ready as ReadyTools<ToolFor<O>>;
  }

  /** Computes the list for some options, and keeps it under their key. */
  #compute(options: unknown, key: string | undefined): CachedList {
    const results = this.#stored.resultsFor(options);
    // A JSON copy, because later changes of the caller's options must not affect this result.
    const list = toCachedList(results, JSON.parse(JSON.stringify(options)));
    if (key !== undefined) {
      if (this.#cache.size >= MAX_READY) for (const oldest of this.#cache.keys()) if (this.#cache.delete(oldest)) break;
      this.#cache.set(key, list);
    }
    return list;
  }

  #clearIfChanged(isChanged: boolean): boolean {
    if (isChanged) this.#cache.clear();
    return isChanged;
  }
}

/** Maximum number of different options for which lists are kept. */
const MAX_READY = 16;

/** Returns options as text; `undefined` if they cannot be serialized. The core then refuses them. */
function keyOf(options: unknown): string | undefined {
  try {
    return JSON.stringify(options, markNonJson);
  } catch {
    return undefined;
  }
}

/** Replaces values that JSON cannot express, such as NaN or a function, so that their keys differ from all others. */
function markNonJson(_: string, value: unknown): unknown {
  const isJson =
    typeof value === 'number' ? Number.isFinite(value) : typeof value !== 'function' && typeof value !== 'symbol';
  return isJson ? value : { no: String(value) };
}

/** A list as it is returned, and the warning about its missing tools. */
interface CachedList {
  readonly ready: ReadyTools<unknown>;
  readonly warning: SetAsideWarning | undefined;
  /** True if `quarantined` was read. */
  isRead: boolean;
  /** True if the warning was shown, or will be at the end of the turn. */
  isWatched: boolean;
}

/**
 * Returns the object for the caller. All members except the list's text are computed when they are first read, because an agent that
 * writes its request body itself reads only `json` and `restore`. Later changes of the set or of the caller's options have no effect.
 */
function toCachedList(results: ListResults, options: unknown): CachedList {
  const { json, quarantined, lossless, restore, warning, list } = results;
  const tools = once(() => deepFreeze(JSON.parse(json)));
  const setAside = once(() => deepFreeze(JSON.parse(quarantined)));
  const changes = once(() => deepFreeze(changesOf(list, options)));
  const restorer = once(() => Object.freeze(new Restore(JSON.parse(restore))) as Restore);
  const ready = Object.freeze({
    get tools() {
      return tools() as unknown[];
    },
    json,
    get quarantined() {
      cachedList.isRead = true;
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
  const parsed = warning === undefined ? undefined : (JSON.parse(warning) as SetAsideWarning);
  const cachedList: CachedList = { ready, warning: parsed, isRead: false, isWatched: false };
  return cachedList;
}

/** Deeply freezes a value that came from JSON text. It does not recurse, because the value may be deeply nested. */
function deepFreeze(value: object): object {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const item = pending.pop();
    if (typeof item !== 'object' || item === null) continue;
    Object.freeze(item);
    for (const member of Object.values(item)) pending.push(member);
  }
  return value;
}
