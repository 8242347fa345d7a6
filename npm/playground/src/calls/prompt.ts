/** What a model reads of a request, in the order in which it reads it, and how much of that a prompt cache has. */

import type { Item } from './turns.js';
import { namesOf } from './words.js';

interface Entry {
  part: number;
  pointer: string;
  text: string;
}

export type Prompt = readonly Entry[];

/** Tools, then instructions, then messages: providers hash a prompt so, whatever the order of the request's members. */
const PARTS = [['tools'], ['instructions', 'system'], ['messages', 'input']] as const;
export const MESSAGES = 2;

export function promptOf(request: Item): Prompt {
  // A provider that defers a tool itself shows its definition where it is loaded, and not before.
  const deferred = new Map(entriesOf(request.tools).flatMap(waiting));
  const textOf = (entry: unknown, part: number): string[] => {
    if (part === 0) return isDeferred(entry) ? [] : [JSON.stringify(atOnce(entry as Item))];
    const loaded = part === MESSAGES ? referred(entry).map((name) => taken(deferred, name)) : [];
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

function waiting(tool: unknown): [string, string][] {
  return isDeferred(tool) ? namesOf(tool as Item).map((name) => [name, JSON.stringify(tool)]) : [];
}

/** A definition is shown where it is loaded first. */
function taken(deferred: Map<string, string>, name: string): string {
  const text = deferred.get(name) ?? '';
  deferred.delete(name);
  return text;
}

/** A namespace without its members that wait. */
function atOnce(tool: Item): Item {
  const { tools } = tool ?? {};
  return Array.isArray(tools) && tools.some(isDeferred)
    ? { ...tool, tools: tools.filter((member) => !isDeferred(member)) }
    : tool;
}

/** The names of the tools that a message refers to, and with that loads. */
function referred(block: unknown): string[] {
  if (Array.isArray(block)) return block.flatMap(referred);
  if (typeof block !== 'object' || block === null) return [];
  const { type, tool_name, name, content, tool, tool_references } = block as Item;
  if (type === 'tool_removal') return [];
  if (type === 'tool_reference') return [String(tool_name ?? name)];
  return [content, tool, tool_references].flatMap(referred);
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
  /** Where the prompt parts from the one before; `undefined`: all of that begins this one. */
  partsAt: string | undefined;
  /** The first message that is not as it was. */
  firstMessage: number;
}

export function growthOf(before: Prompt, now: Prompt): Growth {
  const common = commonOf(before, now);
  const parted = [now[common], before[common]].filter((entry) => entry !== undefined);
  // What is gone may have stood before what stands there now.
  const first = parted.toSorted((one, other) => one.part - other.part)[0];
  return {
    bytes: bytesOf(now),
    newBytes: bytesOf(now.slice(common)),
    partsAt: common < before.length ? first?.pointer : undefined,
    // Messages that stay as they were are no news, even if a cache ends before them.
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

function same(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.part === other?.part && one?.text === other?.text;
}

const encoder = new TextEncoder();
function bytesOf(prompt: Prompt): number {
  return prompt.reduce((sum, { text }) => sum + encoder.encode(text).length, 0);
}
