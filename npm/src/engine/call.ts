/**
 * Calls to the core's functions, on values or on text. The functions themselves are implemented in the core.
 */

import type { GlueResult } from 'wasm:glue';

import { ToolwireError } from '../error.js';
import type { Text } from '../options.js';
import { decodeOutput } from '../values/wire-decoder.js';
import { WireEncoder } from '../values/wire-encoder.js';
import { type Engine, type EngineHolder, readReport, shared } from './instance.js';
import { decodeUtf8, encodeLike, isBytes, isText, notTextError, outputLike, wellFormedStart } from './text.js';

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
  readonly isInitial: boolean;
}

/**
 * Makes the call once the inputs are in the shared buffer. The parameters are the total number of words, the number of bytes of the
 * records' characters, true if the characters are escaped, and the number of inputs.
 */
type MakeCall = (engine: Engine, wordCount: number, byteCount: number, escaped: boolean, inputs: number) => GlueResult;

/** Like {@link MakeCall}, but for text. `truncated` is true if the last text was cut before a lone surrogate. */
type MakeTextCall = (
  engine: Engine,
  texts: number,
  wordCount: number,
  byteCount: number,
  escaped: boolean,
  truncated: boolean,
) => GlueResult;

/** The result of a call, and a function that computes its report on demand. */
export interface LazyOutcome {
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
export function callOn(name: FunctionName, input: unknown, options: unknown): LazyOutcome {
  let repeat: Repeat | undefined;
  const keepRepeat = (repeatCall: Repeat) => {
    repeat = repeatCall;
  };
  const { value, report } = isText(input)
    ? onText(shared, name, [input], options, textCall(name, false), keepRepeat)
    : onValues(shared, [input], options, valueCall(name, false), noInputs, keepRepeat);
  const fullReport = once(() => (repeat as Repeat)(name));
  return { value, members: report, report: fullReport };
}

/** Repeats a call on the same inputs, with a report. */
type Repeat = (name: FunctionName) => object;

/** Returns a function that computes a value when it is first called. */
export function once<T>(compute: () => T): () => T {
  let pending: (() => T) | undefined = compute;
  let result: T | undefined;
  return () => {
    if (pending !== undefined) {
      result = pending();
      pending = undefined;
    }
    return result as T;
  };
}

/** Calls a function on one input and returns its result as a value, even if the input is text. */
export function callForValue(name: FunctionName, input: unknown, options: unknown): unknown {
  if (!isText(input)) return callOnValues(name, [input], options).value;
  return parseJson(callOnText(name, input, options).value);
}

function parseJson(text: Text): unknown {
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
    return { value: VALUE_RESULTS.has(name) ? parseJson(value) : value, report };
  }
  const { value, report } = callOnValues(name, [asString(name, first), asString(name, second)], options);
  if (!isBytes(first) || typeof value !== 'string' || VALUE_RESULTS.has(name)) {
    return { value, report };
  }
  return { value: value === decodeUtf8(first) ? first : encodeLike(first, value), report };
}

/** The functions whose result is always a value, even if their inputs are text. */
const VALUE_RESULTS: ReadonlySet<FunctionName> = new Set(['validateArguments', 'validateResult']);

/** Decodes bytes. The core throws the error if they are not UTF-8. Any other input is returned unchanged. */
function asString(name: FunctionName, input: unknown): unknown {
  if (!isBytes(input)) return input;
  const text = decodeUtf8(input);
  if (text === undefined) callOnText(name, input, undefined, 'true');
  return text;
}

function valueCall(name: FunctionName, withReport: boolean): MakeCall {
  return (engine, wordCount, byteCount, escaped, inputs) =>
    engine.glue.call(functionNumber(engine, name), withReport, inputs, wordCount, byteCount, escaped);
}

function textCall(name: FunctionName, withReport: boolean): MakeTextCall {
  return (engine, texts, wordCount, byteCount, escaped, truncated) =>
    engine.glue.callText(functionNumber(engine, name), withReport, texts, wordCount, byteCount, escaped, truncated);
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

/** Calls a function on values. `lateInputs` returns additional inputs. It is called after reading the other inputs, which may run getters. */
export function onValues(
  holder: EngineHolder,
  inputs: readonly unknown[],
  options: unknown,
  makeCall: MakeCall,
  lateInputs: () => readonly unknown[] = noInputs,
  keepRepeat?: (repeat: Repeat) => void,
): Outcome<unknown> {
  return withEncoder((encoder) => {
    for (const input of inputs) encoder.read(input);
    const late = lateInputs();
    for (const input of late) encoder.read(input);
    readOptions(encoder, options);
    const { chars, escaped } = encoder.encodedStrings();
    const count = inputs.length + late.length;
    keepRepeat?.(
      repeater(holder, encoder.words.slice(), chars, [], (engine, wordCount, byteCount, name) =>
        valueCall(name, true)(engine, wordCount, byteCount, escaped, count),
      ),
    );
    const engine = holder.getEngine();
    return holder.guard(() => {
      const { buffer } = engine;
      const { words } = encoder;
      const length = buffer.put(words, chars);
      const report = readReport(engine, makeCall(engine, words.length, length, escaped, count));
      const { isInitial } = buffer;
      const value = decodeOutput(buffer, encoder);
      holder.discardIfLarge();
      return { value, report, isInitial };
    });
  });
}

/**
 * Calls a function on texts. `name` is used in the error about an input that is not text.
 */
export function onText<T extends Text>(
  holder: EngineHolder,
  name: string,
  texts: readonly [T, ...Text[]],
  options: unknown,
  makeCall: MakeTextCall,
  keepRepeat?: (repeat: Repeat) => void,
): Outcome<T> {
  for (const input of texts) if (!isText(input)) throw notTextError(name, input);
  const [text] = texts;
  return withEncoder((encoder) => {
    readOptions(encoder, options);
    const { chars, escaped } = encoder.encodedStrings();
    const wellFormed: Text[] = [];
    let truncated = false;
    for (const input of texts) {
      if (truncated) break;
      const start = wellFormedStart(input);
      truncated = typeof input === 'string' && start.length < input.length;
      wellFormed.push(start);
    }
    keepRepeat?.(
      repeater(holder, encoder.words.slice(), chars, wellFormed.map(snapshot), (engine, wordCount, byteCount, name) =>
        textCall(name, true)(engine, wellFormed.length, wordCount, byteCount, escaped, truncated),
      ),
    );
    const engine = holder.getEngine();
    return holder.guard(() => {
      const { buffer } = engine;
      const { words } = encoder;
      const length = buffer.put(words, chars, wellFormed);
      const allWords = words.length + wellFormed.length;
      const report = readReport(engine, makeCall(engine, wellFormed.length, allWords, length, escaped, truncated));
      const { isInitial } = buffer;
      const value = buffer.unchanged ? text : outputLike(text, buffer);
      holder.discardIfLarge();
      return { value, report, isInitial };
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
function repeater(
  holder: EngineHolder,
  words: Uint32Array,
  chars: string,
  texts: readonly Text[],
  makeCall: (engine: Engine, wordCount: number, byteCount: number, name: FunctionName) => GlueResult,
): Repeat {
  return (name) => {
    const engine = holder.getEngine();
    return holder.guard(() => {
      const length = engine.buffer.put(words, chars, texts);
      const report = readReport(engine, makeCall(engine, words.length + texts.length, length, name));
      holder.discardIfLarge();
      return report as object;
    });
  };
}

/** Returns a string, or a copy of bytes, which their owner could change. */
function snapshot(text: Text): Text {
  return typeof text === 'string' ? text : text.slice();
}

function noInputs(): readonly unknown[] {
  return [];
}

export function functionNumber(engine: Engine, name: FunctionName): number {
  return engine.functions.get(name) as number;
}

/**
 * A reusable encoder. If a getter calls toolwire while the caller's value is being read, that call
 * uses another encoder.
 */
let spareEncoder: WireEncoder | undefined;

function withEncoder<R>(use: (encoder: WireEncoder) => R): R {
  const encoder = spareEncoder ?? new WireEncoder();
  spareEncoder = undefined;
  try {
    return use(encoder);
  } finally {
    encoder.clear();
    spareEncoder = encoder;
  }
}
