/** The calls behind the view "Restore": the schema that the model sees, its arguments, and those that the tool's server gets. */

import { type Dialect, dialects, type RestoredCall, restoreArguments, sanitize, sanitizeTools } from 'toolwire';

import type { Document, ToolPlace } from '../document/kind.js';
import { layout } from '../document/layout.js';
import type { Options } from '../state/shared.js';
import { instanceOf } from './instance.js';
import { type Note, noteOfError } from './note.js';
import { type Repaired, repairedOf } from './repaired.js';

export interface Restored {
  /** The tool's own schema, and below the one that the model sees. */
  own: string;
  seen: string | undefined;
  /** The name with which the model calls the tool, and below the name at its server. */
  seenName: string | undefined;
  ownName: string | undefined;
  /** The arguments that the user entered, or generated ones. */
  args: string;
  restored: string | undefined;
  same: boolean;
  /** The repairs and the remaining violations; `undefined` if repairing is switched off. */
  repaired: Repaired | undefined;
  /** The error, if there is nothing to show: about the schema, and below about the arguments. */
  refused: Note | undefined;
  misread: Note | undefined;
  /** The ways in which this dialect may encode arguments. */
  encodes: string[];
}

export interface Choice {
  dialect: Dialect;
  options: Options;
  args: string | null;
  repair: boolean;
}

/** The tool that the model sees, and a function that restores its calls. */
interface Shown {
  schema: string;
  name: string | undefined;
  restore: (given: string) => Omit<RestoredCall<string>, 'name'>;
}

/** Name of the tool as which a bare schema is repaired. */
const UNNAMED = 'tool';

export function restoredOf(document: Document, tool: ToolPlace | undefined, choice: Choice): Restored | undefined {
  if (document.kind === 'nothing') return undefined;
  const { dialect, args, repair } = choice;
  const encodes = dialects().find(({ name }) => name === dialect)?.encodes ?? [];
  const { text } = document;
  const at = tool?.schema?.node;
  if (document.kind !== 'schema' && at === undefined) return undefined;
  const schema = at === undefined ? text : text.slice(at.offset, at.offset + at.length);
  const nothing = { restored: undefined, same: true, repaired: undefined, refused: undefined, misread: undefined };
  const base = { ...nothing, own: layout(schema), ownName: tool?.name, encodes };
  let shown: Shown | Note;
  try {
    shown = shownOf(schema, tool?.name, choice);
  } catch (error) {
    shown = noteOfError(error);
  }
  if (!('restore' in shown)) {
    return { ...base, seen: undefined, seenName: undefined, args: args ?? '{}', refused: shown };
  }
  const { schema: seen, name, restore } = shown;
  const written = args ?? layout(JSON.stringify(instanceOf(JSON.parse(seen))));
  const answered = { ...base, seen: layout(seen), seenName: tool === undefined ? undefined : name, args: written };
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
function shownOf(schema: string, ownName: string | undefined, { dialect, options, repair }: Choice): Shown | Note {
  if (ownName === undefined && !repair) {
    const { schema: seen, restorePlan } = sanitize(schema, { dialect, ...options });
    return {
      schema: seen,
      name: undefined,
      restore: (given) => ({ arguments: restoreArguments(given, restorePlan) }),
    };
  }
  const alone = `[{"name":${JSON.stringify(ownName ?? UNNAMED)},"inputSchema":${schema}}]`;
  const answer = sanitizeTools(alone, { dialect, ...options, format: 'mcp', repair });
  const [refused] = answer.quarantined;
  if (refused !== undefined) {
    const { rule, message, pointer } = refused;
    return { effect: 'refused', pointer, outputPointer: null, rule, message };
  }
  const [written] = JSON.parse(answer.tools) as { name: string; inputSchema: unknown }[];
  const name = written?.name ?? '';
  // The schema's text, which follows the name, keeps the spelling of numbers.
  return { schema: schemaText(answer.tools), name, restore: (given) => answer.restore.call(name, given) };
}

function schemaText(tools: string): string {
  const name = '"inputSchema":';
  return tools.slice(tools.indexOf(name) + name.length, -2);
}
