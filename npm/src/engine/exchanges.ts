/**
 * Exchanges that are under way. They have an instance of their own, as streams have; one that has grown large gets no new ones,
 * and goes when its last one ends. In the entry `toolwire/search` only.
 */

import type { Text } from '../options.js';
import { type Outcome, onText } from './call.js';
import { Place } from './instance.js';

let place = new Place(true);

/** Forgets exchanges that nobody holds any more and that never ended. */
const forgotten = new FinalizationRegistry<() => void>((close) => close());

/** What the other side says beside a text. */
interface Said {
  number?: number;
  request?: string;
  report?: object;
}

/** One exchange. */
export class Running {
  readonly #place: Place;
  readonly #number: number;
  #closed = false;

  private constructor(home: Place, number: number) {
    this.#place = home;
    this.#number = number;
    forgotten.register(this, () => close(home, number), this);
  }

  /** Opens one: the text to be sent, and the report. `undefined`: there is nothing to do. */
  static open(
    url: string,
    body: Text,
    options: unknown,
  ): { running: Running; request: string; report: object } | undefined {
    if (place.isLost || place.isLarge) place = new Place(true);
    const home = place;
    const { value, report } = onText(
      home,
      'Exchange.open',
      [url, body],
      options,
      ({ glue }, _, words, chars, spelled, broken) => glue.openExchange(words, chars, spelled, broken),
    );
    const said = report as Said;
    if (said.number === undefined) return undefined;
    return { running: new Running(home, said.number), request: value, report: said.report as object };
  }

  /** Takes a reply: the one for the client, or the next request and its report. */
  reply<T extends Text>(text: T): { value: T; report: object | undefined } {
    const { value, said } = this.#ask('replyExchange', text);
    return { value, report: said.report };
  }

  /** Takes a piece of a stream; gives the text to pass on. */
  feedText(piece: string): string {
    return this.#ask('feedExchange', piece).value;
  }

  /** Ends a stream: the text to pass on, and the next request and its report. */
  finishText(): { text: string; request: string | undefined; report: object | undefined } {
    const { value, said } = this.#ask('finishExchange', '');
    return { text: value, request: said.request, report: said.report };
  }

  /** The event that tells of an error. */
  failedText(body: string): string {
    return this.#ask('failExchange', body).value;
  }

  /** Nothing more will be asked of it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    forgotten.unregister(this);
    close(this.#place, this.#number);
  }

  #ask<T extends Text>(
    what: 'replyExchange' | 'feedExchange' | 'finishExchange' | 'failExchange',
    text: T,
  ): { value: T; said: Said } {
    // The other side would take it for a defect, and give up every exchange there is.
    if (this.#closed) throw new Error('expected an exchange that is under way, found one that was closed');
    const { value, report }: Outcome<T> = onText(
      this.#place,
      what,
      [text],
      null,
      ({ glue }, _, words, chars, spelled, broken) => glue[what](this.#number, words, chars, spelled, broken),
    );
    return { value, said: (report ?? {}) as Said };
  }
}

function close(home: Place, number: number): void {
  if (!home.isLost) home.running().glue.closeExchange(number);
}
