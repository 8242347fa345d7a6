/**
 * What is kept in an instance from call to call: streams and exchanges. Many of them share one instance, and a defect in the middle of
 * a call is the end of it. So each of them knows what it came from, and all but the one that met the defect go on in another instance.
 */

import { internal, ToolwireError } from '../error.js';
import type { Outcome } from './call.js';
import { Place } from './instance.js';

/** As many share an instance at most, and have to be made anew after a defect: that bounds what one client can cost the others. */
const MOST = 64;

/** Maximum size of what is remembered of one session, in characters. A reply may never end, and never be where nothing is open. */
const MOST_REMEMBERED = 64 << 20;

/** An instance, and how many are in it. */
interface Home {
  readonly place: Place;
  open: number;
}

/** Where one of them is. */
interface Where {
  home: Home;
  number: number;
  /** Takes it out of its instance. */
  readonly close: (place: Place, number: number) => void;
}

/** Forgets those that nobody holds any more and that never ended. */
const forgotten = new FinalizationRegistry<Where>(release);

/** The instances of one kind of session. */
export class Homes {
  #newest: Home = empty();

  /** Where there is room for one more: an instance that works, is not full and has not grown large. */
  next(): Home {
    const { place, open } = this.#newest;
    if (place.isLost || place.isLarge || open >= MOST) this.#newest = empty();
    return this.#newest;
  }
}

function empty(): Home {
  return { place: new Place(true), open: 0 };
}

function release({ home, number, close }: Where): void {
  home.open--;
  if (home.place.isLost) return;
  close(home.place, number);
  // Memory never shrinks: what one huge reply took is given back with its instance.
  if (home.open === 0 && home.place.isLarge) home.place.giveUp();
}

/** One stream or exchange. */
export class Session<Step> {
  readonly #homes: Homes;
  readonly #where: Where;
  readonly #begin: (place: Place) => number | undefined;
  readonly #again: (place: Place, number: number, step: Step) => void;
  readonly #sizeOf: (step: Step) => number;
  /** What happened since it was as it began; `undefined`, if that is not known. */
  #steps: Step[] | undefined = [];
  /** The size of that. */
  #size = 0;
  #closed = false;
  #lost = false;

  private constructor(
    homes: Homes,
    where: Where,
    begin: (place: Place) => number | undefined,
    again: (place: Place, number: number, step: Step) => void,
    sizeOf: (step: Step) => number,
  ) {
    this.#homes = homes;
    this.#where = where;
    this.#begin = begin;
    this.#again = again;
    this.#sizeOf = sizeOf;
    forgotten.register(this, where, where);
  }

  /**
   * Opens one; `undefined` if there is none to open.
   *
   * @param begin - Puts it into an instance, and gives its number there. Has to do the same whenever it is called.
   * @param again - Takes a step once more, in another instance.
   * @param sizeOf - The size of a step, in characters.
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

  /** Whether nothing more will be asked of it. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Takes a step. `remembered` is what is needed to take it again. */
  step<T>(remembered: () => Step, take: (place: Place, number: number) => Outcome<T>): Outcome<T> {
    this.#revive();
    const { home, number } = this.#where;
    try {
      const outcome = take(home.place, number);
      if (outcome.rests) this.#forget([]);
      else this.#remember(remembered);
      return outcome;
    } catch (error) {
      this.#lost = home.place.isLost;
      // What was refused because it is too much has left its mark.
      if (error instanceof ToolwireError && error.code === 'limit-exceeded') this.#remember(remembered);
      throw error;
    }
  }

  /** Looks at it as it is. */
  look<T>(at: (place: Place, number: number) => T): T {
    this.#revive();
    const { home, number } = this.#where;
    try {
      return at(home.place, number);
    } catch (error) {
      this.#lost = home.place.isLost;
      throw error;
    }
  }

  /** Nothing more will be asked of it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#forget([]);
    forgotten.unregister(this.#where);
    release(this.#where);
  }

  /** Notes a step. It is taken already: that it cannot be noted is no reason to lose what it gave. */
  #remember(remembered: () => Step): void {
    if (this.#steps === undefined) return;
    try {
      const step = remembered();
      this.#size += this.#sizeOf(step);
      if (this.#size > MOST_REMEMBERED) this.#forget(undefined);
      else this.#steps.push(step);
    } catch {
      // An event of the caller's that cannot be read twice.
      this.#forget(undefined);
    }
  }

  #forget(steps: [] | undefined): void {
    this.#steps = steps;
    this.#size = 0;
  }

  /** Goes on in another instance, if another session met a defect in this one's. */
  #revive(): void {
    if (this.#where.home.place.isLost && this.#steps === undefined) this.#lost = true;
    if (this.#lost) throw internal('an earlier call of the same object', 'its data is lost: create it again');
    if (!this.#where.home.place.isLost) return;
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
      this.#where.home = home;
      this.#where.number = number;
    } catch (error) {
      this.#lost = true;
      throw error;
    }
  }
}
