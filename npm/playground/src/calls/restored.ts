/** The calls behind the view "Restore": what the model is shown, what it answers, and what the tool's server gets. */

import { type Dialect, dialects, type RestoredCall, restoreArguments, sanitize, sanitizeTools } from 'toolwire';

import type { Document, ToolPlace } from '../document/kind.js';
import { layout } from '../document/layout.js';
import type { Options } from '../state/shared.js';
import { instanceOf } from './instance.js';
import { type Note, noteOfError } from './note.js';
import { type Repaired, repairedOf } from './repaired.js';

export interface Restored {
  /** The tool's own schema, and the one that the model is shown. */
  own: string;
  seen: string | undefined;
  /** How the model calls it, and how its server does. */
  seenName: string | undefined;
  ownName: string | undefined;
  /** What the model wrote, or what was made up for it. */
  args: string;
  restored: string | undefined;
  same: boolean;
  /** What was repaired and what is left; `undefined` if nothing is to be repaired. */
  repaired: Repaired | undefined;
  /** Why there is nothing to show: of the schema, or of the arguments. */
  refused: Note | undefined;
  misread: Note | undefined;
  /** How this dialect may encode arguments. */
  encodes: string[];
}

export interface Choice {
  dialect: Dialect;
  options: Options;
  args: string | null;
  repair: boolean;
}

/** A tool as the model is shown it, and the way back. */
interface Shown {
  schema: string;
  name: string | undefined;
  restore: (given: string) => Omit<RestoredCall<string>, 'name'>;
}

/** A schema alone is repaired as that of a tool with this name. */
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
    // Arguments that are not JSON come back as they are; here they should say what is wrong with them.
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

/** What the model is shown of a tool, or why it cannot be shown any. */
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
  // The text of the schema, numbers as they were spelled, is what stands after the name.
  return { schema: schemaText(answer.tools), name, restore: (given) => answer.restore.call(name, given) };
}

function schemaText(tools: string): string {
  const name = '"inputSchema":';
  return tools.slice(tools.indexOf(name) + name.length, -2);
}
