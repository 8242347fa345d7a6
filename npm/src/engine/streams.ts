/**
 * Replies that are being restored from streamed pieces. They have an instance of their own: the shared one is given up when
 * it grows, and they must outlive that.
 */

import type { Text } from '../options.js';
import { onText, onValues } from './call.js';
import { Place } from './instance.js';

let place = new Place(true);

/** Forgets streams that nobody holds any more and that were never finished. */
const forgotten = new FinalizationRegistry<() => void>((close) => close());

/** One stream. */
export class Stream {
  readonly #place: Place;
  readonly #number: number;

  constructor(restore: unknown) {
    if (place.isLost) place = new Place(true);
    const home = place;
    this.#place = home;
    this.#number = onValues(home, [restore], null, ({ glue }, words, chars, spelled) =>
      glue.openStream(words, chars, spelled),
    ).value as number;
    const number = this.#number;
    forgotten.register(this, () => close(home, number), this);
  }

  /** Takes an event; gives those to pass on. */
  feed(event: unknown): unknown[] {
    return onValues(this.#place, [event], null, ({ glue }, words, chars, spelled) =>
      glue.feedStream(this.#number, words, chars, spelled),
    ).value as unknown[];
  }

  /** Takes a piece of text; gives the text to pass on. */
  feedText(piece: string): string {
    return onText(this.#place, 'feedText', [piece as Text], null, ({ glue }, _, words, chars, spelled, broken) =>
      glue.feedStreamText(this.#number, words, chars, spelled, broken),
    ).value as string;
  }

  /** Ends the stream; gives what was held back: events, or the one text. */
  finish(asText: boolean): unknown[] {
    return onValues(this.#place, [null], null, ({ glue }, words, chars, spelled) =>
      glue.finishStream(this.#number, asText, words, chars, spelled),
    ).value as unknown[];
  }
}

function close(home: Place, number: number): void {
  if (!home.isLost) home.running().glue.closeStream(number);
}
