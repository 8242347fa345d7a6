/**
 * Open exchanges. Like streams, they have WebAssembly instances separate from the shared one.
 */

import { ToolwireError } from '../error.js';
import type { Text } from '../options.js';
import type { DeferralChoice, RepairedCall } from '../report.js';
import type { AnswerChange } from '../rules.js';
import { type Outcome, onText } from './call.js';
import { type EngineHolder, shared } from './instance.js';
import { InstancePool, Session } from './sessions.js';
import { plainBytes } from './text.js';

const pool = new InstancePool();

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
export interface NextRequest {
  request: string;
  /** JSON text; undefined for the first request, whose report is computed when it is read. */
  report: string | undefined;
  betas: string[];
  /** The backend's own construct for deferred tools that the request uses. */
  native: Native;
  warning: Warning | null;
}

/** An open exchange. */
export class OpenExchange {
  readonly #session: Session<Step>;
  /** Opens the same exchange again. */
  readonly #create: (holder: EngineHolder) => number | undefined;
  #calls: RepairedCall[] = [];
  #answerChanges: AnswerChange[] = [];

  private constructor(session: Session<Step>, create: (holder: EngineHolder) => number | undefined) {
    this.#session = session;
    this.#create = create;
  }

  /** Opens an exchange and returns its first request; `undefined` if the request needs no exchange. */
  static open(url: string, body: Text, options: unknown): { exchange: OpenExchange; next: NextRequest } | undefined {
    let opened: Outcome<string> | undefined;
    // At first the caller's objects, to which errors refer; later a copy.
    let inputs: [Text, unknown] = [body, options];
    const create = (holder: EngineHolder): number | undefined => {
      const [text, openOptions] = inputs;
      opened = onText(
        holder,
        'Exchange.open',
        [url, text],
        openOptions,
        ({ glue }, _, wordCount, byteCount, escaped, truncated) =>
          glue.openExchange(wordCount, byteCount, escaped, truncated),
      );
      return (opened.report as CallReport).number;
    };
    const session = Session.open<Step>(
      pool,
      create,
      (holder, number, [operation, text]) => callExchange(holder, number, operation, text),
      close,
      ([, text]) => text.length,
    );
    if (session === undefined || opened === undefined) return undefined;
    const { value, report } = opened;
    inputs = [typeof body === 'string' ? body : plainBytes(body).slice(), JSON.parse(JSON.stringify(options ?? null))];
    opened = undefined;
    return { exchange: new OpenExchange(session, create), next: nextRequest(value, report as CallReport) };
  }

  /** Returns the report of the first request as JSON text. Must not be called after a later request. */
  report(): string {
    if (!this.#session.isClosed) return this.#session.inspect(reportOf);
    // A closed exchange is opened again for the report, because closing it freed its state.
    const { holder } = pool.next();
    const number = this.#create(holder) as number;
    const report = reportOf(holder, number);
    close(holder, number);
    return report;
  }

  /** Accepts a reply and returns the reply for the client, or the next request. */
  reply<T extends Text>(text: T): { value: T } | { next: NextRequest } {
    const { value, members } = this.#run('replyExchange', text);
    if (members.report === undefined) return { value };
    return { next: nextRequest(typeof value === 'string' ? value : new TextDecoder().decode(value), members) };
  }

  /** Accepts a piece of a stream and returns the text to be passed on. */
  feedText(piece: string): string {
    return this.#run('feedExchange', piece).value;
  }

  /** Ends a stream and returns the text to be passed on, and the next request. */
  finishText(): { text: string; next: NextRequest | undefined } {
    const { value, members } = this.#run('finishExchange', '');
    return { text: value, next: members.request === undefined ? undefined : nextRequest(members.request, members) };
  }

  /** Returns the text of an error event. */
  failedText(body: string): string {
    return this.#run('failExchange', body).value;
  }

  /** Accepts a piece of a stream and returns the bytes to be passed on. */
  feedBytes(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    return bytesOf(this.#run('feedBytesExchange', binaryString(piece)).value);
  }

  /** Ends a stream and returns the bytes to be passed on, and the next request. */
  finishBytes(): { bytes: Uint8Array<ArrayBuffer>; next: NextRequest | undefined } {
    const { value, members } = this.#run('finishBytesExchange', '');
    const { request } = members;
    return { bytes: bytesOf(value), next: request === undefined ? undefined : nextRequest(request, members) };
  }

  /** Returns the bytes of an error event. */
  failedBytes(body: string): Uint8Array<ArrayBuffer> {
    return bytesOf(this.#run('failBytesExchange', body).value);
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

  #run<T extends Text>(operation: Operation, text: T): { value: T; members: CallReport } {
    if (this.#session.isClosed) {
      throw new ToolwireError('invalid-value', '', 'expected an open exchange, found a closed one');
    }
    const recordStep = (): Step => [operation, typeof text === 'string' ? text : plainBytes(text).slice()];
    const { value, report } = this.#session.step(recordStep, (holder, number) =>
      callExchange(holder, number, operation, text),
    );
    const members = (report ?? {}) as CallReport;
    // Pushed one by one, because there may be more calls than a function accepts arguments.
    for (const call of members.calls ?? []) this.#calls.push(call);
    this.#answerChanges.push(...(members.answerChanges ?? []));
    return { value, members };
  }
}

/** Number of characters that one call makes: engines limit the number of arguments. */
const MAX_ARGUMENTS = 8192;

/** Returns a string with a character for each byte. */
function binaryString(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS) {
    text += String.fromCharCode(...bytes.subarray(at, at + MAX_ARGUMENTS));
  }
  return text;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Returns the body of an error response in the form of the API at a URL. */
export function refusal(url: string, { code, pointer, detail }: ToolwireError): string {
  return onText(
    shared,
    'Exchange.refusal',
    [url, code, pointer, detail],
    null,
    ({ glue }, _, wordCount, byteCount, ...rest) => glue.refuseExchange(wordCount, byteCount, ...rest),
  ).value;
}

function nextRequest(request: string, { report, betas, native, warning }: CallReport): NextRequest {
  return { request, report, betas: betas ?? [], native: native ?? 'none', warning: warning ?? null };
}

function callExchange<T extends Text>(
  holder: EngineHolder,
  exchange: number,
  operation: Operation,
  text: T,
): Outcome<T> {
  return onText(holder, operation, [text], null, ({ glue }, _, wordCount, byteCount, escaped, truncated) =>
    glue[operation](exchange, wordCount, byteCount, escaped, truncated),
  );
}

function reportOf(holder: EngineHolder, number: number): string {
  return holder.guard(() => {
    const report = holder.getEngine().glue.reportOfExchange(number);
    // Thrown inside `guarded`, which makes it an internal error.
    if (report === undefined) throw new Error('no exchange with this number');
    return report;
  });
}

function close(holder: EngineHolder, number: number): void {
  holder.getEngine().glue.closeExchange(number);
}
