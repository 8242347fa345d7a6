/** Locations of notes in the text. */

import type { Place } from '../document/tree.js';
import { EFFECTS, type Effect, type Note } from './note.js';

/** A note with its location in the text. */
export interface Mark {
  /** The note's index in the list. */
  number: number;
  effect: Effect;
  place: Place;
  title: string;
  text: string;
}

/** Returns the marks of notes in the text. `placeOf` returns `null` for a note without a location in the text. */
export function marksOf(
  text: string,
  notes: readonly Note[],
  placeOf: (note: Note) => Place | undefined | null,
): Mark[] {
  return notes.flatMap((note, number): Mark[] => {
    const found = placeOf(note);
    if (found === null) return [];
    const { effect, rule, message } = note;
    return [
      { number, effect, place: found ?? wholeText(text), title: `${rule} · ${EFFECTS[effect].label}`, text: message },
    ];
  });
}

/**
 * For text that is not JSON: returns the location that a note states as line and column, or as byte
 * offset.
 */
export function namedPlace(note: Note, text: string): Place | undefined {
  return atLineAndColumn(note, text) ?? atByte(note, text);
}

function wholeText(text: string): Place {
  return { from: 0, to: text.length, nameFrom: 0, nameTo: Math.min(1, text.length) };
}

/** Returns the location of an error in text that is not JSON, by the line and column in its message. */
function atLineAndColumn({ rule, message }: Note, text: string): Place | undefined {
  const match = rule === 'invalid-json' ? /\(line (\d+), column (\d+)\)/.exec(message) : null;
  if (match === null) return undefined;
  let from = 0;
  for (let line = 1; line < Number(match[1]); line++) from = text.indexOf('\n', from) + 1;
  return characterAt(from + Number(match[2]) - 1, text);
}

/** Returns the location of a repair in text that is not JSON, by the byte offset of its note. */
function atByte({ byte }: Note, text: string): Place | undefined {
  if (byte === undefined) return undefined;
  const from = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    new TextEncoder().encode(text).subarray(0, byte),
  ).length;
  return characterAt(from, text);
}

/** Returns the location of the character at an offset, or of the last character. */
function characterAt(offset: number, text: string): Place {
  const from = Math.min(offset, text.length);
  const to = Math.min(from + 1, text.length);
  return { from, to, nameFrom: Math.max(0, Math.min(from, to - 1)), nameTo: to };
}
