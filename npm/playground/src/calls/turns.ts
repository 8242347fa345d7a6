/** A request as the conversation that led to it: where each of its requests ended. Knows nothing of deferred tools. */

import { applyDeferredLoading, type DeferredOptions, ToolwireError } from 'toolwire';

export type Item = { readonly [name: string]: unknown };

export interface Turns {
  /** The member that holds the history. */
  member: 'messages' | 'input';
  request: Item;
  items: readonly Item[];
  /** How many items of the history each turn's request has. The last turn is the request itself. */
  ends: readonly number[];
  /** How many turns there were before: the first one shown has what they have said. */
  skipped: number;
}

/** Every turn is a request of its own, each as long as the history until then: the last ones of a conversation. */
export const MOST_TURNS = 200;
/** Maximum size of the requests of all turns that are shown, in characters. */
const MOST_TEXT = 32_000_000;

/** `undefined`: not a request with a history. */
export function turnsOf(text: string): Turns | undefined {
  const request = parsed(text);
  const member = (['input', 'messages'] as const).find((name) => (request?.[name] ?? null) !== null);
  if (request === undefined || member === undefined || !Array.isArray(request[member])) return undefined;
  const items = objects(request[member]);
  const ends = items.flatMap((item, at) => (at > 0 && byModel(item) && !byModel(items[at - 1]) ? [at] : []));
  ends.push(items.length);
  const skipped = Math.max(0, ends.length - Math.min(MOST_TURNS, fitting(text.length, items, ends)));
  return { member, request, items, ends: ends.slice(skipped), skipped };
}

/** How many of the last turns have requests that together are not too large. The last one is always shown. */
function fitting(length: number, items: readonly Item[], ends: readonly number[]): number {
  let left = MOST_TEXT;
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
 * The format of the whole request, as toolwire reads it: the beginning of a history may not show it. `undefined`: it
 * reads none, and whoever plays the request hears why.
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

/** The request of a turn, as the client has sent it. */
export function requestOf({ request, member, items, ends }: Turns, turn: number): Item {
  const whole = turn === ends.length - 1;
  const { tool_choice: _, ...rest } = request;
  // What the last request demands of the model, nobody demanded before.
  return { ...(whole ? request : rest), [member]: items.slice(0, ends[turn]) };
}

/** What a request's history has gained since the turn before. */
export function itemsOf({ items, ends }: Turns, turn: number): readonly Item[] {
  return items.slice(turn === 0 ? 0 : ends[turn - 1], ends[turn]);
}

/** The objects of a list; nothing if it is none. */
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

/** Whether the model, or the API on its behalf, wrote an item. */
function byModel(item: Item | undefined): boolean {
  if (typeof item?.role === 'string') return item.role === 'assistant';
  if (typeof item?.type !== 'string') return false;
  // Where a hosted search ends, the model speaks on. It has no call to answer, and need not say who runs it.
  const hosted = item.type.startsWith('tool_search_') && typeof item.call_id !== 'string';
  if ((item.execution ?? (hosted ? 'server' : 'client')) === 'server') return true;
  return !item.type.endsWith('_output') && item.type !== 'mcp_approval_response' && item.type !== 'additional_tools';
}
