/**
 * The WebAssembly instance: started by the first call, replaced if it ever breaks or grows too large.
 */

import { type Glue, newGlue } from 'wasm:glue';
import base64 from 'wasm:base64';

import { type Description, ToolwireError } from '../error.js';
import { Desk } from './desk.js';
import { asObject } from './report.js';

/** A running instance. */
export interface Engine {
  readonly glue: Glue;
  readonly desk: Desk;
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
    engine = { glue, desk: new Desk(memory, glue) };
  }
  return engine;
}

/** Runs one call of the instance. What it throws is either an error of ours, or the end of this instance. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof Map) {
      const error = asObject(thrown) as Description;
      throw new ToolwireError(error.code, error.pointer, error.message, error.changes);
    }
    // A trap or an exhausted stack: nothing is known about its memory any more.
    engine = undefined;
    throw new Error('toolwire stopped in the middle of a call; nothing was changed, and the next call starts afresh', {
      cause: thrown,
    });
  }
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
