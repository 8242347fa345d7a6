/** A note about a location: a change, a violation, a tool that was set aside, or an error. */

import type { Change, Quarantined, RequestViolation, ToolViolation, Violation } from 'toolwire/slim';
import { ToolwireError } from 'toolwire/slim';

import type { Spot } from '../document/document.js';

/**
 * The effect of a change on callers of the tool, from harmless to fatal; the severity of a violation; or, for arguments, the confidence of a
 * repair, or a violation that remains.
 */
export type Effect =
  | 'same'
  | 'encoded'
  | 'moved'
  | 'closed'
  | 'not-strict'
  | 'lost'
  | 'wider'
  | 'narrower'
  | 'refused'
  | 'reinterpreted'
  | 'ignored'
  | 'info'
  | 'exact'
  | 'likely'
  | 'left';

export interface Note {
  effect: Effect;
  /** The line, if each line of the input is a tool or a schema. */
  line?: number;
  /** Pointer into the input, or into the line if there is one. */
  pointer: string;
  /** Pointer into the output; `null` if the value no longer exists, `undefined` if there is no output. */
  outputPointer: string | null | undefined;
  /** Byte offset in text that is not JSON, for which there are no pointers. */
  byte?: number;
  rule: string;
  message: string;
  /** The effects that the change reports. */
  change?: Pick<Change, 'accepts' | 'guidance' | 'encoded'>;
  reason?: Reason;
  tool?: string | null;
}

/** The parts of a change's reason: the provider fact behind its rule. */
export interface Reason {
  fact: string;
  confidence: 'A' | 'B' | 'C' | undefined;
  /** The source of the fact, or the error that the change prevents. */
  source: string | undefined;
}

/** The legend: the label and the meaning of each effect. */
export const EFFECTS: Record<Effect, { label: string; means: string }> = {
  same: { label: 'same', means: 'The same arguments are accepted, and the model reads the same.' },
  encoded: { label: 'encoded', means: 'The model writes arguments in another form; `restore` converts them back.' },
  moved: { label: 'moved', means: 'The model reads it in another place, for example in a description.' },
  closed: {
    label: 'closed',
    means: 'Objects are closed: properties that the schema neither declares nor allows are refused.',
  },
  'not-strict': {
    label: 'not strict',
    means: 'The tool is sent without strict mode, so that the API does not enforce its schema.',
  },
  lost: {
    label: 'lost',
    means: 'The same arguments are accepted, but the model no longer reads a part of the tool.',
  },
  wider: { label: 'wider', means: 'More arguments are accepted; the tool’s server refuses them.' },
  narrower: {
    label: 'narrower',
    means: 'Arguments are refused that the tool’s server accepts, or this cannot be ruled out.',
  },
  refused: { label: 'refused', means: 'The API returns an error, or the client drops the tool.' },
  reinterpreted: {
    label: 'reinterpreted',
    means: 'The API holds the model to other arguments than the schema describes.',
  },
  ignored: { label: 'ignored', means: 'A part of the schema has no effect.' },
  info: { label: 'note', means: 'For information.' },
  exact: { label: 'exact', means: 'The same value in another notation.' },
  likely: { label: 'likely', means: 'Probably the intended value: the only valid reading.' },
  left: { label: 'left', means: 'Still invalid: not repaired.' },
};

export function noteOfViolation(violation: Violation | ToolViolation | RequestViolation): Note {
  const { pointer, constraint: rule, message, severity } = violation;
  const known = 'source' in violation ? violation : undefined;
  return {
    effect: severity,
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

/** Returns the note of a toolwire error. Rethrows any other error, which is a defect. */
export function noteOfError(error: unknown): Note {
  if (!(error instanceof ToolwireError)) throw error;
  const { code, pointer, detail } = error;
  return { effect: 'refused', pointer, outputPointer: undefined, rule: code, message: detail };
}

/** Returns a copy of a note with a different pointer into the input. */
export function at(note: Note, spot: Spot): Note {
  return { ...note, ...spot };
}

/** Returns a copy of a note with a prefix before its pointers into the input and the output. */
export function below(note: Note, above: string): Note {
  const { pointer, outputPointer } = note;
  const within = typeof outputPointer === 'string' ? above + outputPointer : outputPointer;
  return { ...note, pointer: above + pointer, outputPointer: within };
}
