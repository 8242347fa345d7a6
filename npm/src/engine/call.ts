/**
 * One call of the core, on values or on text. What a function is and does, the core knows.
 */

import type { Returned } from 'wasm:glue';

import type { Text } from '../options.js';
import { answered } from '../values/answer.js';
import { Records } from '../values/records.js';
import { type Engine, type Place, reported, shared } from './instance.js';
import { isText, like, readable, unreadable } from './text.js';

/** The core's functions by name. */
export type FunctionName =
  | 'sanitize'
  | 'normalizeEnvelope'
  | 'applyDeferredLoading'
  | 'stripDeferralBetas'
  | 'check'
  | 'restoreArguments'
  | 'repairArguments'
  | 'validateArguments'
  | 'dialects'
  | 'sanitizeTools'
  | 'checkTools'
  | 'dialectFor'
  | 'deferralFor'
  | 'restoreCall'
  | 'restoreClientCall'
  | 'adaptRequest'
  | 'restoreReply'
  | 'searchTools'
  | 'answerToolSearch';

/** What a call gave; `report` is undefined unless one was asked for. */
export interface Outcome<T> {
  readonly value: T;
  readonly report: object | undefined;
  /** Whether what is kept for later calls is nothing but what it began with. */
  readonly rests: boolean;
}

/**
 * What is called once everything lies on the desk: so many words in all, so many bytes of characters of records, so many inputs.
 */
type Calling = (engine: Engine, words: number, chars: number, spelled: boolean, inputs: number) => Returned;

/** As {@link Calling}, for so many texts, of which the last may break off. */
type CallingOnText = (
  engine: Engine,
  texts: number,
  words: number,
  chars: number,
  spelled: boolean,
  broken: boolean,
) => Returned;

/** Calls a function on values. */
export function callOnValues(
  name: FunctionName,
  withReport: boolean,
  inputs: readonly unknown[],
  options: unknown,
): Outcome<unknown> {
  return onValues(shared, inputs, options, (engine, words, chars, spelled) =>
    engine.glue.call(number(engine, name), withReport, inputs.length, words, chars, spelled),
  );
}

/**
 * Calls a function on JSON texts. The answer is text of the first one's type, and the very same text if nothing changed.
 */
export function callOnText<T extends Text>(
  name: FunctionName,
  withReport: boolean,
  text: T,
  options: unknown,
  ...more: readonly Text[]
): Outcome<T> {
  return onText(shared, name, [text, ...more], options, (engine, texts, words, chars, spelled, broken) =>
    engine.glue.callText(number(engine, name), withReport, texts, words, chars, spelled, broken),
  );
}

/** Puts values on the desk of that place, and reads the answer there. `more` are inputs of ours, asked for at the end. */
export function onValues(
  place: Place,
  inputs: readonly unknown[],
  options: unknown,
  calling: Calling,
  more: () => readonly unknown[] = none,
): Outcome<unknown> {
  return withRecords((records) => {
    for (const input of inputs) records.read(input);
    const own = more();
    for (const input of own) records.read(input);
    records.read(options ?? null);
    const { chars, spelled } = records.spelling();
    const engine = place.running();
    return place.guarded(() => {
      const { desk } = engine;
      const { words } = records;
      const length = desk.put(words, chars);
      const report = reported(engine, calling(engine, words.length, length, spelled, inputs.length + own.length));
      const { rests } = desk;
      const value = answered(desk, records);
      place.tidy();
      return { value, report, rests };
    });
  });
}

/** Puts texts on the desk of that place, and reads the answer there. `name` is for the error about what is no text. */
export function onText<T extends Text>(
  place: Place,
  name: string,
  texts: readonly [T, ...Text[]],
  options: unknown,
  calling: CallingOnText,
): Outcome<T> {
  for (const one of texts) if (!isText(one)) throw unreadable(name, one);
  const [text] = texts;
  return withRecords((records) => {
    records.read(options ?? null);
    const { chars, spelled } = records.spelling();
    const whole: Text[] = [];
    let broken = false;
    for (const one of texts) {
      if (broken) break;
      const start = readable(one);
      broken = typeof one === 'string' && start.length < one.length;
      whole.push(start);
    }
    const engine = place.running();
    return place.guarded(() => {
      const { desk } = engine;
      const { words } = records;
      const length = desk.put(words, chars, whole);
      const all = words.length + whole.length;
      const report = reported(engine, calling(engine, whole.length, all, length, spelled, broken));
      const { rests } = desk;
      const value = desk.unchanged ? text : like(text, desk);
      place.tidy();
      return { value, report, rests };
    });
  });
}

function none(): readonly unknown[] {
  return [];
}

/** The number of a function. */
export function number(engine: Engine, name: FunctionName): number {
  return engine.functions.get(name) as number;
}

/** Records to be used again. A getter that calls toolwire while its owner is being read gets others. */
let spare: Records | undefined;

function withRecords<R>(use: (records: Records) => R): R {
  const records = spare ?? new Records();
  spare = undefined;
  try {
    return use(records);
  } finally {
    records.clear();
    spare = records;
  }
}
