/**
 * The WebAssembly instance: started by the first call, replaced if it ever breaks or grows too large.
 */

import base64 from 'wasm:base64';
import { type Glue, newGlue } from 'wasm:glue';

import { type Description, ToolwireError } from '../error.js';
import { Desk } from './desk.js';
import { asObject } from './report.js';

/** A running instance. */
export interface Engine {
  readonly glue: Glue;
  readonly desk: Desk;
  /** The numbers of the functions, by name. */
  readonly functions: ReadonlyMap<string, number>;
}

/** Memory above which an instance is given up after a call: WebAssembly memory grows, and never shrinks. */
const LARGE = 64 * 1024 * 1024;

let compiled: WebAssembly.Module | undefined;
let engine: Engine | undefined;

/** The instance, started if need be. Synchronous, and the only place where starting costs anything. */
export function running(): Engine {
  if (engine === undefined) {
    compiled ??= new WebAssembly.Module(bytes());
    const glue = newGlue();
    const { memory } = glue.initSync({ module: compiled });
    const names = glue.functions().split(',');
    engine = { glue, desk: new Desk(memory, glue), functions: new Map(names.map((name, number) => [name, number])) };
  }
  return engine;
}

/** Runs one call of the instance. Whatever it throws is the end of this instance. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof ToolwireError) throw thrown;
    // A trap or an exhausted stack: nothing is known about its memory any more.
    engine = undefined;
    throw new Error('toolwire stopped in the middle of a call; nothing was changed, and the next call starts afresh', {
      cause: thrown,
    });
  }
}

/** What a call returned: a report, or nothing. An error is thrown. */
export function reported(engine: Engine, returned: unknown): object | undefined {
  const described = asObject(returned);
  if (!engine.desk.failed) return described as object | undefined;
  if (typeof described === 'string') throw new Error(described);
  const { code, pointer, message, changes } = described as Description;
  throw new ToolwireError(code, pointer, message, changes);
}

/** Gives up an instance that one huge value has made large. To be called once the answer is read. */
export function tidy(used: Engine): void {
  if (used.desk.size > LARGE && engine === used) engine = undefined;
}

function bytes(): Uint8Array<ArrayBuffer> {
  const { Buffer } = globalThis as { Buffer?: { from(text: string, encoding: 'base64'): Uint8Array<ArrayBuffer> } };
  if (Buffer !== undefined) return Buffer.from(base64, 'base64');
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
