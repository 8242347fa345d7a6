/** Messages of any format in readable form: the speaker, text and calls, and tools that are added and removed. */

import { type Item, objects } from './turns.js';

/** `brings` adds tools with their definitions, `takes` removes them, `refers` refers to them by name. */
export type PieceKind = 'text' | 'call' | 'brings' | 'takes' | 'refers' | 'other';

export interface Piece {
  kind: PieceKind;
  text: string;
  /** The tools that the piece is about. */
  names: string[];
}

export interface Words {
  /** The role, as the format names it. */
  who: string;
  pieces: Piece[];
}

export function wordsOf(item: unknown): Words {
  if (typeof item === 'string') return { who: 'user', pieces: textOf(item) };
  if (typeof item !== 'object' || item === null) return { who: 'user', pieces: [] };
  const { role, type, content, tool_calls } = item as Item;
  const calls = objects(tool_calls).map((call) => callOf((call.function ?? call.custom ?? call) as Item));
  const own = role === undefined || content === undefined || content === null ? itemOf(item as Item) : [];
  return { who: whoOf(role, type), pieces: [...own, ...partsOf(content), ...calls] };
}

/** Returns a tool's name, or its type if it has no name. For a namespace, returns the names of its members. */
export function namesOf(tool: Item): string[] {
  if (Array.isArray(tool.tools)) return objects(tool.tools).flatMap(namesOf);
  const within = (tool.function ?? tool.custom) as Item | undefined;
  const name = tool.name ?? within?.name ?? tool.type;
  return typeof name === 'string' ? [name] : [];
}

function whoOf(role: unknown, type: unknown): string {
  if (typeof role === 'string') return role;
  if (typeof type !== 'string') return 'user';
  return type.endsWith('_output') ? 'tool' : 'assistant';
}

/** Returns the pieces of an item of Responses, or of a message that only contains tools. */
function itemOf(item: Item): Piece[] {
  const { type, output, tools } = item;
  if (type === 'tool_search_call') return [callOf({ name: 'tool_search', arguments: item.arguments })];
  if (type === 'function_call' || type === 'custom_tool_call') return [callOf(item)];
  if (Array.isArray(tools)) return [{ kind: 'brings', text: '', names: objects(tools).flatMap(namesOf) }];
  if (output !== undefined) return partsOf(output);
  return typeof type === 'string' && type !== 'message' ? [{ kind: 'other', text: type, names: [] }] : [];
}

function partsOf(content: unknown): Piece[] {
  if (typeof content === 'string') return textOf(content);
  return objects(content).flatMap(partOf);
}

function partOf(part: Item): Piece[] {
  const { type, text, tool } = part;
  if (typeof text === 'string') return textOf(text);
  switch (type) {
    case 'tool_use':
    case 'server_tool_use':
      return [callOf(part)];
    case 'tool_reference':
      return [{ kind: 'refers', text: '', names: [String(part.tool_name)] }];
    case 'tool_addition':
    case 'tool_removal': {
      const about = tool as Item | undefined;
      const names = namesOf((about?.definition ?? about ?? {}) as Item);
      return [{ kind: type === 'tool_removal' ? 'takes' : about?.definition ? 'brings' : 'refers', text: '', names }];
    }
  }
  const inner = part.content;
  if (typeof inner === 'string' || Array.isArray(inner)) return partsOf(inner);
  if (typeof inner === 'object' && inner !== null) return partsOf((inner as Item).tool_references);
  return typeof type === 'string' ? [{ kind: 'other', text: type, names: [] }] : [];
}

function textOf(text: string): Piece[] {
  return text === '' ? [] : [{ kind: 'text', text, names: [] }];
}

function callOf(call: Item): Piece {
  const given = call.arguments ?? call.input ?? {};
  return {
    kind: 'call',
    text: `${call.name}(${typeof given === 'string' ? given : JSON.stringify(given)})`,
    names: [String(call.name)],
  };
}

/** Summarizes a turn in two or three words: the user's text, the number of changed tools, or the called tool. */
export function gistOf(since: readonly Words[]): string {
  const pieces = since.flatMap(({ pieces }) => pieces);
  const question = since.findLast(({ who }) => who === 'user')?.pieces.findLast(({ kind }) => kind === 'text')?.text;
  const changed = pieces.reduce(
    (sum, { kind, names }) => sum + (['brings', 'refers', 'takes'].includes(kind) ? names.length : 0),
    0,
  );
  const called = pieces.findLast(({ kind }) => kind === 'call');
  if (called === undefined && question !== undefined) return question;
  if (changed > 0) return `${changed} tool${changed === 1 ? '' : 's'}`;
  return called?.names[0] ?? pieces[0]?.text ?? '';
}
