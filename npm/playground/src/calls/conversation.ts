/** A request as the conversation that led to it: what each of its requests would have sent, turn by turn. */

import { applyDeferredLoadingWithReport } from 'toolwire/search';

import type { DeferredChoice } from '../state/shared.js';

/** Something in the history, in words. */
export interface Said {
  who: 'user' | 'model' | 'tool';
  text: string;
  /** Whether it is a call. */
  call: boolean;
  /** The tools it refers to. */
  references: string[];
}

export interface Turn {
  /** What has been said since the turn before, and that in a few words. */
  said: Said[];
  gist: string;
  /** The request as the agent has it, and as it is sent. */
  before: string;
  after: string;
  hidden: Set<string>;
  /** The tools that are visible since this turn. */
  arrived: string[];
  /** Bytes of the tools that are sent, and of those that are not. */
  toolBytes: number;
  savedBytes: number;
  /** Bytes of the whole prompt, and how many of them a prompt cache has from the turn before. */
  promptBytes: number;
  cachedBytes: number;
  unreachable: boolean;
  warnings: string[];
}

export interface Conversation {
  /** Every tool by name, and whether it is one that waits. */
  tools: { name: string; deferred: boolean }[];
  turns: Turn[];
}

type Item = { [name: string]: unknown };

/** `undefined`: not a request with a history. Throws what toolwire throws. */
export function conversationOf(text: string, options: DeferredChoice): Conversation | undefined {
  const request = parsed(text);
  const member = ['messages', 'input', 'contents'].find((name) => Array.isArray(request?.[name]));
  if (request === undefined || member === undefined) return undefined;
  const items = request[member] as Item[];
  const tools = (Array.isArray(request.tools) ? (request.tools as Item[]) : []).flatMap(named);
  const turns: Turn[] = [];
  let from = 0;
  let prompt: string | undefined;
  for (let to = 1; to <= items.length; to++) {
    // A request goes out where the model is to speak next.
    if (byModel(items[to - 1]) || (to < items.length && !byModel(items[to]))) continue;
    const before = { ...request, [member]: items.slice(0, to) };
    const { request: after, report } = applyDeferredLoadingWithReport(before as unknown, options) as {
      request: Item;
      report: ReturnType<typeof applyDeferredLoadingWithReport>['report'];
    };
    const hidden = new Set(report.hidden);
    const past = turns.at(-1);
    const next = promptOf(after);
    const since = items.slice(from, to).flatMap(said);
    turns.push({
      said: since,
      gist: gistOf(since),
      before: JSON.stringify(before),
      after: JSON.stringify(after),
      hidden,
      arrived: past === undefined ? [] : [...past.hidden].filter((name) => !hidden.has(name)),
      toolBytes: bytes(JSON.stringify(after.tools ?? [])),
      savedBytes: report.savedBytes,
      promptBytes: bytes(next),
      cachedBytes: prompt === undefined ? 0 : bytes(next.slice(0, commonPrefix(prompt, next))),
      unreachable: report.unreachable,
      warnings: report.warnings.map(({ code, name }) => (name === undefined ? code : `${code}: ${name}`)),
    });
    prompt = next;
    from = to;
  }
  return { tools, turns };
}

function parsed(text: string): Item | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Item) : undefined;
  } catch {
    return undefined;
  }
}

function named(tool: Item): { name: string; deferred: boolean }[] {
  if (Array.isArray(tool.tools)) return (tool.tools as Item[]).flatMap(named);
  const name = tool.name ?? (tool.function as Item | undefined)?.name ?? tool.type;
  return typeof name === 'string' ? [{ name, deferred: tool.defer_loading === true }] : [];
}

/** Messages of the model, and the calls that OpenAI Responses has as items of their own. */
function byModel(item: Item | undefined): boolean {
  if (item === undefined) return false;
  if (typeof item.role === 'string') return item.role === 'assistant' || item.role === 'model';
  return typeof item.type === 'string' && !item.type.endsWith('_output') && item.type !== 'message';
}

/** Providers hash a prompt in this order, whatever the order of the request's members. */
function promptOf({ tools, system, instructions, messages, input, contents }: Item): string {
  return JSON.stringify([tools ?? [], system ?? instructions ?? null, messages ?? input ?? contents]);
}

function commonPrefix(one: string, two: string): number {
  let length = 0;
  while (length < one.length && one[length] === two[length]) length++;
  return length;
}

const encoder = new TextEncoder();
function bytes(text: string): number {
  return encoder.encode(text).length;
}

function said(item: Item): Said[] {
  const who = item.role === 'tool' ? 'tool' : byModel(item) ? 'model' : 'user';
  if (item.type === 'function_call') return [call('model', item.name, item.arguments)];
  if (item.type === 'function_call_output') return [content('tool', item.output)];
  const parts = Array.isArray(item.content) ? (item.content as Item[]) : [{ type: 'text', text: item.content }];
  const calls = Array.isArray(item.tool_calls) ? (item.tool_calls as { function?: Item }[]) : [];
  return [
    ...parts.flatMap((part) => {
      if (part.type === 'tool_use') return [call('model', part.name, part.input)];
      if (part.type === 'tool_result') return [content('tool', part.content)];
      return typeof part.text === 'string' && part.text !== ''
        ? [{ who, text: part.text, call: false, references: [] } as Said]
        : [];
    }),
    ...calls.map((each) => call('model', each.function?.name, each.function?.arguments)),
  ];
}

/** What a turn answers to: what the user says, what a search finds, what the model has called. */
function gistOf(since: readonly Said[]): string {
  const last = since.at(-1);
  if (last === undefined || last.who === 'user') return last?.text ?? '';
  const found = since.reduce((sum, { references }) => sum + references.length, 0);
  if (found > 0) return `${found} tool${found === 1 ? '' : 's'} found`;
  return since.findLast(({ who }) => who === 'model')?.text.replace(/\(.*/s, '') ?? '';
}

function call(who: Said['who'], name: unknown, args: unknown): Said {
  return {
    who,
    text: `${name}(${typeof args === 'string' ? args : JSON.stringify(args)})`,
    call: true,
    references: [],
  };
}

function content(who: Said['who'], value: unknown): Said {
  if (!Array.isArray(value))
    return { who, text: typeof value === 'string' ? value : JSON.stringify(value), call: false, references: [] };
  const parts = value as Item[];
  return {
    who,
    call: false,
    text: parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join(' '),
    references: parts.flatMap(({ type, tool_name }) =>
      type === 'tool_reference' && typeof tool_name === 'string' ? [tool_name] : [],
    ),
  };
}
