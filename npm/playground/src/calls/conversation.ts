/** A conversation played on two backends: what each of them is sent, and what its model sees, turn by turn. */

import { applyDeferredLoading, applyDeferredLoadingWithReport, type DeferredOptions } from 'toolwire/search';

import type { DeferredChoice } from '../state/shared.js';
import { type Backend, type BackendId, backendOf } from './backends.js';
import { type Note, noteOfError } from './note.js';
import { growthOf, isDeferred, type Prompt, promptOf } from './prompt.js';
import { type Item, itemsOf, objects, type RequestFormat, requestOf, type Turns, turnsOf } from './turns.js';
import { gistOf, namesOf, type Words, wordsOf } from './words.js';

/** A tool that the model can call. */
export interface Seen {
  name: string;
  /** It stands in `tools`; else the history brings it. */
  listed: boolean;
}

/** A message as it is sent. */
export interface Sent extends Words {
  /** The texts in it that are toolwire's, and nobody's in the client's own request. */
  notices: Set<string>;
}

export interface Turn {
  /** The request as it is sent. */
  after: string;
  tools: Seen[];
  hidden: string[];
  came: string[];
  went: string[];
  messages: Sent[];
  /** The first message that the turn before did not have. */
  firstMessage: number;
  savedBytes: number;
  promptBytes: number;
  newBytes: number;
  /** Where the prompt parts from the one before; `undefined`: it begins with all of that. */
  partsAt: string | undefined;
  /** What the header has to name. */
  betas: readonly string[];
  warnings: string[];
  unreachable: boolean;
}

/** What one backend makes of the conversation. */
export interface Side {
  backend: Backend;
  turns: Turn[];
  /** Why it cannot be had. */
  failed: Note | undefined;
}

export interface Conversation {
  format: RequestFormat;
  /** What has been said since the turn before, in a few words. */
  gists: string[];
  sides: readonly [Side, Side];
  /** Every tool that either side has at some time. */
  names: string[];
}

/** `undefined`: not a request with a history. */
export function conversationOf(
  text: string,
  backends: readonly [BackendId, BackendId],
  options: DeferredChoice,
): Conversation | undefined {
  const turns = turnsOf(text);
  if (turns === undefined) return undefined;
  const play = (id: BackendId) => playedOn(turns, backendOf(id), options);
  const sides = [play(backends[0]), play(backends[1])] as const;
  const told = sides.flatMap(({ turns }) => turns.map(({ tools, hidden }) => [...tools.map(nameOf), ...hidden]));
  return {
    format: turns.format,
    gists: turns.ends.map((_, at) => gistOf(itemsOf(turns, at).map(wordsOf))),
    sides,
    names: [...new Set(told.flat())],
  };
}

export function playedOn(turns: Turns, backend: Backend, options: DeferredChoice): Side {
  const played: Turn[] = [];
  let prompt: Prompt = [];
  const texts = stringsOf(turns.request, new Set());
  try {
    for (let at = 0; at < turns.ends.length; at++) {
      const asked = { ...options, ...backend.options, format: turns.format };
      const { request, report } = applyDeferredLoadingWithReport(requestOf(turns, at) as object, asked);
      const after = request as unknown as Item;
      const next = promptOf(after);
      const { bytes, newBytes, partsAt, firstMessage } = growthOf(prompt, next);
      prompt = next;
      const tools = seen(after, backend, turns.format);
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
          const says = code.replaceAll('_', ' ');
          return name === undefined ? says : `${says}: ${name}`;
        }),
        unreachable: report.unreachable,
      });
    }
    return { backend, turns: played, failed: undefined };
  } catch (error) {
    return { backend, turns: [], failed: noteOfError(error) };
  }
}

/** What the model can call. Where the backend defers tools itself, toolwire plays its part: nothing is decided here. */
function seen(after: Item, { options }: Backend, format: RequestFormat): Seen[] {
  const listed = new Set(listedIn(after));
  if (options.native === undefined) return [...listed].map((name) => ({ name, listed: true }));
  const played: DeferredOptions = {
    format: options.target ?? format,
    // The provider's search is one of the tools, and a choice loads none there.
    serverToolSearch: 'emulate',
    forcedTool: 'auto',
  };
  const names = listedIn(applyDeferredLoading(after as object, played) as unknown as Item);
  return [...new Set(names)].map((name) => ({ name, listed: listed.has(name) }));
}

function listedIn(request: Item): string[] {
  return objects(request.tools)
    .filter((tool) => !isDeferred(tool))
    .flatMap(namesOf);
}

function missing(one: readonly Seen[], other: readonly Seen[]): string[] {
  const names = new Set(other.map(nameOf));
  return one.map(nameOf).filter((name) => !names.has(name));
}

function nameOf({ name }: Seen): string {
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

/** Whether the client wrote a text. Several of its texts may have become one, with blank lines between them. */
function isOf(text: string, texts: ReadonlySet<string>): boolean {
  return texts.has(text) || text.split('\n\n').some((paragraph) => texts.has(paragraph));
}

function stringsOf(value: unknown, found: Set<string>): Set<string> {
  if (typeof value === 'string') found.add(value);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) stringsOf(each, found);
  return found;
}
