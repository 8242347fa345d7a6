/** The report on restored and repaired arguments: a note for every repair, and for every violation that remains. */

import type { Left, LeftReason, Repair, RestoredCall } from 'toolwire/slim';

import type { Note } from './note.js';

export interface Repaired {
  /** True if the tool's schema accepts the arguments now; `null` if that cannot be decided. */
  valid: boolean | null;
  /** The repairs in order, followed by the remaining violations. */
  notes: readonly RepairNote[];
  /** Number of notes that are repairs. */
  repairs: number;
  /** Number of notes with a location in the model's text: the repairs, and text that cannot be parsed. */
  placed: number;
  /** The message to send back to the model. */
  retryMessage: string | null;
}

export interface RepairNote extends Note {
  /** For a repair: the kinds of value, or the names, before and after. */
  kinds?: { from: string; to: string };
  /** For a remaining violation: the violated keyword, and the reason why it was not repaired. */
  left?: { keyword: string; why: string };
}

/** Returns the report on a call; `undefined` if the tool has no schema. */
export function repairedOf(call: Omit<RestoredCall<string>, 'name'>): Repaired | undefined {
  const { valid, repairs = [], left = [], retryMessage = null } = call;
  if (valid === undefined) return undefined;
  const notes: RepairNote[] = [...repairs.map(noteOfRepair), ...left.map(noteOfLeft)];
  const unread = repairs.length === 0 && notes[0]?.byte !== undefined;
  return { valid, notes, repairs: repairs.length, placed: unread ? 1 : repairs.length, retryMessage };
}

function noteOfRepair({ pointer, outputPointer, rule, confidence, from, to, message }: Repair): RepairNote {
  return {
    effect: confidence,
    pointer,
    outputPointer,
    rule,
    message,
    kinds: { from, to },
    ...byteIn(pointer, message),
  };
}

function noteOfLeft({ pointer, keyword, reason, message }: Left): RepairNote {
  // The location in the model's text is unknown, because repairs may have moved the value.
  return {
    effect: 'left',
    pointer: '',
    outputPointer: pointer,
    rule: reason,
    message,
    left: { keyword, why: WHY[reason] },
    ...byteIn(pointer, message),
  };
}

/**
 * Returns the byte offset that a message states, if it is an offset in the whole text and not in a
 * nested string.
 */
function byteIn(pointer: string, message: string): { byte?: number } {
  const match = pointer === '' ? /byte (\d+)\)$/.exec(message) : null;
  return match === null ? {} : { byte: Number(match[1]) };
}

const WHY: Record<LeftReason, string> = {
  'no-rule': 'No repair rule gives a valid result.',
  ambiguous: 'Several repairs are valid.',
  inexact: 'The number is too large: many programs would read a different one.',
  'not-exact': 'A rule would repair it, but the repair is only likely, not exact.',
  'switched-off': 'A rule would repair it, but the rule is disabled.',
  truncated: 'The text is truncated, and the missing part is unknown.',
  'several-values': 'The text contains several values, probably from several calls.',
  'no-json': 'The text contains no object and no array.',
  'ambiguous-escape': 'The backslashes can be read in two ways.',
  'duplicate-name': 'A name occurs twice, with different values.',
  'too-deep': 'The text is nested too deeply.',
  syntax: 'The text is not JSON, and no rule repairs it.',
};
