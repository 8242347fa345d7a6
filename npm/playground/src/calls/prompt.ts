/** The prompt of a model in reading order, and the part that a prompt cache already contains. */

import type { Item } from './turns.js';
import { namesOf } from './words.js';

interface Entry {
  part: number;
  pointer: string;
  text: string;
}

export type Prompt = readonly Entry[];

/** Providers hash a prompt in this order, regardless of the order of the request's members. */
const PARTS = [['tools'], ['instructions', 'system'], ['messages', 'input']] as const;
export const MESSAGES = 2;

export function promptOf(request: Item): Prompt {
  // A provider that defers tools itself inserts a definition only where the tool is loaded.
  const deferred = new Map(entriesOf(request.tools).flatMap(deferredDefinitions));
  const textOf = (entry: unknown, part: number): string[] => {
    if (part === 0) return isDeferred(entry) ? [] : [JSON.stringify(withoutDeferred(entry as Item))];
    const loaded = part === MESSAGES ? referredNames(entry).map((name) => takeDefinition(deferred, name)) : [];
    return [JSON.stringify(entry) + loaded.join('')];
  };
  return PARTS.flatMap((names, part) =>
    names.flatMap((name) =>
      entriesOf(request[name]).flatMap((entry, at) =>
        textOf(entry, part).map((text) => ({
          part,
          pointer: Array.isArray(request[name]) ? `/${name}/${at}` : `/${name}`,
          text,
        })),
      ),
    ),
  );
}

function deferredDefinitions(tool: unknown): [string, string][] {
  return isDeferred(tool) ? namesOf(tool as Item).map((name) => [name, JSON.stringify(tool)]) : [];
}

/** Returns a deferred definition when it is first loaded, and an empty string for later loads. */
function takeDefinition(deferred: Map<string, string>, name: string): string {
  const text = deferred.get(name) ?? '';
  deferred.delete(name);
  return text;
}

/** Returns a namespace without its deferred members. */
function withoutDeferred(tool: Item): Item {
  const { tools } = tool ?? {};
  return Array.isArray(tools) && tools.some(isDeferred)
    ? { ...tool, tools: tools.filter((member) => !isDeferred(member)) }
    : tool;
}

/** Returns the names of the tools that a message refers to and thereby loads. */
function referredNames(block: unknown): string[] {
  if (Array.isArray(block)) return block.flatMap(referredNames);
  if (typeof block !== 'object' || block === null) return [];
  const { type, tool_name, name, content, tool, tool_references } = block as Item;
  if (type === 'tool_removal') return [];
  if (type === 'tool_reference') return [String(tool_name ?? name)];
  return [content, tool, tool_references].flatMap(referredNames);
}

export function isDeferred(tool: unknown): boolean {
  const { defer_loading, function: within } = (tool ?? {}) as Item;
  return defer_loading === true || (within as Item | undefined)?.defer_loading === true;
}

function entriesOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

export interface Growth {
  bytes: number;
  newBytes: number;
  /** Pointer to the first difference from the previous prompt; `undefined` if the previous prompt is a prefix of this one. */
  partsAt: string | undefined;
  /** Index of the first message that is new or differs. */
  firstMessage: number;
}

export function growthOf(before: Prompt, now: Prompt): Growth {
  const common = commonOf(before, now);
  const parted = [now[common], before[common]].filter((entry) => entry !== undefined);
  // A removed entry may belong to an earlier part than the entry that is now at its index.
  const first = parted.toSorted((a, b) => a.part - b.part)[0];
  return {
    bytes: bytesOf(now),
    newBytes: bytesOf(now.slice(common)),
    partsAt: common < before.length ? first?.pointer : undefined,
    // Unchanged messages are not new, even if the cached prefix ends before them.
    firstMessage: commonOf(messagesOf(before), messagesOf(now)),
  };
}

function messagesOf(prompt: Prompt): Prompt {
  return prompt.filter(({ part }) => part === MESSAGES);
}

function commonOf(before: Prompt, now: Prompt): number {
  let length = 0;
  while (length < now.length && same(now[length], before[length])) length++;
  return length;
}

function same(entry: Entry | undefined, otherEntry: Entry | undefined): boolean {
  return entry?.part === otherEntry?.part && entry?.text === otherEntry?.text;
}

const encoder = new TextEncoder();
function bytesOf(prompt: Prompt): number {
  return prompt.reduce((sum, { text }) => sum + encoder.encode(text).length, 0);
}
