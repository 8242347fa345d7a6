/** How callers hear of tools that are set aside: by their function, or once for each list by `console.warn`. */

import type { Quarantined } from '../report.js';

/** What the core says of a list or a request in which tools are missing. */
export interface SetAsideWarning {
  message: string;
  /** The same for the same tools, dialect and reasons. */
  key: string;
}

/** The keys of warnings that were given. */
const given = new Set<string>();
/** How many are kept: a program that makes up new lists all the time must not grow with them. */
const MOST = 256;

/** Warns, unless that was done for the same tools. */
export function warn({ key, message }: SetAsideWarning): void {
  if (given.has(key)) return;
  if (given.size >= MOST) given.clear();
  given.add(key);
  globalThis.console?.warn(`toolwire: ${message}`);
}

/** Spells functions as JSON, in which they vanish: an option that must not be a function is an error, and not ignored. */
export function withoutFunctions(options: unknown): unknown {
  const entries: [string, unknown][] = Object.entries(options ?? {});
  if (!entries.some(([, value]) => typeof value === 'function')) return options;
  const said = ([name, value]: [string, unknown]) =>
    typeof value !== 'function' ? [name, value] : [name, name === 'onSetAside' ? 'warn' : 'a function'];
  return Object.fromEntries(entries.map(said));
}

/** A caller's function, if the option is one. */
export function handlerOf<H extends (tools: Quarantined[], ...more: never[]) => void>(
  onSetAside: string | H | undefined | null,
): H | undefined {
  return typeof onSetAside === 'function' ? onSetAside : undefined;
}

/**
 * Warns at the end of the current turn, unless the caller has read by then which tools are missing: destructuring reads `tools` first,
 * so nothing can be known before.
 */
export function warnUnless(isRead: () => boolean, warning: SetAsideWarning): void {
  void Promise.resolve().then(() => {
    if (!isRead()) warn(warning);
  });
}

/**
 * {@link warnUnless} `quarantined` of an object is read, in whatever way: by name, by spreading, by `JSON.stringify`, by comparing. It is
 * an enumerable property as before, with a getter until it is read or the turn ends.
 */
export function warnUnlessRead(result: { quarantined: Quarantined[] }, warning: SetAsideWarning): void {
  // Nobody would hear of it once more.
  if (given.has(warning.key)) return;
  const { quarantined } = result;
  let isRead = false;
  const plain = (value: Quarantined[]) => {
    // A caller may have frozen it, or put something else there.
    if (Object.getOwnPropertyDescriptor(result, 'quarantined')?.get !== get) return;
    if (Object.isSealed(result)) return;
    Object.defineProperty(result, 'quarantined', { value, writable: true, enumerable: true, configurable: true });
  };
  const get = () => {
    isRead = true;
    plain(quarantined);
    return quarantined;
  };
  Object.defineProperty(result, 'quarantined', { get, set: plain, enumerable: true, configurable: true });
  warnUnless(() => {
    plain(quarantined);
    return isRead;
  }, warning);
}
