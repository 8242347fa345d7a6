/** The calls of the view "Restore": the schema that the model sees, and the arguments before and after restoring. */

import { type Dialect, dialects, type RestoredCall, restoreArguments, sanitize, sanitizeTools } from 'toolwire/slim';

import { type Difference, differencesOf } from '../document/differences.js';
import type { Document, Entry } from '../document/document.js';
import { layout } from '../document/layout.js';
import { Places } from '../document/tree.js';
import type { Options } from '../state/shared.js';
import { instanceOf } from './instance.js';
import { type Mark, marksOf, namedPlace } from './located.js';
import { type Note, noteOfError } from './note.js';
import { type Repaired, repairedOf } from './repaired.js';

export interface Restored {
  /** The tool's own schema. */
  own: string;
  /** The schema that the model sees. */
  seen: string | undefined;
  /** The name with which the model calls the tool. */
  seenName: string | undefined;
  /** The tool's name at its server. */
  ownName: string | undefined;
  /** The arguments that the user entered, or generated ones. */
  args: string;
  restored: string | undefined;
  same: boolean;
  /** The repairs and the remaining violations; `undefined` if repairing is switched off. */
  repaired: Repaired | undefined;
  /** The error, if the schema cannot be sent. */
  refused: Note | undefined;
  /** The error, if the arguments cannot be restored. */
  misread: Note | undefined;
  /** The ways in which this dialect may encode arguments. */
  encodes: string[];
}

/** Restored arguments as the page shows them, with marks at the repairs and at the differences from the model's arguments. */
export interface Shown extends Restored {
  /** The name of the tool to show. */
  label: string;
  dialect: Dialect;
  before: Mark[];
  after: Mark[];
  differences: Difference[];
}

export interface Choice {
  dialect: Dialect;
  options: Options;
  args: string | null;
  repair: boolean;
}

/** The tool that the model sees, and a function that restores its calls. */
interface Seen {
  schema: string;
  name: string | undefined;
  restore: (given: string) => Omit<RestoredCall<string>, 'name'>;
}

/** Name that the tool of a bare schema gets if arguments are repaired. */
const UNNAMED = 'tool';

/** Returns the restored arguments of a tool as the page shows them. */
export function shownOf(document: Document, label: string | null, choice: Choice): Shown | undefined {
  const { entries } = document;
  const entry =
    entries.find((entry) => document.labelOf(entry) === label) ??
    entries.find((entry) => document.schemaOf(entry) !== undefined);
  const result = restoredOf(document, entry, choice);
  if (entry === undefined || result === undefined) return undefined;
  const { args, restored, misread, repaired } = result;
  const [ours, theirs] = [new Places(args), new Places(restored ?? args)];
  const notes = misread === undefined ? (repaired?.notes.slice(0, repaired.placed) ?? []) : [misread];
  const before = marksOf(args, notes, (note) => namedPlace(note, args) ?? ours.nearest(note.pointer));
  const after = marksOf(restored ?? '', repaired?.notes ?? [], ({ outputPointer }) =>
    typeof outputPointer === 'string' ? theirs.nearest(outputPointer) : null,
  );
  const [a, b] = [ours.value(''), theirs.value('')];
  const isComparable = restored !== undefined && a !== undefined && b !== undefined;
  const differences = isComparable ? differencesOf({ text: args, value: a }, { text: restored, value: b }) : [];
  return { ...result, label: document.labelOf(entry), dialect: choice.dialect, before, after, differences };
}

export function restoredOf(document: Document, tool: Entry | undefined, choice: Choice): Restored | undefined {
  const { dialect, args, repair } = choice;
  const encodes = dialects().find(({ name }) => name === dialect)?.encodes ?? [];
  const schema = tool === undefined ? undefined : document.schemaOf(tool)?.text;
  if (tool === undefined || schema === undefined) return undefined;
  const ownName = tool.name ?? undefined;
  const nothing = { restored: undefined, same: true, repaired: undefined, refused: undefined, misread: undefined };
  const base = { ...nothing, own: layout(schema), ownName, encodes };
  let shown: Seen | Note;
  try {
    shown = seenOf(schema, ownName, choice);
  } catch (error) {
    shown = noteOfError(error);
  }
  if (!('restore' in shown)) {
    return { ...base, seen: undefined, seenName: undefined, args: args ?? '{}', refused: shown };
  }
  const { schema: seen, name, restore } = shown;
  const written = args ?? layout(JSON.stringify(instanceOf(JSON.parse(seen))));
  const answered = { ...base, seen: layout(seen), seenName: ownName === undefined ? undefined : name, args: written };
  try {
    // `restore.call` returns arguments that are not JSON unchanged. This call throws the error to be shown.
    if (!repair) restoreArguments(written, { version: 2 });
    const call = restore(written);
    const restored = layout(call.arguments);
    return {
      ...answered,
      restored,
      same: restored === layout(written),
      repaired: repair ? repairedOf(call) : undefined,
    };
  } catch (error) {
    return { ...answered, misread: noteOfError(error) };
  }
}

/** Returns the tool that the model sees, or the reason why it cannot be sent. */
function seenOf(schema: string, ownName: string | undefined, { dialect, options, repair }: Choice): Seen | Note {
  if (ownName === undefined && !repair) {
    const { schema: seen, restorePlan } = sanitize(schema, { dialect, ...options });
    return {
      schema: seen,
      name: undefined,
      restore: (args) => ({ arguments: restoreArguments(args, restorePlan) }),
    };
  }
  const alone = `[{"name":${JSON.stringify(ownName ?? UNNAMED)},"inputSchema":${schema}}]`;
  const sanitized = sanitizeTools(alone, { dialect, ...options, format: 'mcp', repair });
  const [refused] = sanitized.quarantined;
  if (refused !== undefined) {
    const { rule, message, pointer } = refused;
    return { effect: 'refused', pointer, outputPointer: null, rule, message };
  }
  const [written] = JSON.parse(sanitized.tools) as { name: string; inputSchema: unknown }[];
  const name = written?.name ?? '';
  // The schema is cut out of the text, because parsing it would change the spelling of numbers.
  return { schema: schemaText(sanitized.tools), name, restore: (args) => sanitized.restore.call(name, args) };
}

function schemaText(tools: string): string {
  const name = '"inputSchema":';
  return tools.slice(tools.indexOf(name) + name.length, -2);
}
