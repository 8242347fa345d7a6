/**
 * State that is kept in an instance from call to call: streams and exchanges. Many sessions share one instance, and a trap during a
 * call destroys it. Each session therefore remembers its inputs, and all but the one that trapped continue in another instance.
 */

import { internal, ToolwireError } from '../error.js';
import type { Outcome } from './call.js';
import { Place } from './instance.js';

/** Maximum number of sessions in one instance. It bounds the sessions that have to be replayed after a trap in one of them. */
const MAX_OPEN = 64;

/** Maximum size of a session's remembered steps, in characters, because a reply may never end or reach a state with nothing open. */
const MAX_REMEMBERED = 64 << 20;

/** An instance and the number of its sessions. */
interface Home {
  readonly place: Place;
  open: number;
}

/** The place of a session. */
interface SessionPlace {
  home: Home;
  number: number;
  /** Removes the session from its instance. */
  readonly close: (place: Place, number: number) => void;
}

/** Frees sessions that were garbage-collected before they were closed. */
const forgotten = new FinalizationRegistry<SessionPlace>(release);

/** The instances of one kind of session. */
export class Homes {
  #newest: Home = empty();

  /** Returns an instance with room for one more session: one that is neither lost nor full nor large. */
  next(): Home {
    const { place, open } = this.#newest;
    if (place.isLost || place.isLarge || open >= MAX_OPEN) this.#newest = empty();
    return this.#newest;
  }
}

function empty(): Home {
  return { place: new Place(true), open: 0 };
}

function release({ home, number, close }: SessionPlace): void {
  home.open--;
  if (home.place.isLost) return;
  close(home.place, number);
  // Memory never shrinks, so an instance that one huge reply has made large is discarded once it is empty.
  if (home.open === 0 && home.place.isLarge) home.place.giveUp();
}

/** A stream or exchange. */
export class Session<Step> {
  readonly #homes: Homes;
  readonly #sessionPlace: SessionPlace;
  readonly #begin: (place: Place) => number | undefined;
  readonly #again: (place: Place, number: number, step: Step) => void;
  readonly #sizeOf: (step: Step) => number;
  /** The steps since the session was last in its initial state; `undefined` if they are no longer known. */
  #steps: Step[] | undefined = [];
  /** Total size of the steps. */
  #size = 0;
  #closed = false;
  #lost = false;

  private constructor(
    homes: Homes,
    sessionPlace: SessionPlace,
    begin: (place: Place) => number | undefined,
    again: (place: Place, number: number, step: Step) => void,
    sizeOf: (step: Step) => number,
  ) {
    this.#homes = homes;
    this.#sessionPlace = sessionPlace;
    this.#begin = begin;
    this.#again = again;
    this.#sizeOf = sizeOf;
    forgotten.register(this, sessionPlace, sessionPlace);
  }

  /**
   * Opens a session. Returns `undefined` if there is nothing to open.
   *
   * @param begin - Creates the session in an instance and returns its number there. It must do the same every time.
   * @param again - Replays a step in another instance.
   * @param sizeOf - Returns the size of a step, in characters.
   */
  static open<Step>(
    homes: Homes,
    begin: (place: Place) => number | undefined,
    again: (place: Place, number: number, step: Step) => void,
    close: (place: Place, number: number) => void,
    sizeOf: (step: Step) => number,
  ): Session<Step> | undefined {
    const home = homes.next();
    const number = begin(home.place);
    if (number === undefined) return undefined;
    home.open++;
    return new Session(homes, { home, number, close }, begin, again, sizeOf);
  }

  /** True if the session was closed. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Runs a step. `remembered` returns the data for replaying it. */
  step<T>(remembered: () => Step, take: (place: Place, number: number) => Outcome<T>): Outcome<T> {
    this.#revive();
    const { home, number } = this.#sessionPlace;
    try {
      const outcome = take(home.place, number);
      if (outcome.rests) this.#forget([]);
      else this.#remember(remembered);
      return outcome;
    } catch (error) {
      this.#lost = home.place.isLost;
      // A step that exceeded a limit has nevertheless changed the state.
      if (error instanceof ToolwireError && error.code === 'limit-exceeded') this.#remember(remembered);
      throw error;
    }
  }

  /** Reads the session's state without changing it. */
  look<T>(at: (place: Place, number: number) => T): T {
    this.#revive();
    const { home, number } = this.#sessionPlace;
    try {
      return at(home.place, number);
    } catch (error) {
      this.#lost = home.place.isLost;
      throw error;
    }
  }

  /** Closes the session and frees its state. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#forget([]);
    forgotten.unregister(this.#sessionPlace);
    release(this.#sessionPlace);
  }

  /** Records a step that was already run. If it cannot be recorded, its result must not be lost. */
  #remember(remembered: () => Step): void {
    if (this.#steps === undefined) return;
    try {
      const step = remembered();
      this.#size += this.#sizeOf(step);
      if (this.#size > MAX_REMEMBERED) this.#forget(undefined);
      else this.#steps.push(step);
    } catch {
      // The caller's event could not be read a second time.
      this.#forget(undefined);
    }
  }

  #forget(steps: [] | undefined): void {
    this.#steps = steps;
    this.#size = 0;
  }

  /** Replays the session in another instance, if another session's trap destroyed its own. */
  #revive(): void {
    if (this.#sessionPlace.home.place.isLost && this.#steps === undefined) this.#lost = true;
    if (this.#lost) throw internal('an earlier call to the same object', 'its data is lost: create it again');
    if (!this.#sessionPlace.home.place.isLost) return;
    const home = this.#homes.next();
    try {
      const number = this.#begin(home.place) as number;
      for (const step of this.#steps ?? []) {
        try {
          this.#again(home.place, number, step);
        } catch (error) {
          if (home.place.isLost) throw error;
        }
      }
      home.open++;
      this.#sessionPlace.home = home;
      this.#sessionPlace.number = number;
    } catch (error) {
      this.#lost = true;
      throw error;
    }
  }
}
