/** Notes as marks in a text. */

import { EFFECTS, type Note } from '../calls/note.js';
import { type Place, Places } from '../document/tree.js';
import type { Mark, Marks } from './marks.js';

/** A text and its places, kept together because computing them takes far longer than selecting another note. */
export interface Located {
  text: string;
  places: Places;
}

export function placed(text: string): Located {
  return { text, places: new Places(text) };
}

/** Returns the marks of notes in a text, at the pointers that `side` selects. */
export function located(
  { text, places }: Located,
  notes: readonly Note[],
  side: 'pointer' | 'outputPointer',
  selected: number | undefined,
): Marks {
  const list = notes.flatMap((note, number): Mark[] => {
    const pointer = note[side];
    if (typeof pointer !== 'string') return [];
    const named = side === 'pointer' ? (atLineAndColumn(note, text) ?? atByte(note, text)) : undefined;
    const place = named ?? places.nearest(pointer) ?? whole(text);
    const { effect, rule, message } = note;
    return [{ number, effect, place, title: `${rule} · ${EFFECTS[effect].label}`, text: message }];
  });
  return { length: text.length, list, selected };
}

function whole(text: string): Place {
  return { from: 0, to: text.length, nameFrom: 0, nameTo: Math.min(1, text.length) };
}

/** Returns the place of an error in a text that is not JSON: its message has a line and a column. */
function atLineAndColumn({ rule, message }: Note, text: string): Place | undefined {
  const named = rule === 'invalid-json' ? /\(line (\d+), column (\d+)\)/.exec(message) : null;
  if (named === null) return undefined;
  let from = 0;
  for (let line = 1; line < Number(named[1]); line++) from = text.indexOf('\n', from) + 1;
  return oneAt(from + Number(named[2]) - 1, text);
}

/** Returns the place of a repair in such a text: it has a byte offset. */
function atByte({ byte }: Note, text: string): Place | undefined {
  if (byte === undefined) return undefined;
  const from = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    new TextEncoder().encode(text).subarray(0, byte),
  ).length;
  return oneAt(from, text);
}

/** Returns the place of the character at an offset, or of the last character. */
function oneAt(offset: number, text: string): Place {
  const from = Math.min(offset, text.length);
  const to = Math.min(from + 1, text.length);
  return { from, to, nameFrom: Math.max(0, Math.min(from, to - 1)), nameTo: to };
}
