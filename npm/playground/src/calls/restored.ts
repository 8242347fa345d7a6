/** The calls behind the view "Restore": what the model is shown, what it answers, and what the tool's server gets. */

import { dialects, restoreArgumentsJson, sanitizeJsonWithReport, sanitizeToolsJson } from 'toolwire/search';

import type { Document, ToolPlace } from '../document/kind.js';
import { layout } from '../document/layout.js';
import type { Options } from '../state/shared.js';
import { instanceOf } from './instance.js';
import { type Note, noteOfError } from './note.js';

type Dialect = Parameters<typeof sanitizeJsonWithReport>[1]['dialect'];

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
  /** Why there is nothing to show: of the schema, or of the arguments. */
  refused: Note | undefined;
  misread: Note | undefined;
  /** How this dialect may encode arguments. */
  encodes: string[];
}

export function restoredOf(
  document: Document,
  tool: ToolPlace | undefined,
  dialect: Dialect,
  options: Options,
  args: string | null,
): Restored | undefined {
  if (document.kind === 'nothing') return undefined;
  const encodes = dialects().find(({ name }) => name === dialect)?.encodes ?? [];
  const { text } = document;
  const at = tool?.schema?.node;
  if (document.kind !== 'schema' && at === undefined) return undefined;
  const schema = at === undefined ? text : text.slice(at.offset, at.offset + at.length);
  const base = { own: layout(schema), ownName: tool?.name, seenName: undefined, encodes };
  let seen: string;
  let seenName = tool?.name;
  let restore: (given: string) => string;
  try {
    if (tool === undefined) {
      const rewritten = sanitizeJsonWithReport(schema, { dialect, ...options });
      seen = rewritten.schema;
      restore = (given) => restoreArgumentsJson(given, rewritten.restorePlan);
    } else {
      const alone = `[{"name":${JSON.stringify(tool.name)},"inputSchema":${schema}}]`;
      const answer = sanitizeToolsJson(alone, { dialect, ...options, format: 'mcp' });
      const [refused] = answer.quarantined;
      if (refused !== undefined) {
        const { rule, message, pointer } = refused;
        const note: Note = { effect: 'refused', pointer, outputPointer: null, rule, message };
        return {
          ...base,
          seen: undefined,
          args: args ?? '{}',
          restored: undefined,
          same: true,
          refused: note,
          misread: undefined,
        };
      }
      const [written] = JSON.parse(answer.tools) as { name: string; inputSchema: unknown }[];
      seenName = written?.name;
      // The text of the schema, numbers as they were spelled, is what stands after the name.
      seen = schemaText(answer.tools);
      restore = (given) => answer.restore.call(seenName ?? '', given).arguments;
    }
  } catch (error) {
    const refused = noteOfError(error);
    return {
      ...base,
      seen: undefined,
      args: args ?? '{}',
      restored: undefined,
      same: true,
      refused,
      misread: undefined,
    };
  }
  const written = args ?? layout(JSON.stringify(instanceOf(JSON.parse(seen))));
  const shown = { ...base, seen: layout(seen), seenName, args: written, refused: undefined };
  try {
    // Arguments that are not JSON come back as they are; here they should say what is wrong with them.
    restoreArgumentsJson(written, '{}', { dialect: 'codex' });
    const restored = layout(restore(written));
    return { ...shown, restored, same: restored === layout(written), misread: undefined };
  } catch (error) {
    return { ...shown, restored: undefined, same: true, misread: noteOfError(error) };
  }
}

function schemaText(tools: string): string {
  const name = '"inputSchema":';
  return tools.slice(tools.indexOf(name) + name.length, -2);
}
