/**
 * Open exchanges. Like streams, they have WebAssembly instances separate from the shared one.
 */

import { ToolwireError } from '../error.js';
import type { Text } from '../options.js';
import type { DeferralChoice, RepairedCall } from '../report.js';
import type { AnswerChange } from '../rules.js';
import { type Outcome, onText } from './call.js';
import { type Place, shared } from './instance.js';
import { Homes, Session } from './sessions.js';
import { genuine } from './text.js';

const homes = new Homes();

type Operation =
  | 'replyExchange'
  | 'feedExchange'
  | 'finishExchange'
  | 'failExchange'
  | 'feedBytesExchange'
  | 'finishBytesExchange'
  | 'failBytesExchange';

/** One call and its input. */
type Step = [Operation, Text];

type Native = DeferralChoice['native'];

/** The members that a call returns in addition to text. */
interface CallReport {
  number?: number;
  request?: string;
  report?: string;
  betas?: string[];
  native?: Native;
  warning?: Warning | null;
  calls?: RepairedCall[];
  answerChanges?: AnswerChange[];
}

/** A warning about a request. */
export interface Warning {
  message: string;
  /** Equal for equal tools, dialect and reasons. */
  key: string;
}

/** A request to be sent. */
export interface Next {
  request: string;
  /** JSON text; undefined for the first request, whose report is computed when it is read. */
  report: string | undefined;
  betas: string[];
  /** The backend's own construct for deferred tools that the request uses. */
  native: Native;
  warning: Warning | null;
}

/** An open exchange. */
export class Running {
  readonly #session: Session<Step>;
  /** Opens the same exchange again. */
  readonly #begin: (place: Place) => number | undefined;
  #calls: RepairedCall[] = [];
  #answerChanges: AnswerChange[] = [];

  private constructor(session: Session<Step>, begin: (place: Place) => number | undefined) {
    this.#session = session;
    this.#begin = begin;
  }

  /** Opens an exchange and returns its first request; `undefined` if there is nothing to do. */
  static open(url: string, body: Text, options: unknown): { running: Running; next: Next } | undefined {
    let opened: Outcome<string> | undefined;
    // At first the caller's own inputs, so that errors refer to them; later a copy.
    let given: [Text, unknown] = [body, options];
    const begin = (place: Place): number | undefined => {
      const [text, chosen] = given;
      opened = onText(place, 'Exchange.open', [url, text], chosen, ({ glue }, _, words, chars, spelled, broken) =>
        glue.openExchange(words, chars, spelled, broken),
      );
      return (opened.report as CallReport).number;
    };
    const session = Session.open<Step>(
      homes,
      begin,
      (place, number, [operation, text]) => ask(place, number, operation, text),
      close,
      ([, text]) => text.length,
    );
    if (session === undefined || opened === undefined) return undefined;
    const { value, report } = opened;
    given = [typeof body === 'string' ? body : genuine(body).slice(), JSON.parse(JSON.stringify(options ?? null))];
    opened = undefined;
    return { running: new Running(session, begin), next: next(value, report as CallReport) };
  }

  /** Returns the report of the first request as JSON text. Must not be called after a later request. */
  report(): string {
    if (!this.#session.isClosed) return this.#session.look(reportOf);
    // A closed exchange is opened again for the report, so that nothing has to be kept in case the report is read later.
    const { place } = homes.next();
    const number = this.#begin(place) as number;
    const report = reportOf(place, number);
    close(place, number);
    return report;
  }

  /** Accepts a reply and returns the reply for the client, or the next request. */
  reply<T extends Text>(text: T): { value: T } | { next: Next } {
    const { value, members } = this.#ask('replyExchange', text);
    if (members.report === undefined) return { value };
    return { next: next(typeof value === 'string' ? value : new TextDecoder().decode(value), members) };
  }

  /** Accepts a piece of a stream and returns the text to be passed on. */
  feedText(piece: string): string {
    return this.#ask('feedExchange', piece).value;
  }

  /** Ends a stream and returns the text to be passed on, and the next request. */
  finishText(): { text: string; next: Next | undefined } {
    const { value, members } = this.#ask('finishExchange', '');
    return { text: value, next: members.request === undefined ? undefined : next(members.request, members) };
  }

  /** Returns the text of an error event. */
  failedText(body: string): string {
    return this.#ask('failExchange', body).value;
  }

  /** Accepts a piece of a stream and returns the bytes to be passed on. */
  feedBytes(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    return bytesOf(this.#ask('feedBytesExchange', characters(piece)).value);
  }

  /** Ends a stream and returns the bytes to be passed on, and the next request. */
  finishBytes(): { bytes: Uint8Array<ArrayBuffer>; next: Next | undefined } {
    const { value, members } = this.#ask('finishBytesExchange', '');
    const { request } = members;
    return { bytes: bytesOf(value), next: request === undefined ? undefined : next(request, members) };
  }

  /** Returns the bytes of an error event. */
  failedBytes(body: string): Uint8Array<ArrayBuffer> {
    return bytesOf(this.#ask('failBytesExchange', body).value);
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

  /** Closes the exchange and frees its state. */
  close(): void {
    this.#session.close();
  }

  #ask<T extends Text>(operation: Operation, text: T): { value: T; members: CallReport } {
    if (this.#session.isClosed) {
      throw new ToolwireError('invalid-value', '', 'expected an open exchange, found a closed one');
    }
    const remembered = (): Step => [operation, typeof text === 'string' ? text : genuine(text).slice()];
    const { value, report } = this.#session.step(remembered, (place, number) => ask(place, number, operation, text));
    const members = (report ?? {}) as CallReport;
    // Pushed one by one, because there may be more calls than a function accepts arguments.
    for (const call of members.calls ?? []) this.#calls.push(call);
    this.#answerChanges.push(...(members.answerChanges ?? []));
    return { value, members };
  }
}

/** Number of characters that are made by one call, which has limited arguments. */
const CHARACTERS = 8192;

/** Returns a string with a character for each byte. */
function characters(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHARACTERS) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS));
  }
  return text;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Returns the body of an error response in the form of the API at a URL. */
export function refusal(url: string, { code, pointer, detail }: ToolwireError): string {
  return onText(shared, 'Exchange.refusal', [url, code, pointer, detail], null, ({ glue }, _, words, chars, ...rest) =>
    glue.refuseExchange(words, chars, ...rest),
  ).value;
}

function next(request: string, { report, betas, native, warning }: CallReport): Next {
  return { request, report, betas: betas ?? [], native: native ?? 'none', warning: warning ?? null };
}

function ask<T extends Text>(place: Place, exchange: number, operation: Operation, text: T): Outcome<T> {
  return onText(place, operation, [text], null, ({ glue }, _, words, chars, spelled, broken) =>
    glue[operation](exchange, words, chars, spelled, broken),
  );
}

function reportOf(place: Place, number: number): string {
  return place.guarded(() => {
    const report = place.running().glue.reportOfExchange(number);
    // Thrown inside `guarded`, which makes it an internal error.
    if (report === undefined) throw new Error('no exchange with this number');
    return report;
  });
}

function close(place: Place, number: number): void {
  place.running().glue.closeExchange(number);
}
