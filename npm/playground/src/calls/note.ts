/** One thing that toolwire says about a place: a change, a violation, a tool set aside, an error. */

import type { Change, Quarantined, RequestViolation, ToolChange, ToolViolation, Violation } from 'toolwire';
import { ToolwireError } from 'toolwire';

/** What it means for whoever calls the tool, from harmless to fatal. The last three are of arguments: how sure a repair is, or that there is none. */
export type Effect =
  | 'same'
  | 'encoded'
  | 'moved'
  | 'closed'
  | 'lost'
  | 'wider'
  | 'narrower'
  | 'refused'
  | 'info'
  | 'exact'
  | 'likely'
  | 'left';

export interface Note {
  effect: Effect;
  /** Into the input. */
  pointer: string;
  /** Into the output; `null` if nothing is left, `undefined` if there is no output. */
  outputPointer: string | null | undefined;
  /** In a text that is not JSON, where pointers lead nowhere: the byte. */
  byte?: number;
  rule: string;
  message: string;
  /** A change's own words. */
  change?: Pick<Change, 'accepts' | 'guidance' | 'encoded'>;
  reason?: Reason;
  tool?: string | null;
}

/** The provider fact behind a rule, taken apart. */
export interface Reason {
  fact: string;
  confidence: 'A' | 'B' | 'C' | undefined;
  /** Where the fact was read, or the error that the change prevents. */
  source: string | undefined;
}

/** How each effect is called, and what it means: the legend. */
export const EFFECTS: Record<Effect, { label: string; means: string }> = {
  same: { label: 'same', means: 'The same arguments are accepted, and the model reads the same.' },
  encoded: { label: 'encoded', means: 'Arguments look different on the way; restore brings them back.' },
  moved: { label: 'moved', means: 'Said elsewhere now, for instance in a description.' },
  closed: {
    label: 'closed',
    means: 'Properties that the schema does not name, and never said that it wants, are refused.',
  },
  lost: {
    label: 'guidance lost',
    means: 'The same arguments are accepted, but the model is no longer told something.',
  },
  wider: { label: 'wider', means: 'Some more arguments are accepted; the tool’s own server catches those.' },
  narrower: { label: 'narrower', means: 'Some legal arguments are no longer accepted.' },
  refused: { label: 'refused', means: 'The API would refuse it.' },
  info: { label: 'note', means: 'Something to know.' },
  exact: { label: 'exact', means: 'The same value in another notation.' },
  likely: { label: 'likely', means: 'A guess that has one valid outcome.' },
  left: { label: 'left', means: 'Still wrong: nothing was changed here.' },
};

/** What can become of a tool, from harmless to fatal. */
export const SEVERITY: readonly Effect[] = [
  'info',
  'same',
  'moved',
  'encoded',
  'closed',
  'lost',
  'wider',
  'narrower',
  'refused',
];

export function effectOf(change: Pick<Change, 'accepts' | 'guidance' | 'encoded'>): Effect {
  if (change.accepts === 'narrower' || change.accepts === 'mixed') return 'narrower';
  if (change.accepts === 'wider') return 'wider';
  if (change.guidance === 'lost') return 'lost';
  if (change.accepts === 'closed') return 'closed';
  if (change.encoded) return 'encoded';
  return change.guidance === 'moved' ? 'moved' : 'same';
}

export function worst(effects: Iterable<Effect>): Effect | undefined {
  let found: Effect | undefined;
  for (const effect of effects) {
    if (found === undefined || SEVERITY.indexOf(effect) > SEVERITY.indexOf(found)) found = effect;
  }
  return found;
}

export function noteOfChange(change: Change | ToolChange): Note {
  const { pointer, outputPointer, rule, message, accepts, guidance, encoded, reason } = change;
  return {
    effect: effectOf(change),
    pointer,
    outputPointer,
    rule,
    message,
    change: { accepts, guidance, encoded },
    reason: takenApart(reason),
    ...('tool' in change ? { tool: change.tool } : {}),
  };
}

/** "FACT (confidence A): SOURCE", as the core writes it. */
function takenApart(reason: string): Reason {
  const parts = /^(.*?) \(confidence ([ABC])\)(?:: (.*))?$/s.exec(reason);
  if (parts === null) return { fact: reason, confidence: undefined, source: undefined };
  return { fact: parts[1] ?? '', confidence: parts[2] as 'A' | 'B' | 'C', source: parts[3] };
}

export function noteOfViolation(violation: Violation | ToolViolation | RequestViolation): Note {
  const { pointer, constraint: rule, message } = violation;
  const known = 'source' in violation ? violation : undefined;
  return {
    effect: 'refused',
    pointer,
    outputPointer: undefined,
    rule,
    message,
    ...(known === undefined
      ? {}
      : {
          ...('tool' in known ? { tool: known.tool } : {}),
          reason: { fact: '', confidence: known.confidence, source: known.source },
        }),
  };
}

export function noteOfQuarantined({ pointer, rule, message, name }: Quarantined): Note {
  return { effect: 'refused', pointer, outputPointer: null, rule, message: `set aside: ${message}`, tool: name };
}

/** What toolwire threw; anything else is a fault of ours and goes on. */
export function noteOfError(error: unknown): Note {
  if (!(error instanceof ToolwireError)) throw error;
  const { code, pointer, detail } = error;
  return { effect: 'refused', pointer, outputPointer: undefined, rule: code, message: detail };
}

/** The same with its pointers below, or taken from, another place. */
export function moved(note: Note, from: string, to: string): Note {
  const move = (pointer: string) => (pointer.startsWith(from) ? to + pointer.slice(from.length) : pointer);
  const { outputPointer } = note;
  return {
    ...note,
    pointer: move(note.pointer),
    outputPointer: typeof outputPointer === 'string' ? move(outputPointer) : outputPointer,
  };
}
