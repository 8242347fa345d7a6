/**
 * State that is kept in an instance from call to call: streams and exchanges. Many sessions share one instance, and a trap during a
 * call destroys it. Each session therefore records its inputs, so that the other sessions can continue in another instance.
 */

import { internal, ToolwireError } from '../error.js';
import type { Outcome } from './call.js';
import { EngineHolder } from './instance.js';

/** Maximum number of sessions in one instance. It bounds the number of sessions to replay after a trap. */
const MAX_OPEN = 64;

/** Maximum size of a session's recorded steps, in characters, because a reply may never end. */
const MAX_RECORDED = 64 << 20;

/** An instance and the number of its sessions. */
interface PoolEntry {
  readonly holder: EngineHolder;
  open: number;
}

/** The instance of a session, and the number of the session in it. */
interface SessionLocation {
  entry: PoolEntry;
  number: number;
  /** Removes the session from its instance. */
  readonly close: (holder: EngineHolder, number: number) => void;
}

/** Frees sessions that were garbage-collected before they were closed. */
const unclosed = new FinalizationRegistry<SessionLocation>(release);

/** The instances of one kind of session. */
export class InstancePool {
  #newest: PoolEntry = empty();

  /** Returns an instance for one more session. It replaces an instance that is lost, full or large. */
  next(): PoolEntry {
    const { holder, open } = this.#newest;
    if (holder.isLost || holder.isLarge || open >= MAX_OPEN) this.#newest = empty();
    return this.#newest;
  }
}

function empty(): PoolEntry {
  return { holder: new EngineHolder(true), open: 0 };
}

function release({ entry, number, close }: SessionLocation): void {
  entry.open--;
  if (entry.holder.isLost) return;
  close(entry.holder, number);
  // Memory never shrinks, so an instance that one huge reply has made large is discarded once it is empty.
  if (entry.open === 0 && entry.holder.isLarge) entry.holder.discard();
}

/** A stream or exchange. */
export class Session<Step> {
  readonly #pool: InstancePool;
  readonly #location: SessionLocation;
  readonly #create: (holder: EngineHolder) => number | undefined;
  readonly #replay: (holder: EngineHolder, number: number, step: Step) => void;
  readonly #sizeOf: (step: Step) => number;
  /** The steps since the session was last in its initial state; `undefined` if they are no longer known. */
  #steps: Step[] | undefined = [];
  /** Total size of the steps. */
  #size = 0;
  #closed = false;
  #lost = false;

  private constructor(
    pool: InstancePool,
    location: SessionLocation,
    create: (holder: EngineHolder) => number | undefined,
    replay: (holder: EngineHolder, number: number, step: Step) => void,
    sizeOf: (step: Step) => number,
  ) {
    this.#pool = pool;
    this.#location = location;
    this.#create = create;
    this.#replay = replay;
    this.#sizeOf = sizeOf;
    unclosed.register(this, location, location);
  }

  /**
   * Opens a session. Returns `undefined` if `create` does.
   *
   * @param create - Creates the session in an instance and returns its number there. Every call must create an equal session.
   * @param replay - Replays a step in another instance.
   * @param sizeOf - Returns the size of a step, in characters.
   */
  static open<Step>(
    pool: InstancePool,
    create: (holder: EngineHolder) => number | undefined,
    replay: (holder: EngineHolder, number: number, step: Step) => void,
    close: (holder: EngineHolder, number: number) => void,
    sizeOf: (step: Step) => number,
  ): Session<Step> | undefined {
    const entry = pool.next();
    const number = create(entry.holder);
    if (number === undefined) return undefined;
    entry.open++;
    return new Session(pool, { entry, number, close }, create, replay, sizeOf);
  }

  /** True if the session was closed. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Runs a step. `recordStep` returns the data with which it can be replayed. */
  step<T>(recordStep: () => Step, run: (holder: EngineHolder, number: number) => Outcome<T>): Outcome<T> {
    this.#replayIfLost();
    const { entry, number } = this.#location;
    try {
      const outcome = run(entry.holder, number);
      if (outcome.isInitial) this.#setSteps([]);
      else this.#record(recordStep);
      return outcome;
    } catch (error) {
      this.#lost = entry.holder.isLost;
      // A step that exceeded a limit has nevertheless changed the state.
      if (error instanceof ToolwireError && error.code === 'limit-exceeded') this.#record(recordStep);
      throw error;
    }
  }

  /** Reads the session's state without changing it. */
  inspect<T>(read: (holder: EngineHolder, number: number) => T): T {
    this.#replayIfLost();
    const { entry, number } = this.#location;
    try {
      return read(entry.holder, number);
    } catch (error) {
      this.#lost = entry.holder.isLost;
      throw error;
    }
  }

  /** Closes the session and frees its state. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#setSteps([]);
    unclosed.unregister(this.#location);
    release(this.#location);
  }

  /** Records a step that was already run. An error while recording must not replace the result of the step. */
  #record(recordStep: () => Step): void {
    if (this.#steps === undefined) return;
    try {
      const step = recordStep();
      this.#size += this.#sizeOf(step);
      if (this.#size > MAX_RECORDED) this.#setSteps(undefined);
      else this.#steps.push(step);
    } catch {
      // The caller's event could not be read a second time.
      this.#setSteps(undefined);
    }
  }

  #setSteps(steps: [] | undefined): void {
    this.#steps = steps;
    this.#size = 0;
  }

  /** Replays the session in another instance if its instance was destroyed by a trap of another session. */
  #replayIfLost(): void {
    if (this.#location.entry.holder.isLost && this.#steps === undefined) this.#lost = true;
    if (this.#lost) throw internal('an earlier call to the same object', 'its data is lost: create it again');
    if (!this.#location.entry.holder.isLost) return;
    const entry = this.#pool.next();
    try {
      const number = this.#create(entry.holder) as number;
      for (const step of this.#steps ?? []) {
        try {
          this.#replay(entry.holder, number, step);
        } catch (error) {
          if (entry.holder.isLost) throw error;
        }
      }
      entry.open++;
      this.#location.entry = entry;
      this.#location.number = number;
    } catch (error) {
      this.#lost = true;
      throw error;
    }
  }
}
