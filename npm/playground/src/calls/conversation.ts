/** A conversation replayed on two backends: the request to each of them, and the tools that its model sees, turn by turn. */

import { applyDeferredLoading, type DeferredOptions } from 'toolwire/slim';

import type { DeferredChoice } from '../state/shared.js';
import { type Backend, type BackendId, backendOf } from './backends.js';
import { type Note, noteOfError } from './note.js';
import { growthOf, isDeferred, type Prompt, promptOf } from './prompt.js';
import { formatOf, type Item, itemsOf, objects, requestOf, type Turns, turnsOf } from './turns.js';
import { gistOf, namesOf, type Words, wordsOf } from './words.js';

/** A tool that the model can call. */
export interface CallableTool {
  name: string;
  /** True if the tool is in `tools`; false if the history adds it. */
  listed: boolean;
}

/** A message in the request that is sent. */
export interface Sent extends Words {
  /** Strings that toolwire added to the client's text. */
  notices: Set<string>;
}

export interface Turn {
  /** The request that is sent, as JSON text. */
  after: string;
  tools: CallableTool[];
  hidden: string[];
  came: string[];
  went: string[];
  messages: Sent[];
  /** Index of the first message that the previous turn did not contain. */
  firstMessage: number;
  savedBytes: number;
  promptBytes: number;
  newBytes: number;
  /** Pointer to the first difference from the previous prompt; `undefined` if the previous prompt is a prefix of this one. */
  partsAt: string | undefined;
  /** The betas that the header has to name. */
  betas: readonly string[];
  warnings: string[];
  unreachable: boolean;
}

/** A conversation on one backend. */
export interface Side {
  backend: Backend;
  turns: Turn[];
  /** The error, if the conversation cannot be translated. */
  failed: Note | undefined;
}

export interface Conversation {
  /** Number of earlier turns that are not shown. */
  skipped: number;
  /** For each turn, a short summary of the changes since the previous turn. */
  gists: string[];
  sides: readonly [Side, Side];
  /** All tools of both sides, in all turns. */
  names: string[];
}

/** Returns the notice that only the last turns of a long conversation are shown. */
export function shortened(shown: number, skipped: number): string {
  const text = `This conversation has ${shown + skipped} turns. The last ${shown} are shown`;
  return `${text}; the first of them contains everything before it.`;
}

export type Sight = 'hidden' | 'visible' | 'arrives';

/** Returns if a model sees a tool in a turn, and if the tool is new in this turn. */
export function sightOf({ turns }: Side, name: string, at: number): Sight {
  const turn = turns[at];
  if (!turn?.tools.some((tool) => tool.name === name)) return 'hidden';
  return at > 0 && turn.came.includes(name) ? 'arrives' : 'visible';
}

/** Returns the text alternative of a bar in the timeline. */
export function describeVisibility(side: Side, name: string, at: number): string {
  if (side.failed !== undefined) return `${side.backend.name}: not available`;
  const words = { hidden: 'not visible', visible: 'visible', arrives: 'visible from this turn on' };
  return `${side.backend.name}: ${words[sightOf(side, name, at)]}`;
}

/** Returns the explanation of the number of new bytes. */
export function describeGrowth({ promptBytes, partsAt }: Turn): string {
  const ends = partsAt === undefined ? '' : `: the prefix ends at ${partsAt}`;
  return `of ${promptBytes.toLocaleString('en')} bytes are new${ends}`;
}

/** Replays a conversation. Returns `undefined` if the text is not a request with a history. */
export function conversationOf(
  text: string,
  backends: readonly [BackendId, BackendId],
  options: DeferredChoice,
): Conversation | undefined {
  const turns = turnsOf(text);
  if (turns === undefined) return undefined;
  const play = (id: BackendId) => playedOn(turns, backendOf(id), options);
  const sides = [play(backends[0]), play(backends[1])] as const;
  const names = sides.flatMap(({ turns }) => turns.map(({ tools, hidden }) => [...tools.map(nameOf), ...hidden]));
  return {
    skipped: turns.skipped,
    gists: turns.ends.map((_, at) => gistOf(itemsOf(turns, at).map(wordsOf))),
    sides,
    names: [...new Set(names.flat())],
  };
}

export function playedOn(turns: Turns, backend: Backend, options: DeferredChoice): Side {
  const played: Turn[] = [];
  let prompt: Prompt = [];
  const texts = stringsOf(turns.request, new Set());
  try {
    const wanted: DeferredOptions = { ...options, ...backend.options };
    const format = formatOf(turns, wanted);
    for (let at = 0; at < turns.ends.length; at++) {
      const given = { ...wanted, ...(format && { format }) };
      const { request, report } = applyDeferredLoading(requestOf(turns, at) as object, given);
      const after = request as unknown as Item;
      const next = promptOf(after);
      const { bytes, newBytes, partsAt, firstMessage } = growthOf(prompt, next);
      prompt = next;
      const tools = callableTools(after, backend, format);
      const past = played.at(-1)?.tools ?? [];
      played.push({
        after: JSON.stringify(after),
        tools,
        hidden: [...report.hidden],
        came: missing(tools, past),
        went: missing(past, tools),
        messages: sent(after, texts),
        firstMessage,
        savedBytes: report.savedBytes,
        promptBytes: bytes,
        newBytes,
        partsAt,
        betas: report.betas ?? [],
        warnings: report.warnings.map(({ code, name }) => {
          const words = code.replaceAll('_', ' ');
          return name === undefined ? words : `${words}: ${name}`;
        }),
        unreachable: report.unreachable,
      });
    }
    return { backend, turns: played, failed: undefined };
  } catch (error) {
    return { backend, turns: [], failed: noteOfError(error) };
  }
}

/** Returns the tools that the model can call. If the backend defers tools itself, toolwire emulates the backend's decisions. */
function callableTools(after: Item, { options }: Backend, source: DeferredOptions['format']): CallableTool[] {
  const format = options.target ?? source;
  const { tools, input } = after;
  const inSpaces = objects(tools).some((tool) => Array.isArray(tool.tools));
  // Toolwire determines the names of tools in namespaces, from a request without a history.
  const listed = inSpaces
    ? callable({ tools, [input === undefined ? 'messages' : 'input']: [] }, format)
    : listedIn(after);
  const names = options.native === undefined ? listedIn(after) : callable(after, format);
  return [...new Set(names)].map((name) => ({ name, listed: listed.includes(name) }));
}

function callable(request: Item, format: DeferredOptions['target']): string[] {
  const played: DeferredOptions = {
    ...(format && { format }),
    // Emulates the provider's search as a tool, and lets a forced choice load nothing, as with the provider.
    serverToolSearch: 'emulate',
    forcedTool: 'auto',
  };
  return listedIn(applyDeferredLoading(request as object, played).request as unknown as Item);
}

function listedIn(request: Item): string[] {
  return objects(request.tools)
    .filter((tool) => !isDeferred(tool))
    .flatMap(namesOf);
}

function missing(tools: readonly CallableTool[], others: readonly CallableTool[]): string[] {
  const names = new Set(others.map(nameOf));
  return tools.map(nameOf).filter((name) => !names.has(name));
}

function nameOf({ name }: CallableTool): string {
  return name;
}

function sent({ messages, input }: Item, texts: ReadonlySet<string>): Sent[] {
  const list = messages ?? input;
  return (Array.isArray(list) ? list : [list]).map((message) => {
    const words = wordsOf(message);
    const own = words.pieces.filter(({ kind, text }) => kind === 'text' && !isOf(text, texts));
    return { ...words, notices: new Set(own.map(({ text }) => text)) };
  });
}

/** Returns true if the client wrote this text. It may consist of several strings of the client, with blank lines between them. */
function isOf(text: string, texts: ReadonlySet<string>): boolean {
  return texts.has(text) || text.split('\n\n').some((paragraph) => texts.has(paragraph));
}

function stringsOf(value: unknown, found: Set<string>): Set<string> {
  if (typeof value === 'string') found.add(value);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) stringsOf(each, found);
  return found;
}
