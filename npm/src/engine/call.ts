/**
 * One call of the core, on values or on text. What a function is and does, the core knows.
 */

import { answered } from '../values/answer.js';
import { Records } from '../values/records.js';
import { type Engine, guarded, reported, running, tidy } from './instance.js';
import { isText, like, readable, type Text, unreadable } from './text.js';

/** The core's functions by name. */
export type FunctionName =
  | 'sanitize'
  | 'normalizeEnvelope'
  | 'applyDeferredLoading'
  | 'check'
  | 'restoreArguments'
  | 'dialects'
  // In the entry `toolwire/search` only.
  | 'searchTools'
  | 'answerToolSearch';

/** What a call gave; `report` is undefined unless one was asked for. */
export interface Outcome<T> {
  readonly value: T;
  readonly report: object | undefined;
}

/** Calls a function on values. */
export function callOnValues(
  name: FunctionName,
  withReport: boolean,
  inputs: readonly unknown[],
  options: unknown,
): Outcome<unknown> {
  return withRecords((records) => {
    for (const input of inputs) records.read(input);
    records.read(options ?? null);
    const { chars, spelled } = records.spelling();
    const engine = running();
    return guarded(() => {
      const { desk, glue } = engine;
      const { words } = records;
      const length = desk.put(words, chars);
      const returned = glue.call(number(engine, name), withReport, inputs.length, words.length, length, spelled);
      const report = reported(engine, returned);
      const value = answered(desk, records);
      tidy(engine);
      return { value, report };
    });
  });
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
  const texts = [text, ...more];
  for (const one of texts) if (!isText(one)) throw unreadable(name, one);
  return withRecords((records) => {
    records.read(options ?? null);
    const { chars, spelled } = records.spelling();
    const whole: Text[] = [];
    let broken = false;
    for (const one of texts) {
      if (broken) break;
      const start = readable(one);
      broken = start.length < one.length;
      whole.push(start);
    }
    const engine = running();
    return guarded(() => {
      const { desk, glue } = engine;
      const { words } = records;
      const length = desk.put(words, chars, whole);
      const all = words.length + whole.length;
      const returned = glue.callText(number(engine, name), withReport, whole.length, all, length, spelled, broken);
      const report = reported(engine, returned);
      const value = desk.unchanged ? text : like(text, desk);
      tidy(engine);
      return { value, report };
    });
  });
}

function number(engine: Engine, name: FunctionName): number {
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
