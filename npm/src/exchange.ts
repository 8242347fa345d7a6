import type { AdaptReport } from './adapt.js';
import { type Next, Running, refusal } from './engine/exchanges.js';
import { handlerOf, warn, withoutHandler } from './engine/set-aside.js';
import type { ToolwireError } from './error.js';
import type { ExchangeOptions, SentRequest, Text } from './options.js';
import type { DeferralChoice, Quarantined, RepairedCall } from './report.js';
import type { AnswerChange } from './rules.js';

/**
 * One request of a client and its reply, for whoever stands between a client and a backend. The request is adapted as
 * {@link adaptRequest} does it, the reply restored; and where the model searches for tools although the client left that to its
 * provider (Anthropic's `tool_search_tool_*`), the search is answered and the model asked again. The client gets one reply, with
 * the blocks that Anthropic's servers would have written; in its history they say which tools were found.
 *
 * Tools that cannot be sent are set aside. `console.warn` tells of them, once for each list, unless `onSetAside` says otherwise.
 *
 * It knows no network: `toolwire/fetch` is this for `fetch`.
 *
 * @example
 * ```ts
 * import { Exchange } from 'toolwire';
 *
 * const exchange = Exchange.open(url, body, { dialect: 'moonshot' });
 * if (exchange === null) return send(body); // no request with tools
 * let reply = null;
 * while (reply === null) reply = exchange.reply(await send(exchange.request));
 * ```
 */
export class Exchange {
  readonly #running: Running;
  readonly #url: string;
  readonly #onSetAside: SetAsideHandler | undefined;
  #request = '';
  /** Nothing, or JSON text, until somebody looks. */
  #report: AdaptReport | string | undefined;
  #betas: string[] = [];
  #native: DeferralChoice['native'] = 'none';
  #asksAgain = false;

  private constructor(running: Running, url: string, onSetAside: SetAsideHandler | undefined) {
    this.#running = running;
    this.#url = url;
    this.#onSetAside = onSetAside;
  }

  /**
   * Opens an exchange for a request; `null` if it is none that tools are sent with (another path, no conversation), and is to be
   * passed on as it is.
   *
   * @param url - Where the request is sent: the path tells the API, and with the host and the model the dialect.
   * @param body - JSON text: a string, or UTF-8 bytes.
   * @throws {@link ToolwireError} as {@link adaptRequestJson} and {@link dialectFor}; `not-representable` if tools have to be set
   *   aside and `onSetAside` is `"error"`. What a function as `onSetAside` throws comes through as it is.
   */
  static open(url: string, body: Text, options?: ExchangeOptions): Exchange | null {
    const onSetAside = options?.onSetAside;
    const opened = Running.open(url, body, withoutHandler(options ?? {}));
    if (opened === undefined) return null;
    const exchange = new Exchange(opened.running, url, handlerOf(onSetAside));
    exchange.#next(opened.next);
    return exchange;
  }

  /**
   * The body of an answer with status 400 that says an error as the API at a URL would, so that an SDK takes it for a bad request:
   * for a gateway that could not open an exchange.
   *
   * @example
   * ```ts
   * try {
   *   return Exchange.open(url, body);
   * } catch (error) {
   *   if (!(error instanceof ToolwireError)) throw error;
   *   return new Response(Exchange.refusal(url, error), { status: 400, headers: { 'content-type': 'application/json' } });
   * }
   * ```
   */
  static refusal(url: string, error: ToolwireError): string {
    return refusal(url, error);
  }

  /**
   * What is to be sent: the same text if there is nothing to rewrite. Once the model is to be asked again, the next request.
   */
  get request(): string {
    return this.#request;
  }

  /** What was done to the request. */
  get report(): AdaptReport {
    this.#report ??= this.#running.report();
    if (typeof this.#report === 'string') this.#report = JSON.parse(this.#report) as AdaptReport;
    return this.#report;
  }

  /**
   * The betas of deferred loading that the `anthropic-beta` header of {@link request} has to name, as `report.deferred.betas` has
   * them: see {@link stripDeferralBetas}.
   */
  get betas(): readonly string[] {
    return this.#betas;
  }

  /** The backend's own construct for deferred tools that the request uses: the one that was looked up with `native: "auto"`. */
  get native(): DeferralChoice['native'] {
    return this.#native;
  }

  /**
   * Takes a whole reply, and gives the one for the client. `null`: the model is to be asked again, with {@link request}.
   *
   * @throws {@link ToolwireError} `too-deep`, `invalid-option`, and the errors of {@link open} for the next request.
   */
  reply(reply: string): string | null;
  reply(reply: Uint8Array): Uint8Array | null;
  reply(reply: Text): Text | null;
  reply(reply: Text): Text | null {
    const told = this.#running.reply(reply);
    if ('value' in told) return told.value;
    this.#next(told.next);
    return null;
  }

  /**
   * What became of the arguments of the calls that ended since this was asked last, where calls are repaired (`repair`): in whole
   * replies and in streams.
   *
   * @example
   * ```ts
   * for (const { id, retryMessage } of exchange.takeRepairedCalls()) if (retryMessage !== null) console.warn(id, retryMessage);
   * ```
   */
  takeRepairedCalls(): RepairedCall[] {
    return this.#running.takeRepairedCalls();
  }

  /**
   * Returns the changes to the answer to a response format since the last call of this method, in whole replies and in streams. Restored
   * values are not among them.
   */
  takeAnswerChanges(): AnswerChange[] {
    return this.#running.takeAnswerChanges();
  }

  /**
   * Takes the next piece of the text of a reply that comes as an event stream, cut anywhere, and gives the text to be passed on.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if an event, or what has to be held back, is larger than any reply. What could
   * be passed on by then comes with the next call, and the event as it came.
   */
  feedText(piece: string): string {
    return this.#running.feedText(piece);
  }

  /**
   * Ends a stream: gives the text that is still to be passed on. If the model is to be asked again, {@link asksAgain} says so, and
   * the next stream goes on where this one ended.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call gives what
   * was held back, and that event as it came. If the next request cannot be made, the text ends with an event that says why.
   */
  finishText(): string {
    const { text, next } = this.#running.finishText();
    this.#asksAgain = next !== undefined;
    if (next !== undefined) this.#next(next);
    return text;
  }

  /** Whether the stream that ended last ended with a search, so that the model is to be asked again. */
  get asksAgain(): boolean {
    return this.#asksAgain;
  }

  /**
   * The text of an event that tells of an error, for a client that has the beginning of a reply when asking again fails.
   *
   * @param body - What the backend said about it.
   */
  failedText(body: string): string {
    return this.#running.failedText(body);
  }

  /** Forgets what was kept for asking again. What is no longer held is forgotten, too, only later. */
  close(): void {
    this.#running.close();
  }

  #next({ request, report, betas, native, warning }: Next): void {
    this.#request = request;
    this.#report = report;
    this.#betas = betas;
    this.#native = native;
    if (warning === null) return;
    if (this.#onSetAside === undefined) {
      warn(warning);
      return;
    }
    const { dialect, quarantined } = this.report;
    this.#onSetAside(quarantined, { url: this.#url, dialect, body: request });
  }
}

type SetAsideHandler = (tools: Quarantined[], request: SentRequest) => void;
