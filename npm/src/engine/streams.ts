/**
 * Replies that are being restored from streamed pieces. They have separate instances: the shared instance is discarded when
 * it grows, which would discard their state.
 */

import type { Text } from '../options.js';
import type { RepairedCall } from '../report.js';
import type { AnswerChange } from '../rules.js';
import { type Outcome, onText, onValues } from './call.js';
import type { EngineHolder } from './instance.js';
import { InstancePool, Session } from './sessions.js';

const NO_INPUT = [null];
const NO_OPTIONS = null;

const pool = new InstancePool();

/** A piece of text, or an event as JSON text. */
type Step = { text: string } | { event: string };

/** A stream of a reply, or of one call's arguments. */
export class Stream {
  readonly #session: Session<Step>;
  #calls: RepairedCall[] = [];
  #answerChanges: AnswerChange[] = [];

  /**
   * @param restore - The restore data, or `[data, toolName]` for the arguments of one call. The caller must not change it
   * afterwards.
   */
  constructor(restore: unknown) {
    const create = (holder: EngineHolder) => open(holder, restore);
    this.#session = Session.open<Step>(pool, create, replay, close, sizeOf) as Session<Step>;
  }

  /** Accepts an event and returns the events to be passed on. */
  feed(event: unknown): unknown[] {
    const recordStep = () => ({ event: JSON.stringify(event) });
    return this.#collect(this.#session.step(recordStep, (holder, number) => feed(holder, number, event))) as unknown[];
  }

  /** Accepts a piece of text and returns the text to be passed on. */
  feedText(piece: string): string {
    const recordStep = () => ({ text: piece });
    return this.#collect(this.#session.step(recordStep, (holder, number) => feedText(holder, number, piece))) as string;
  }

  /** Ends the stream and returns what was held back: events, or text. */
  finish(asText: boolean): unknown[] {
    // The end resets the stream to its initial state, unless the last event was refused. That event is then still buffered, and nothing
    // else has changed. The step is then recorded as an empty piece, which adds nothing when it is replayed.
    const recordStep = () => ({ text: '' });
    const finishStream = (holder: EngineHolder, number: number) =>
      onValues(holder, NO_INPUT, NO_OPTIONS, ({ glue }, wordCount, byteCount, escaped) =>
        glue.finishStream(number, asText, wordCount, byteCount, escaped),
      );
    return this.#collect(this.#session.step(recordStep, finishStream)) as unknown[];
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
    const members = report as { calls: RepairedCall[]; answerChanges: AnswerChange[] } | undefined;
    // Pushed one by one, because there may be more calls than a function accepts arguments.
    for (const call of members?.calls ?? []) this.#calls.push(call);
    this.#answerChanges.push(...(members?.answerChanges ?? []));
    return value;
  }
}

function sizeOf(step: Step): number {
  return ('text' in step ? step.text : step.event).length;
}

function open(holder: EngineHolder, restore: unknown): number {
  const outcome = onValues(holder, [restore], NO_OPTIONS, ({ glue }, wordCount, byteCount, escaped) =>
    glue.openStream(wordCount, byteCount, escaped),
  );
  return outcome.value as number;
}

function feed(holder: EngineHolder, number: number, event: unknown): Outcome<unknown> {
  return onValues(holder, [event], NO_OPTIONS, ({ glue }, wordCount, byteCount, escaped) =>
    glue.feedStream(number, wordCount, byteCount, escaped),
  );
}

function feedText(holder: EngineHolder, number: number, piece: string): Outcome<Text> {
  return onText(
    holder,
    'feedText',
    [piece as Text],
    NO_OPTIONS,
    ({ glue }, _, wordCount, byteCount, escaped, truncated) =>
      glue.feedStreamText(number, wordCount, byteCount, escaped, truncated),
  );
}

function replay(holder: EngineHolder, number: number, step: Step): void {
  if ('text' in step) feedText(holder, number, step.text);
  else feed(holder, number, JSON.parse(step.event));
}

function close(holder: EngineHolder, number: number): void {
  holder.getEngine().glue.closeStream(number);
}
