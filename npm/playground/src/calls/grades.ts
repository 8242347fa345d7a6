/** The verdicts of `toolwire matrix`, in its words: how an API handles an original tool, and the effect of rewriting it. */

/** The outcome of rewriting a tool for a dialect, from best to worst. */
export type Outcome =
  | 'unchanged'
  | 'lossless'
  | 'encoded'
  | 'closed'
  | 'not-strict'
  | 'lost'
  | 'wider'
  | 'narrower'
  | 'refused';

interface Word {
  label: string;
  sign: string;
  means: string;
}

export const OUTCOMES: Record<Outcome, Word> = {
  unchanged: { label: 'unchanged', sign: '✓', means: 'The tool is sent as it is.' },
  lossless: { label: 'lossless', sign: '=', means: 'The tool is rewritten, and nothing is lost.' },
  encoded: { label: 'encoded', sign: '⇄', means: 'Lossless once the model’s arguments are restored.' },
  closed: {
    label: 'closed',
    sign: '⊂',
    means: 'Objects are closed: properties that the schema neither declares nor allows are refused.',
  },
  'not-strict': {
    label: 'not strict',
    sign: '○',
    means: 'The tool is sent without strict mode, so that the API does not enforce its schema.',
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
export const OUTCOME_ORDER = Object.keys(OUTCOMES) as Outcome[];

/** The treatment of an original tool that an API does not refuse. */
export type Taken = 'reinterpreted' | 'ignored';

export const TAKEN: Record<Taken, Word> = {
  reinterpreted: {
    label: 'reinterpreted as it is',
    sign: '≈',
    means: 'The API accepts the original tool, but holds the model to other arguments than the schema describes.',
  },
  ignored: {
    label: 'ignored in part as it is',
    sign: '~',
    means: 'The API accepts the original tool, but a part of it has no effect.',
  },
};

/** The verdict on a tool in a dialect. */
export interface Cell {
  outcome: Outcome;
  /** True if the API accepts the original tool; then it may still reinterpret or ignore parts of it. */
  accepted: boolean;
  reinterpreted: boolean;
  ignored: boolean;
  /** Number of reasons why the original tool is refused, reinterpreted or partly ignored. */
  reasons: number;
  /** Number of losses in the rewritten tool. */
  losses: number;
}

/** Verdicts of a dialect on all tools, or the reason why the dialect has no verdict. */
export type Row = { cells: readonly Cell[] } | { refused: string };

/** Returns the treatment of the original tool, if the API accepts the tool but reinterprets or ignores parts of it. */
export function takenOf({ accepted, reinterpreted, ignored }: Cell): Taken | undefined {
  if (!accepted) return undefined;
  return reinterpreted ? 'reinterpreted' : ignored ? 'ignored' : undefined;
}

export interface Overall {
  /**
   * The worst outcome of all tools that can be rewritten: a refused tool does not affect the
   * others.
   */
  worst: Outcome;
  /** Number of tools that are accepted unchanged, and after rewriting. */
  accepted: number;
  rewritten: number;
  taken: Taken | undefined;
}

/** Summarizes the verdicts of a dialect. */
export function overall(row: Row | undefined): Overall | undefined {
  if (row === undefined || 'refused' in row || row.cells.length === 0) return undefined;
  const { cells } = row;
  const kept = cells.filter(({ outcome }) => outcome !== 'refused');
  const ranks = (kept.length === 0 ? cells : kept).map(({ outcome }) => OUTCOME_ORDER.indexOf(outcome));
  const taken = new Set(cells.map(takenOf));
  return {
    worst: OUTCOME_ORDER[ranks.reduce((worst, rank) => Math.max(worst, rank), 0)] as Outcome,
    accepted: cells.filter(({ accepted }) => accepted).length,
    rewritten: kept.length,
    taken: taken.has('reinterpreted') ? 'reinterpreted' : taken.has('ignored') ? 'ignored' : undefined,
  };
}

/** Describes a verdict in words. */
export function describe(cell: Cell): string {
  const { accepted, reasons, outcome, losses } = cell;
  const taken = takenOf(cell);
  const before = !accepted ? 'refused as it is' : taken === undefined ? 'accepted as it is' : TAKEN[taken].label;
  const why = reasons === 0 ? '' : ` (${reasons} reason${reasons === 1 ? '' : 's'})`;
  const lost = losses === 0 || outcome === 'refused' ? '' : ` (${losses} loss${losses === 1 ? '' : 'es'})`;
  return `${before}${why}; rewritten: ${OUTCOMES[outcome].label}${lost}`;
}
