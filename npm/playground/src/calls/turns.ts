/**
 * Splits a request's history into turns: each turn ends at the end of an earlier request of the
 * client. Deferred tools have no effect.
 */

import { applyDeferredLoading, type DeferredOptions, ToolwireError } from 'toolwire/slim';

export type Item = { readonly [name: string]: unknown };

export interface Turns {
  /** The member that holds the history. */
  member: 'messages' | 'input';
  request: Item;
  items: readonly Item[];
  /** Number of items of the history in each turn's request. The last turn is the request itself. */
  ends: readonly number[];
  /** Number of earlier turns that are not shown. Their items are in the first turn that is shown. */
  skipped: number;
}

/**
 * Maximum number of turns that are shown: the last ones, because each turn is a request with the
 * whole history up to it.
 */
export const MAX_TURNS = 200;
/** Maximum size of the requests of all turns that are shown, in characters. */
const MAX_TEXT = 32_000_000;

/** Returns the turns of a request; `undefined` if the text is not a request with a history. */
export function turnsOf(text: string): Turns | undefined {
  const request = parsed(text);
  const member = (['input', 'messages'] as const).find((name) => (request?.[name] ?? null) !== null);
  if (request === undefined || member === undefined || !Array.isArray(request[member])) return undefined;
  const items = objects(request[member]);
  const ends = items.flatMap((item, at) => (at > 0 && isOfModel(item) && !isOfModel(items[at - 1]) ? [at] : []));
  ends.push(items.length);
  const skipped = Math.max(0, ends.length - Math.min(MAX_TURNS, countFitting(text.length, items, ends)));
  return { member, request, items, ends: ends.slice(skipped), skipped };
}

/** Returns the number of last turns that fit into the maximum size together, but at least 1. */
function countFitting(length: number, items: readonly Item[], ends: readonly number[]): number {
  let left = MAX_TEXT;
  let size = length;
  for (let turns = 0; turns < ends.length; turns++) {
    left -= size;
    if (left < 0) return Math.max(1, turns);
    const end = ends.at(-turns - 1);
    for (const item of items.slice(ends.at(-turns - 2), end)) size -= JSON.stringify(item).length;
  }
  return ends.length;
}

/**
 * Returns the format of the whole request as toolwire detects it, because the beginning of a history may not reveal it. Returns
 * `undefined` if toolwire detects none; replaying the request then reports the reason.
 */
export function formatOf({ request }: Turns, options: DeferredOptions): DeferredOptions['format'] {
  try {
    const { restore } = applyDeferredLoading(request as object, options);
    return restore.toJSON().format as DeferredOptions['format'];
  } catch (error) {
    if (error instanceof ToolwireError) return undefined;
    throw error;
  }
}

/** Returns the request of a turn, as the client sent it. */
export function requestOf({ request, member, items, ends }: Turns, turn: number): Item {
  const whole = turn === ends.length - 1;
  const { tool_choice: _, ...rest } = request;
  // Only the last turn keeps the tool choice. The choices of earlier requests are unknown.
  return { ...(whole ? request : rest), [member]: items.slice(0, ends[turn]) };
}

/** Returns the items that the history gained since the previous turn. */
export function itemsOf({ items, ends }: Turns, turn: number): readonly Item[] {
  return items.slice(turn === 0 ? 0 : ends[turn - 1], ends[turn]);
}

/** Returns the objects in a list; an empty list if it is not a list. */
export function objects(list: unknown): Item[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'object' && each !== null) : [];
}

function parsed(text: string): Item | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Item) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true if the model, or the API on its behalf, wrote an item. */
function isOfModel(item: Item | undefined): boolean {
  if (typeof item?.role === 'string') return item.role === 'assistant';
  if (typeof item?.type !== 'string') return false;
  // After a hosted search the model continues. Such a search has no call to answer, and may lack `execution`.
  const hosted = item.type.startsWith('tool_search_') && typeof item.call_id !== 'string';
  if ((item.execution ?? (hosted ? 'server' : 'client')) === 'server') return true;
  return !item.type.endsWith('_output') && item.type !== 'mcp_approval_response' && item.type !== 'additional_tools';
}
