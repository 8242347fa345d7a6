/** Reports tools that are set aside: to the caller's function, or once for each list by `console.warn`. */

import type { Quarantined } from '../report.js';

/** The core's warning of missing tools. */
export interface SetAsideWarning {
  message: string;
  /** Equal for equal tools, dialect and reasons. */
  key: string;
}

const shownKeys = new Set<string>();
/** Maximum number of keys. It bounds the memory of a long-running program with many lists. */
const MAX_SHOWN = 256;

/** Shows a warning once. */
export function warn({ key, message }: SetAsideWarning): void {
  if (shownKeys.has(key)) return;
  if (shownKeys.size >= MAX_SHOWN) shownKeys.clear();
  shownKeys.add(key);
  globalThis.console?.warn(`toolwire: ${message}`);
}

/** Returns the options for the core: a function as `onSetAside` is replaced by `"warn"`, because only the caller's side can call it. */
export function withoutHandler<O extends { onSetAside?: unknown }>(options: O): unknown {
  return typeof options?.onSetAside === 'function' ? { ...options, onSetAside: 'warn' } : options;
}

/** Returns the option if it is a function. */
export function handlerOf<H extends (tools: Quarantined[], ...more: never[]) => void>(
  onSetAside: string | H | undefined | null,
): H | undefined {
  return typeof onSetAside === 'function' ? onSetAside : undefined;
}

/**
 * Warns at the end of the current turn unless the caller has read `quarantined` by then. It waits because destructuring reads `tools`
 * first.
 */
export function warnUnless(isRead: () => boolean, warning: SetAsideWarning): void {
  void Promise.resolve().then(() => {
    if (!isRead()) warn(warning);
  });
}

/**
 * Calls {@link warnUnless} for reads of an object's `quarantined`: by name, by spreading or by `JSON.stringify`. The property stays
 * enumerable, and has a getter until it is read or the turn ends.
 */
export function warnUnlessRead(result: { quarantined: Quarantined[] }, warning: SetAsideWarning): void {
  // The warning was shown before.
  if (shownKeys.has(warning.key)) return;
  const { quarantined } = result;
  let isRead = false;
  const restoreProperty = (value: Quarantined[]) => {
    // The caller may have frozen the object or replaced the property.
    if (Object.getOwnPropertyDescriptor(result, 'quarantined')?.get !== get) return;
    if (Object.isSealed(result)) return;
    Object.defineProperty(result, 'quarantined', { value, writable: true, enumerable: true, configurable: true });
  };
  const get = () => {
    isRead = true;
    restoreProperty(quarantined);
    return quarantined;
  };
  Object.defineProperty(result, 'quarantined', { get, set: restoreProperty, enumerable: true, configurable: true });
  warnUnless(() => {
    restoreProperty(quarantined);
    return isRead;
  }, warning);
}
