/**
 * Replies that are being restored from streamed pieces. They have instances of their own: the shared one is given up when it grows, and
 * they must outlive that.
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

/** One stream: of a reply, or of a call's arguments. */
export class Stream {
  readonly #session: Session<Step>;
  #calls: RepairedCall[] = [];
  #answerChanges: AnswerChange[] = [];

  /** @param restore - Nobody changes it any more. With a tool's name in a list, it is a stream of one call. */
  constructor(restore: unknown) {
    const begin = (place: Place) => open(place, restore);
    this.#session = Session.open<Step>(homes, begin, again, close, sizeOf) as Session<Step>;
  }

  /** Takes an event; gives those to pass on. */
  feed(event: unknown): unknown[] {
    const remembered = () => ({ event: JSON.stringify(event) });
    return this.#told(this.#session.step(remembered, (place, number) => feed(place, number, event))) as unknown[];
  }

  /** Takes a piece of text; gives the text to pass on. */
  feedText(piece: string): string {
    const remembered = () => ({ text: piece });
    return this.#told(this.#session.step(remembered, (place, number) => feedText(place, number, piece))) as string;
  }

  /** Ends the stream; gives what was held back: events, or the one text. */
  finish(asText: boolean): unknown[] {
    // At its end it is as it began, unless the last event was refused: that is then still there, and nothing else was done to it.
    const remembered = () => ({ text: '' });
    const ended = (place: Place, number: number) =>
      onValues(place, [null], null, ({ glue }, words, chars, spelled) =>
        glue.finishStream(number, asText, words, chars, spelled),
      );
    return this.#told(this.#session.step(remembered, ended)) as unknown[];
  }

  /** What became of the calls that ended since this was asked last. */
  takeRepairedCalls(): RepairedCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  /** What was changed of the answer since this was asked last. */
  takeAnswerChanges(): AnswerChange[] {
    const changes = this.#answerChanges;
    this.#answerChanges = [];
    return changes;
  }

  #told({ value, report }: Outcome<unknown>): unknown {
    const told = report as { calls: RepairedCall[]; answerChanges: AnswerChange[] } | undefined;
    // Not all at once: there may be more than a function takes arguments.
    for (const call of told?.calls ?? []) this.#calls.push(call);
    this.#answerChanges.push(...(told?.answerChanges ?? []));
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
