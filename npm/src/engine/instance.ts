/**
 * WebAssembly instances: the one that all calls share, started by the first of them and replaced if it ever breaks or
 * grows too large; and those that keep something.
 */

import { type Glue, newGlue, type Returned } from 'wasm:glue';
import { compiledModule } from 'wasm:source';

import { type Description, internal, ToolwireError } from '../error.js';
import { Desk } from './desk.js';

/** A running instance. */
export interface Engine {
  readonly glue: Glue;
  readonly desk: Desk;
  /** The numbers of the functions, by name. */
  readonly functions: ReadonlyMap<string, number>;
}

/** Memory above which an instance is given up after a call: WebAssembly memory grows, and never shrinks. */
const LARGE = 64 * 1024 * 1024;

/** Where calls run: one instance at a time. */
export class Place {
  private engine: Engine | undefined;
  private lost = false;

  /**
   * @param keeps - Whether the instance holds what later calls need.
   * @param renews - Whether the caller can put that into another instance, which may take its place then.
   */
  constructor(
    private readonly keeps: boolean,
    private readonly renews = false,
  ) {}

  /** Whether what it kept is lost. */
  get isLost(): boolean {
    return this.lost;
  }

  /** Whether its memory has grown so much that nothing more should be kept there. */
  get isLarge(): boolean {
    return this.engine !== undefined && this.engine.desk.size > LARGE;
  }

  /** The instance, started if need be. Synchronous, and the only place where starting costs anything. */
  running(): Engine {
    if (this.lost) throw internal('an earlier call of the same object', 'its data is lost: create it again');
    this.engine ??= started();
    return this.engine;
  }

  /** Runs one call of the instance. Whatever it throws is the end of this instance. */
  guarded<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      if (thrown instanceof ToolwireError) throw thrown;
      // A trap or an exhausted stack: nothing is known about its memory any more.
      this.engine = undefined;
      this.lost = this.keeps && !this.renews;
      throw internal(thrown, this.lost ? 'its data is lost: create it again' : 'the next call works');
    }
  }

  /** Gives up an instance in which nothing is kept any more. */
  giveUp(): void {
    this.engine = undefined;
  }

  /** Gives up an instance that one huge value has made large. To be called once the answer is read. */
  tidy(): void {
    if (!this.keeps && this.isLarge) this.engine = undefined;
  }
}

/** Where all calls run that need nothing of an earlier one. */
export const shared = new Place(false);

function started(): Engine {
  const module = compiledModule();
  const glue = newGlue();
  const { memory } = glue.initSync({ module });
  const names = glue.functions().split(',');
  return { glue, desk: new Desk(memory, glue), functions: new Map(names.map((name, number) => [name, number])) };
}

/** What a call returned: a report, or nothing. An error is thrown: ours comes as a string. */
export function reported(engine: Engine, returned: Returned): object | undefined {
  if (!engine.desk.failed) return typeof returned === 'string' ? read(returned) : undefined;
  // Thrown inside `guarded`, which makes it an internal error.
  if (typeof returned !== 'object') throw new Error(returned);
  const { code, pointer, message, changes } = returned as Description;
  throw new ToolwireError(code, pointer, message, changes);
}

/** A report of JSON text. What is seldom read of it is the next line, and stays text. */
function read(text: string): object {
  const end = text.indexOf('\n');
  if (end < 0) return JSON.parse(text) as object;
  return { ...(JSON.parse(text.slice(0, end)) as object), report: text.slice(end + 1) };
}
