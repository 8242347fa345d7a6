/** The note of a change, with its outcome in the words of `toolwire matrix`. */

import type { Change, ToolChange } from 'toolwire/slim';

import { type Effects, outcomeOfChange } from '../engine/engine.js';
import type { Outcome } from './grades.js';
import type { Effect, Note, Reason } from './note.js';

export function noteOfChange(change: Change | ToolChange): Note {
  const { pointer, outputPointer, rule, message, accepts, guidance, encoded, reason } = change;
  return {
    effect: effectOf(change),
    pointer,
    outputPointer,
    rule,
    message,
    change: { accepts, guidance, encoded },
    reason: parseReason(reason),
    ...('tool' in change ? { tool: change.tool } : {}),
  };
}

/** The page distinguishes more kinds of changes without a loss than the matrix does. */
function effectOf(change: Effects): Effect {
  const outcome = outcomeOfChange(change) as Outcome;
  switch (outcome) {
    case 'unchanged':
      return 'info';
    case 'lossless':
      return change.guidance === 'moved' ? 'moved' : 'same';
    default:
      return outcome;
  }
}

/** Parses "FACT (confidence A): SOURCE", the core's form of a reason. */
function parseReason(reason: string): Reason {
  const parts = /^(.*?) \(confidence ([ABC])\)(?:: (.*))?$/s.exec(reason);
  if (parts === null) return { fact: reason, confidence: undefined, source: undefined };
  return { fact: parts[1] ?? '', confidence: parts[2] as 'A' | 'B' | 'C', source: parts[3] };
}
