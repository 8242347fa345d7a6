/**
 * One call of the core, on values or on text. What a function is and does, the core knows.
 */

import type { Returned } from 'wasm:glue';

import { ToolwireError } from '../error.js';
import type { Text } from '../options.js';
import { answered } from '../values/answer.js';
import { Records } from '../values/records.js';
import { type Engine, type Place, reported, shared } from './instance.js';
import { decoded, isBytes, isText, like, likeBytes, readable, unreadable } from './text.js';

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
  | 'validateResult'
  | 'dialects'
  | 'sanitizeTools'
  | 'checkTools'
  | 'checkRequest'
  | 'dialectFor'
  | 'deferralFor'
  | 'restoreCall'
  | 'restoreClientCall'
  | 'restoreContent'
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

/** What a call gave, and how to get the report that it did not make. */
export interface Called {
  readonly value: unknown;
  /** What the call reported beside its value. */
  readonly members: object | undefined;
  /**
   * The whole report. It is made from the input as it was at the time of the call, which is kept as it was encoded then; not from the
   * caller's object.
   */
  report(): object;
}

/** Calls a function on one input: on text if it is text, else on a value. */
export function callOn(name: FunctionName, input: unknown, options: unknown): Called {
  let again: Again | undefined;
  const keep = (kept: Again) => {
    again = kept;
  };
  const { value, report } = isText(input)
    ? onText(shared, name, [input], options, textCall(name, false), keep)
    : onValues(shared, [input], options, valueCall(name, false), none, keep);
  const whole = once(() => (again as Again)(name));
  return { value, members: report, report: whole };
}

/** Calls a function again, with a report, on what it was given. */
type Again = (name: FunctionName) => object;

/** Makes something when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let making: (() => T) | undefined = make;
  let made: T | undefined;
  return () => {
    if (making !== undefined) {
      made = making();
      making = undefined;
    }
    return made as T;
  };
}

/** Calls a function on one input, and gives its answer, which is a value whatever the input is. */
export function ask(name: FunctionName, input: unknown, options: unknown): unknown {
  if (!isText(input)) return callOnValues(name, [input], options).value;
  return parsed(callOnText(name, input, options).value);
}

function parsed(text: Text): unknown {
  return JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text));
}

/** Calls a function on values; strings are JSON text where the core says so. */
export function callOnValues(name: FunctionName, inputs: readonly unknown[], options: unknown): Outcome<unknown> {
  return onValues(shared, inputs, options, valueCall(name, false));
}

/**
 * Calls a function on two inputs, each of which is text or a value. What is written in place of a text is text of its type, and the
 * very same text if nothing changed.
 */
export function callOnTwo(
  name: FunctionName,
  first: unknown,
  second: unknown,
  options: unknown,
): { value: unknown; report: object | undefined } {
  if (isText(first) && isText(second)) {
    const { value, report } = callOnText(name, first, options, second);
    return { value: ANSWERS.has(name) ? parsed(value) : value, report };
  }
  const { value, report } = callOnValues(name, [characters(name, first), characters(name, second)], options);
  if (!isBytes(first) || typeof value !== 'string' || ANSWERS.has(name)) {
    return { value, report };
  }
  return { value: value === decoded(first) ? first : likeBytes(first, value), report };
}

/** The functions whose answer is a value, whatever their inputs are. */
const ANSWERS: ReadonlySet<FunctionName> = new Set(['validateArguments', 'validateResult']);

/** Text as a string. Bytes that are not UTF-8 are the core's to refuse. */
function characters(name: FunctionName, input: unknown): unknown {
  if (!isBytes(input)) return input;
  const text = decoded(input);
  if (text === undefined) callOnText(name, input, undefined, 'true');
  return text;
}

function valueCall(name: FunctionName, withReport: boolean): Calling {
  return (engine, words, chars, spelled, inputs) =>
    engine.glue.call(number(engine, name), withReport, inputs, words, chars, spelled);
}

function textCall(name: FunctionName, withReport: boolean): CallingOnText {
  return (engine, texts, words, chars, spelled, broken) =>
    engine.glue.callText(number(engine, name), withReport, texts, words, chars, spelled, broken);
}

/**
 * Calls a function on JSON texts. The answer is text of the first one's type, and the very same text if nothing changed.
 */
export function callOnText<T extends Text>(
  name: FunctionName,
  text: T,
  options: unknown,
  ...more: readonly Text[]
): Outcome<T> {
  return onText(shared, name, [text, ...more], options, textCall(name, false));
}

/** Puts values on the desk of that place, and reads the answer there. `more` are inputs of ours, asked for at the end. */
export function onValues(
  place: Place,
  inputs: readonly unknown[],
  options: unknown,
  calling: Calling,
  more: () => readonly unknown[] = none,
  keep?: (again: Again) => void,
): Outcome<unknown> {
  return withRecords((records) => {
    for (const input of inputs) records.read(input);
    const own = more();
    for (const input of own) records.read(input);
    readOptions(records, options);
    const { chars, spelled } = records.spelling();
    const count = inputs.length + own.length;
    keep?.(
      again(place, records.words.slice(), chars, [], (engine, words, length, name) =>
        valueCall(name, true)(engine, words, length, spelled, count),
      ),
    );
    const engine = place.running();
    return place.guarded(() => {
      const { desk } = engine;
      const { words } = records;
      const length = desk.put(words, chars);
      const report = reported(engine, calling(engine, words.length, length, spelled, count));
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
  keep?: (again: Again) => void,
): Outcome<T> {
  for (const one of texts) if (!isText(one)) throw unreadable(name, one);
  const [text] = texts;
  return withRecords((records) => {
    readOptions(records, options);
    const { chars, spelled } = records.spelling();
    const whole: Text[] = [];
    let broken = false;
    for (const one of texts) {
      if (broken) break;
      const start = readable(one);
      broken = typeof one === 'string' && start.length < one.length;
      whole.push(start);
    }
    keep?.(
      again(place, records.words.slice(), chars, whole.map(lasting), (engine, words, length, name) =>
        textCall(name, true)(engine, whole.length, words, length, spelled, broken),
      ),
    );
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

/** Reads options: what JSON cannot say is a wrong option there, and functions do not vanish. */
function readOptions(records: Records, options: unknown): void {
  try {
    records.read(options ?? null, true);
  } catch (error) {
    if (!(error instanceof ToolwireError) || error.code !== 'invalid-value') throw error;
    throw new ToolwireError('invalid-option', error.pointer, error.detail);
  }
}

/** A call with a report of what was encoded once. */
function again(
  place: Place,
  words: Uint32Array,
  chars: string,
  texts: readonly Text[],
  calling: (engine: Engine, words: number, chars: number, name: FunctionName) => Returned,
): Again {
  return (name) => {
    const engine = place.running();
    return place.guarded(() => {
      const length = engine.desk.put(words, chars, texts);
      const report = reported(engine, calling(engine, words.length + texts.length, length, name));
      place.tidy();
      return report as object;
    });
  };
}

/** Text that its owner cannot change any more. */
function lasting(text: Text): Text {
  return typeof text === 'string' ? text : text.slice();
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
