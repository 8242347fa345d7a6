/**
 * Calls to the core's functions, on values or on text. The functions themselves are implemented in the core.
 */

import type { Returned } from 'wasm:glue';

import { ToolwireError } from '../error.js';
import type { Text } from '../options.js';
import { decodeOutput } from '../values/wire-decoder.js';
import { WireEncoder } from '../values/wire-encoder.js';
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
  | 'fitResult'
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

/** The result of a call; `report` is undefined unless a report was requested. */
export interface Outcome<T> {
  readonly value: T;
  readonly report: object | undefined;
  /** True if the session is back in its initial state. */
  readonly rests: boolean;
}

/**
 * Makes the call once the inputs are in the shared buffer. The parameters are the total number of words, the number of bytes of the
 * records' characters, whether they are escaped, and the number of inputs.
 */
type Calling = (engine: Engine, words: number, chars: number, spelled: boolean, inputs: number) => Returned;

/** Like {@link Calling}, but for text. `broken` is true if the last text was cut before a lone surrogate. */
type CallingOnText = (
  engine: Engine,
  texts: number,
  words: number,
  chars: number,
  spelled: boolean,
  broken: boolean,
) => Returned;

/**
 * The result of a call, and a function that computes the report, which the call itself does not
 * return.
 */
export interface Called {
  readonly value: unknown;
  /** The members that the call returned in addition to its value. */
  readonly members: object | undefined;
  /**
   * Returns the whole report. It is computed from the input as encoded at the time of the call, and not from the caller's object,
   * which may have changed.
   */
  report(): object;
}

/** Calls a function on one input, as text if it is text, otherwise as a value. */
export function callOn(name: FunctionName, input: unknown, options: unknown): Called {
  let again: Again | undefined;
  const keep = (repeat: Again) => {
    again = repeat;
  };
  const { value, report } = isText(input)
    ? onText(shared, name, [input], options, textCall(name, false), keep)
    : onValues(shared, [input], options, valueCall(name, false), none, keep);
  const whole = once(() => (again as Again)(name));
  return { value, members: report, report: whole };
}

/** Repeats a call on the same inputs, with a report. */
type Again = (name: FunctionName) => object;

/** Returns a function that computes a value when it is first called. */
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

/** Calls a function on one input and returns its result as a value, even if the input is text. */
export function ask(name: FunctionName, input: unknown, options: unknown): unknown {
  if (!isText(input)) return callOnValues(name, [input], options).value;
  return parsed(callOnText(name, input, options).value);
}

function parsed(text: Text): unknown {
  return JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text));
}

/** Calls a function on values. The core reads strings as JSON text if the function expects that. */
export function callOnValues(name: FunctionName, inputs: readonly unknown[], options: unknown): Outcome<unknown> {
  return onValues(shared, inputs, options, valueCall(name, false));
}

/**
 * Calls a function on two inputs, each of which is text or a value. If the first input is text, so is the result, of the same type, and
 * it is the same text if nothing changed.
 */
export function callOnTwo(
  name: FunctionName,
  first: unknown,
  second: unknown,
  options: unknown,
): { value: unknown; report: object | undefined } {
  if (isText(first) && isText(second)) {
    const { value, report } = callOnText(name, first, options, second);
    return { value: VALUE_RESULTS.has(name) ? parsed(value) : value, report };
  }
  const { value, report } = callOnValues(name, [characters(name, first), characters(name, second)], options);
  if (!isBytes(first) || typeof value !== 'string' || VALUE_RESULTS.has(name)) {
    return { value, report };
  }
  return { value: value === decoded(first) ? first : likeBytes(first, value), report };
}

/** The functions whose result is always a value, even if their inputs are text. */
const VALUE_RESULTS: ReadonlySet<FunctionName> = new Set(['validateArguments', 'validateResult']);

/** Returns text as a string. Bytes that are not UTF-8 are passed to the core, which refuses them. */
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
 * Calls a function on JSON texts. The result is text of the first text's type, and the same text if nothing changed.
 */
export function callOnText<T extends Text>(
  name: FunctionName,
  text: T,
  options: unknown,
  ...more: readonly Text[]
): Outcome<T> {
  return onText(shared, name, [text, ...more], options, textCall(name, false));
}

/** Puts values in the shared buffer of a place, and reads the result from it. `more` returns additional inputs, and is called last. */
export function onValues(
  place: Place,
  inputs: readonly unknown[],
  options: unknown,
  calling: Calling,
  more: () => readonly unknown[] = none,
  keep?: (again: Again) => void,
): Outcome<unknown> {
  return withEncoder((encoder) => {
    for (const input of inputs) encoder.read(input);
    const own = more();
    for (const input of own) encoder.read(input);
    readOptions(encoder, options);
    const { chars, spelled } = encoder.spelling();
    const count = inputs.length + own.length;
    keep?.(
      again(place, encoder.words.slice(), chars, [], (engine, words, length, name) =>
        valueCall(name, true)(engine, words, length, spelled, count),
      ),
    );
    const engine = place.running();
    return place.guarded(() => {
      const { buffer } = engine;
      const { words } = encoder;
      const length = buffer.put(words, chars);
      const report = reported(engine, calling(engine, words.length, length, spelled, count));
      const { rests } = buffer;
      const value = decodeOutput(buffer, encoder);
      place.tidy();
      return { value, report, rests };
    });
  });
}

/**
 * Writes text to the shared buffer of a place, and reads the result from it. `name` is used in the error about an input that is not text.
 */
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
  return withEncoder((encoder) => {
    readOptions(encoder, options);
    const { chars, spelled } = encoder.spelling();
    const whole: Text[] = [];
    let broken = false;
    for (const one of texts) {
      if (broken) break;
      const start = readable(one);
      broken = typeof one === 'string' && start.length < one.length;
      whole.push(start);
    }
    keep?.(
      again(place, encoder.words.slice(), chars, whole.map(lasting), (engine, words, length, name) =>
        textCall(name, true)(engine, whole.length, words, length, spelled, broken),
      ),
    );
    const engine = place.running();
    return place.guarded(() => {
      const { buffer } = engine;
      const { words } = encoder;
      const length = buffer.put(words, chars, whole);
      const all = words.length + whole.length;
      const report = reported(engine, calling(engine, whole.length, all, length, spelled, broken));
      const { rests } = buffer;
      const value = buffer.unchanged ? text : like(text, buffer);
      place.tidy();
      return { value, report, rests };
    });
  });
}

/**
 * Reads options. A value that JSON cannot express, even a function, is reported as an invalid
 * option.
 */
function readOptions(encoder: WireEncoder, options: unknown): void {
  try {
    encoder.read(options ?? null, true);
  } catch (error) {
    if (!(error instanceof ToolwireError) || error.code !== 'invalid-value') throw error;
    throw new ToolwireError('invalid-option', error.pointer, error.detail);
  }
}

/** Returns a function that repeats a call with a report, from inputs that are already encoded. */
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
      const length = engine.buffer.put(words, chars, texts);
      const report = reported(engine, calling(engine, words.length + texts.length, length, name));
      place.tidy();
      return report as object;
    });
  };
}

/** Returns the text, or a copy if its owner could change it. */
function lasting(text: Text): Text {
  return typeof text === 'string' ? text : text.slice();
}

function none(): readonly unknown[] {
  return [];
}

/** Returns the number of a function. */
export function number(engine: Engine, name: FunctionName): number {
  return engine.functions.get(name) as number;
}

/**
 * A reusable encoder. If a getter calls toolwire while the caller's value is being read, that call
 * uses another encoder.
 */
let spare: WireEncoder | undefined;

function withEncoder<R>(use: (encoder: WireEncoder) => R): R {
  const encoder = spare ?? new WireEncoder();
  spare = undefined;
  try {
    return use(encoder);
  } finally {
    encoder.clear();
    spare = encoder;
  }
}
