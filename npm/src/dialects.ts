import { callOnValues } from './engine/call.js';
import type { DialectDescription } from './report.js';

/**
 * Returns all known facts about each dialect, with date, source and confidence.
 *
 * @example
 * ```ts
 * console.table(dialects().map(({ name, surface, asOf }) => ({ name, surface, asOf })));
 * ```
 */
export function dialects(): DialectDescription[] {
  return callOnValues('dialects', [], null).value as DialectDescription[];
}
