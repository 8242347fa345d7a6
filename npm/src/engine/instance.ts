/**
 * WebAssembly instances: the shared one, started by the first call and replaced if it breaks or grows too large, and those that keep
 * state between calls.
 */

import { type Glue, newGlue, type Returned } from 'wasm:glue';
import { compiledModule } from 'wasm:source';

import { type Description, internal, ToolwireError } from '../error.js';
import { SharedBuffer } from './shared-buffer.js';

/** A running instance. */
export interface Engine {
  readonly glue: Glue;
  readonly buffer: SharedBuffer;
  /** The numbers of the functions, by name. */
  readonly functions: ReadonlyMap<string, number>;
}

/** Memory size in bytes above which an instance is discarded after a call, because WebAssembly memory never shrinks. */
const LARGE = 64 * 1024 * 1024;

/** Holds the instance in which calls run, one at a time. */
export class Place {
  private engine: Engine | undefined;
  private lost = false;

  /**
   * @param keeps - True if the instance holds state that later calls need.
   * @param renews - True if the caller can restore that state in a new instance, which may then replace this one.
   */
  constructor(
    private readonly keeps: boolean,
    private readonly renews = false,
  ) {}

  /** True if the state was lost. */
  get isLost(): boolean {
    return this.lost;
  }

  /** True if the memory has grown so large that no more state should be kept in it. */
  get isLarge(): boolean {
    return this.engine !== undefined && this.engine.buffer.size > LARGE;
  }

  /** Returns the instance, which the first call starts synchronously. */
  running(): Engine {
    if (this.lost) throw internal('an earlier call to the same object', 'its data is lost: create it again');
    this.engine ??= started();
    return this.engine;
  }

  /** Runs one call in the instance. If it throws anything but a `ToolwireError`, the instance is discarded. */
  guarded<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      if (thrown instanceof ToolwireError) throw thrown;
      // After a trap or a stack overflow, the state of the memory is undefined.
      this.engine = undefined;
      this.lost = this.keeps && !this.renews;
      throw internal(thrown, this.lost ? 'its data is lost: create it again' : 'the next call works');
    }
  }

  /** Discards an instance that holds no state any more. */
  giveUp(): void {
    this.engine = undefined;
  }

  /** Discards a shared instance that a huge value has made large. Call it after the answer was read. */
  tidy(): void {
    if (!this.keeps && this.isLarge) this.engine = undefined;
  }
}

/** The place of all calls that need no state of an earlier one. */
export const shared = new Place(false);

function started(): Engine {
  const module = compiledModule();
  const glue = newGlue();
  const { memory } = glue.initSync({ module });
  const names = glue.functions().split(',');
  return {
    glue,
    buffer: new SharedBuffer(memory, glue),
    functions: new Map(names.map((name, number) => [name, number])),
  };
}

/** Returns a call's report, if there is one. Throws its error, which is a string if it is an internal one. */
export function reported(engine: Engine, returned: Returned): object | undefined {
  if (!engine.buffer.failed) return typeof returned === 'string' ? read(returned) : undefined;
  // Thrown inside `guarded`, which makes it an internal error.
  if (typeof returned !== 'object') throw new Error(returned);
  const { code, pointer, message, changes } = returned as Description;
  throw new ToolwireError(code, pointer, message, changes);
}

/** Parses a report. A second line is a part that is seldom read, and stays JSON text. */
function read(text: string): object {
  const end = text.indexOf('\n');
  if (end < 0) return JSON.parse(text) as object;
  return { ...(JSON.parse(text.slice(0, end)) as object), report: text.slice(end + 1) };
}
