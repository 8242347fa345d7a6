/** The result for every tool in every dialect: the matrix, and the marks next to the dialects' names. */

import type { Dialect } from 'toolwire';
import { checkTools, dialects, sanitizeTools } from 'toolwire';

import { type Document, type ToolPlace, toolFinder } from '../document/kind.js';
import { type Effect, effectOf, noteOfError, worst } from './note.js';

/** The result for a tool in a dialect, from best to worst. The names are those of the command `toolwire matrix`. */
export type Grade = 'accepted' | 'lossless' | 'encoded' | 'closed' | 'lost' | 'wider' | 'narrower' | 'refused';

export const GRADES: Record<Grade, { label: string; sign: string; means: string }> = {
  accepted: { label: 'accepted', sign: '✓', means: 'The API accepts the tool as is.' },
  lossless: { label: 'lossless', sign: '=', means: 'The API refuses the tool as is, but rewriting loses nothing.' },
  encoded: { label: 'encoded', sign: '⇄', means: 'Lossless once the model’s arguments are restored.' },
  closed: {
    label: 'closed',
    sign: '⊂',
    means: 'Objects are closed: properties that the schema neither declares nor allows are refused.',
  },
  lost: {
    label: 'lost',
    sign: '−',
    means: 'The same arguments are accepted, but the model no longer reads a part of the tool.',
  },
  wider: { label: 'wider', sign: '↑', means: 'Arguments are accepted that the tool’s server refuses.' },
  narrower: {
    label: 'narrower',
    sign: '↓',
    means: 'Arguments are refused that the tool’s server accepts, or this cannot be ruled out.',
  },
  refused: { label: 'refused', sign: '✕', means: 'The tool cannot be rewritten for this API.' },
};
export const GRADE_ORDER = Object.keys(GRADES) as Grade[];

export interface Cell {
  grade: Grade;
  /** Number of violations that the API would refuse in the original tool. */
  violations: number;
  changes: number;
}

export interface Survey {
  tools: ToolPlace[];
  /** One row for each dialect that is done, with one cell for each tool. */
  cells: Map<Dialect, Cell[]>;
}

/** All dialects, in the order of the core's table. */
export const DIALECTS = dialects();
export const DIALECT_NAMES = DIALECTS.map(({ name }) => name as Dialect);

/** Returns the document's list of tools. A bare schema becomes the schema of a tool. */
function listOf(document: Document): { text: string; tools: ToolPlace[]; within: string } {
  const { text, kind, tools, list } = document;
  if (kind === 'tool') return { text: `[${text}]`, tools, within: '/0' };
  if (kind === 'schema') {
    const tool = { name: 'this schema', pointer: '', schema: undefined, format: undefined };
    return { text: `[{"name":"tool_of_this_schema","inputSchema":${text}}]`, tools: [tool], within: '/0' };
  }
  if (list === undefined) return { text: '[]', tools: [], within: '' };
  return { text: text.slice(list.offset, list.offset + list.length), tools, within: '' };
}

/** Yields after each dialect, so that the page stays responsive, because a long list takes seconds. */
export function* surveyOf(document: Document): Generator<Survey, void> {
  const { text, tools, within } = listOf(document);
  const cells = new Map<Dialect, Cell[]>();
  const offset = document.kind === 'tools' || document.kind === 'request' ? listPointer(document) : '';
  const find = toolFinder(tools);
  const toolAt = (pointer: string) => find(within === '' ? offset + pointer : pointer.slice(within.length));
  for (const dialect of DIALECT_NAMES) {
    cells.set(dialect, row(text, tools, dialect, toolAt));
    yield { tools, cells: new Map(cells) };
  }
}

/** Returns the pointer of the list in the text. The pointers of the calls below are relative to the list. */
function listPointer({ list }: Document): string {
  return list?.parent === undefined ? '' : '/tools';
}

function row(
  text: string,
  tools: ToolPlace[],
  dialect: Dialect,
  toolAt: (pointer: string) => ToolPlace | undefined,
): Cell[] {
  const found = tools.map(() => ({ violations: 0, effects: new Set<Effect>(), changes: 0 }));
  const index = new Map(tools.map((tool, at) => [tool, at]));
  const at = (pointer: string) => {
    const tool = toolAt(pointer);
    return tool === undefined ? undefined : found[index.get(tool) ?? 0];
  };
  try {
    for (const { pointer, severity } of checkTools(text, { dialects: [dialect] })) {
      const cell = at(pointer);
      if (cell !== undefined && severity === 'refused') cell.violations++;
    }
    const { changes, quarantined } = sanitizeTools(text, { dialect });
    for (const change of changes) {
      const cell = at(change.pointer);
      if (cell === undefined) continue;
      cell.changes++;
      cell.effects.add(effectOf(change));
    }
    for (const { pointer } of quarantined) at(pointer)?.effects.add('refused');
  } catch (error) {
    noteOfError(error);
    for (const cell of found) cell.effects.add('refused');
  }
  return found.map(({ violations, effects, changes }) => ({
    grade: gradeOf(violations, effects),
    violations,
    changes,
  }));
}

function gradeOf(violations: number, effects: Set<Effect>): Grade {
  switch (worst(effects)) {
    case 'refused':
      return 'refused';
    case 'narrower':
      return 'narrower';
    case 'wider':
      return 'wider';
    case 'lost':
      return 'lost';
    case 'closed':
      return 'closed';
    case 'encoded':
      return 'encoded';
    default:
      return violations === 0 ? 'accepted' : 'lossless';
  }
}

/** Summarizes a row by the worst grade of the accepted tools. Refused tools are set aside and do not affect the others. */
export function overall(cells: readonly Cell[] | undefined): { grade: Grade; through: number } | undefined {
  if (cells === undefined || cells.length === 0) return undefined;
  const grades = cells.map(({ grade }) => GRADE_ORDER.indexOf(grade));
  const through = grades.filter((grade) => GRADE_ORDER[grade] !== 'refused');
  return {
    grade: GRADE_ORDER[
      (through.length === 0 ? grades : through).reduce((worst, grade) => Math.max(worst, grade))
    ] as Grade,
    through: through.length,
  };
}
