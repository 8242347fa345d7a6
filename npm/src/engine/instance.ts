/**
 * WebAssembly instances. The first call starts the shared instance, which is replaced if it traps or grows too large. Other
 * instances keep state between calls.
 */

import { type Glue, type GlueResult, newGlue } from 'wasm:glue';
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

/** Holds an instance. Its calls run one at a time. */
export class EngineHolder {
  private engine: Engine | undefined;
  private lost = false;

  /**
   * @param keepsState - True if the instance holds state that later calls need.
   * @param canRenew - True if the caller can restore that state in a new instance, which may then replace this one.
   */
  constructor(
    private readonly keepsState: boolean,
    private readonly canRenew = false,
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
  getEngine(): Engine {
    if (this.lost) throw internal('an earlier call to the same object', 'its data is lost: create it again');
    this.engine ??= startEngine();
    return this.engine;
  }

  /** Runs one call in the instance. If it throws anything but a `ToolwireError`, the instance is discarded. */
  guard<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      if (error instanceof ToolwireError) throw error;
      // After a trap or a stack overflow, the state of the memory is undefined.
      this.engine = undefined;
      this.lost = this.keepsState && !this.canRenew;
      throw internal(error, this.lost ? 'its data is lost: create it again' : 'the next call works');
    }
  }

  /** Discards an instance whose state is no longer needed. */
  discard(): void {
    this.engine = undefined;
  }

  /** Discards a shared instance that a huge value has made large. Call it after reading the output. */
  discardIfLarge(): void {
    if (!this.keepsState && this.isLarge) this.engine = undefined;
  }
}

/** The instance for calls that need no state of earlier calls. */
export const shared = new EngineHolder(false);

function startEngine(): Engine {
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

/** Returns a call's report, if there is one. Throws the error of a failed call. */
export function readReport(engine: Engine, result: GlueResult): object | undefined {
  if (!engine.buffer.failed) return typeof result === 'string' ? parseReport(result) : undefined;
  // Thrown inside `guard`, which makes it an internal error.
  if (typeof result !== 'object') throw new Error(result);
  const { code, pointer, message, changes } = result as Description;
  throw new ToolwireError(code, pointer, message, changes);
}

/** Parses the first line of a report. The second line is seldom read, so the member `report` keeps it as JSON text. */
function parseReport(text: string): object {
  const end = text.indexOf('\n');
  if (end < 0) return JSON.parse(text) as object;
  return { ...(JSON.parse(text.slice(0, end)) as object), report: text.slice(end + 1) };
}
