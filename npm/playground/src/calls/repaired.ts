/** What toolwire says of arguments that it restored and repaired: a note for every repair, and for every place that is left. */

import type { Left, LeftReason, Repair, RestoredCall } from 'toolwire';

import type { Note } from './note.js';

export interface Repaired {
  /** Whether the tool's own schema takes the arguments now; `null` where that cannot be told. */
  valid: boolean | null;
  /** The repairs in their order, and behind them what is left. */
  notes: readonly RepairNote[];
  /** How many of the notes are repairs. */
  repairs: number;
  /** How many of the notes have a place in what the model answered: the repairs, and text that cannot be read. */
  placed: number;
  /** What to send back to the model. */
  retryMessage: string | null;
}

export interface RepairNote extends Note {
  /** Of a repair: the kinds of value, or the names, before and after. */
  kinds?: { from: string; to: string };
  /** Of what is left: the keyword that refuses it, and why no rule answers that. */
  left?: { keyword: string; why: string };
}

/** What is known of a call; `undefined` where the tool has no schema to repair by. */
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
  // Its place in what the model answered is not told: it may have moved.
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

/** What is said of the whole text names a byte of it; in a string, it would be one of that string. */
function byteIn(pointer: string, message: string): { byte?: number } {
  const named = pointer === '' ? /byte (\d+)\)$/.exec(message) : null;
  return named === null ? {} : { byte: Number(named[1]) };
}

const WHY: Record<LeftReason, string> = {
  'no-rule': 'No rule answers this, or none with a valid result.',
  ambiguous: 'Several readings are valid.',
  inexact: 'The number is so large that many programs would read another one.',
  'not-exact': 'A rule would repair it, but it is only likely.',
  'switched-off': 'A rule would repair it, but it is switched off.',
  truncated: 'The text breaks off. What is missing cannot be told.',
  'several-values': 'The text holds several values: probably several calls in one.',
  'no-json': 'The text holds no object and no list.',
  'ambiguous-escape': 'The backslashes can be read in two ways.',
  'duplicate-name': 'A name stands twice, with two values.',
  'too-deep': 'The text is nested too deep.',
  syntax: 'The text is not JSON, and no rule reads it.',
};
