/**
 * Replies that are being restored from streamed pieces. They have separate instances, because the shared one is discarded when it
 * grows, and their state must outlive that.
 */

import type { Text } from '../options.js';
import type { RepairedCall } from '../report.js';
import type { AnswerChange } from '../rules.js';
import { type Outcome, onText, onValues } from './call.js';
import type { Place } from './instance.js';
import { Homes, Session } from './sessions.js';

const homes = new Homes();

/** A piece of text, or an event as JSON text. */
type Step = { text: string } | { event: string };

/** A stream of a reply, or of one call's arguments. */
export class Stream {
  readonly #session: Session<Step>;
  #calls: RepairedCall[] = [];
  #answerChanges: AnswerChange[] = [];

  /** @param restore - The caller must not change it afterwards. In a list with a tool's name, it opens a stream of one call. */
  constructor(restore: unknown) {
    const begin = (place: Place) => open(place, restore);
    this.#session = Session.open<Step>(homes, begin, again, close, sizeOf) as Session<Step>;
  }

  /** Accepts an event and returns the events to be passed on. */
  feed(event: unknown): unknown[] {
    const remembered = () => ({ event: JSON.stringify(event) });
    return this.#collect(this.#session.step(remembered, (place, number) => feed(place, number, event))) as unknown[];
  }

  /** Accepts a piece of text and returns the text to be passed on. */
  feedText(piece: string): string {
    const remembered = () => ({ text: piece });
    return this.#collect(this.#session.step(remembered, (place, number) => feedText(place, number, piece))) as string;
  }

  /** Ends the stream and returns what was held back: events, or text. */
  finish(asText: boolean): unknown[] {
    // The end resets the stream to its initial state, unless the last event was refused. That event is then still buffered, and nothing
    // else has changed.
    const remembered = () => ({ text: '' });
    const ended = (place: Place, number: number) =>
      onValues(place, [null], null, ({ glue }, words, chars, spelled) =>
        glue.finishStream(number, asText, words, chars, spelled),
      );
    return this.#collect(this.#session.step(remembered, ended)) as unknown[];
  }

  /** Returns the repair results of the calls that ended since the last call to this method. */
  takeRepairedCalls(): RepairedCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  /** Returns the changes to the answer since the last call to this method. */
  takeAnswerChanges(): AnswerChange[] {
    const changes = this.#answerChanges;
    this.#answerChanges = [];
    return changes;
  }

  #collect({ value, report }: Outcome<unknown>): unknown {
    const ended = report as { calls: RepairedCall[]; answerChanges: AnswerChange[] } | undefined;
    // Pushed one by one, because there may be more calls than a function accepts arguments.
    for (const call of ended?.calls ?? []) this.#calls.push(call);
    this.#answerChanges.push(...(ended?.answerChanges ?? []));
    return value;
  }
}

function sizeOf(step: Step): number {
  return ('text' in step ? step.text : step.event).length;
}

function open(place: Place, restore: unknown): number {
  const opened = onValues(place, [restore], null, ({ glue }, words, chars, spelled) =>
    glue.openStream(words, chars, spelled),
  );
  return opened.value as number;
}

function feed(place: Place, number: number, event: unknown): Outcome<unknown> {
  return onValues(place, [event], null, ({ glue }, words, chars, spelled) =>
    glue.feedStream(number, words, chars, spelled),
  );
}

function feedText(place: Place, number: number, piece: string): Outcome<Text> {
  return onText(place, 'feedText', [piece as Text], null, ({ glue }, _, words, chars, spelled, broken) =>
    glue.feedStreamText(number, words, chars, spelled, broken),
  );
}

function again(place: Place, number: number, step: Step): void {
  if ('text' in step) feedText(place, number, step.text);
  else feed(place, number, JSON.parse(step.event));
}

function close(place: Place, number: number): void {
  place.running().glue.closeStream(number);
}
