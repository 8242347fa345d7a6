import type { AdaptReport } from './adapt.js';
import { type NextRequest, OpenExchange, refusal } from './engine/exchanges.js';
import { handlerOf, warn, withoutHandler } from './engine/set-aside.js';
import type { ToolwireError } from './error.js';
import type { ExchangeOptions, SentRequest, Text } from './options.js';
import type { DeferralChoice, Quarantined, RepairedCall } from './report.js';
import type { AnswerChange } from './rules.js';

/**
 * One request of a client and its reply, for programs between a client and a backend. The request is adapted as by
 * {@link adaptRequest}, and the reply is restored. If the model searches for tools and the client left that search to its provider
 * (Anthropic's `tool_search_tool_*`), the exchange answers the search and the model is asked again. The client receives one reply, with the
 * blocks that Anthropic's servers would have written; in the client's history they record which tools were found.
 *
 * Tools that cannot be sent are set aside. `console.warn` names them, once for each list, unless `onSetAside` changes that.
 *
 * An exchange does no I/O: `toolwire/fetch` combines it with `fetch`.
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
  readonly #open: OpenExchange;
  readonly #url: string;
  readonly #onSetAside: SetAsideHandler | undefined;
  #request = '';
  /** The report as JSON text until it is first read. */
  #report: AdaptReport | string | undefined;
  #betas: string[] = [];
  #native: DeferralChoice['native'] = 'none';
  #asksAgain = false;

  private constructor(open: OpenExchange, url: string, onSetAside: SetAsideHandler | undefined) {
    this.#open = open;
    this.#url = url;
    this.#onSetAside = onSetAside;
  }

  /**
   * Opens an exchange for a request. Returns `null` for a request that cannot contain tools (another
   * path, or a body that is not a conversation): pass it on unchanged.
   *
   * @param url - URL to which the request is sent. Its path determines the API; its host and the model determine the dialect.
   * @param body - JSON text: a string, or UTF-8 bytes.
   * @throws {@link ToolwireError} as {@link adaptRequest} and {@link dialectFor}; `not-representable` if tools have to be set
   *   aside and `onSetAside` is `"error"`. Errors that an `onSetAside` function throws are passed through.
   */
  static open(url: string, body: Text, options?: ExchangeOptions): Exchange | null {
    const onSetAside = options?.onSetAside;
    const opened = OpenExchange.open(url, body, withoutHandler(options ?? {}));
    if (opened === undefined) return null;
    const exchange = new Exchange(opened.exchange, url, handlerOf(onSetAside));
    exchange.#setNext(opened.next);
    return exchange;
  }

  /**
   * Returns a response body that reports an error in the form of the API at a URL. Send it with
   * status 400, so that an SDK treats it as a bad request. For gateways that could not open an
   * exchange.
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
   * The request to be sent: the same text if there is nothing to rewrite. If the model must be asked again, the next request.
   */
  get request(): string {
    return this.#request;
  }

  /** The decisions and changes of the current request. */
  get report(): AdaptReport {
    this.#report ??= this.#open.report();
    if (typeof this.#report === 'string') this.#report = JSON.parse(this.#report) as AdaptReport;
    return this.#report;
  }

  /**
   * The betas that the header `anthropic-beta` of {@link request} has to name: those of the option `betas` that the backend knows, and
   * those that the request needs. An empty list means that the header must not be sent.
   */
  get betas(): readonly string[] {
    return this.#betas;
  }

  /** The backend's own construct for deferred tools that the request uses. It is looked up, unless the options name one. */
  get native(): DeferralChoice['native'] {
    return this.#native;
  }

  /**
   * Accepts a whole reply and returns the reply for the client. Returns `null` if the model must be asked again, with {@link request}.
   *
   * @throws {@link ToolwireError} `too-deep`, `invalid-option`, and the errors of {@link open} for the next request.
   */
  reply(reply: string): string | null;
  reply(reply: Uint8Array): Uint8Array | null;
  reply(reply: Text): Text | null;
  reply(reply: Text): Text | null {
    const result = this.#open.reply(reply);
    if ('value' in result) return result.value;
    this.#setNext(result.next);
    return null;
  }

  /**
   * Returns the repair results of the calls that ended since the last call to this method, in whole replies and in streams. Always empty
   * without the option `repair`.
   *
   * @example
   * ```ts
   * for (const { id, retryMessage } of exchange.takeRepairedCalls()) if (retryMessage !== null) console.warn(id, retryMessage);
   * ```
   */
  takeRepairedCalls(): RepairedCall[] {
    return this.#open.takeRepairedCalls();
  }

  /**
   * Returns the changes to the structured output since the last call to this method, in whole replies and in streams. Restored
   * values are not included.
   */
  takeAnswerChanges(): AnswerChange[] {
    return this.#open.takeAnswerChanges();
  }

  /**
   * Accepts the next piece of an event stream's text, which may be cut anywhere, and returns the text to be passed on.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if an event, or the text that has to be held back, is larger than any reply. The next
   * call returns the text that could have been passed on by then, and the event unchanged.
   */
  feedText(piece: string): string {
    return this.#open.feedText(piece);
  }

  /**
   * Ends a stream and returns the remaining text. If the model must be asked again, {@link asksAgain} is true, and the next stream
   * continues where this one ended.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call returns the text
   * that was held back, and that event unchanged. If the next request cannot be written, the text ends with an event that reports why.
   */
  finishText(): string {
    const { text, next } = this.#open.finishText();
    this.#asksAgain = next !== undefined;
    if (next !== undefined) this.#setNext(next);
    return text;
  }

  /**
   * Like {@link Exchange.feedText}, but accepts bytes, which may be cut anywhere. A stream of Amazon Bedrock may consist of binary
   * frames (`application/vnd.amazon.eventstream`), which only this method accepts.
   *
   * @throws {@link ToolwireError} The errors of {@link Exchange.feedText}; `invalid-value` for bytes that are no frame, after frames.
   */
  feedBytes(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    return this.#open.feedBytes(piece);
  }

  /**
   * Like {@link Exchange.finishText}, for a stream that {@link Exchange.feedBytes} received.
   *
   * @throws {@link ToolwireError} The errors of {@link Exchange.finishText}.
   */
  finishBytes(): Uint8Array<ArrayBuffer> {
    const { bytes, next } = this.#open.finishBytes();
    this.#asksAgain = next !== undefined;
    if (next !== undefined) this.#setNext(next);
    return bytes;
  }

  /** True if the last stream ended with a search, so that the model must be asked again. */
  get asksAgain(): boolean {
    return this.#asksAgain;
  }

  /**
   * Returns the text of an error event, for a client that already has the beginning of a reply when asking again fails.
   *
   * @param body - The body of the backend's error response.
   */
  failedText(body: string): string {
    return this.#open.failedText(body);
  }

  /** Like {@link Exchange.failedText}, for a client that has received bytes of {@link Exchange.feedBytes}. */
  failedBytes(body: string): Uint8Array<ArrayBuffer> {
    return this.#open.failedBytes(body);
  }

  /** Frees the state for asking again. The state of an exchange that is garbage-collected is freed, too, but later. */
  close(): void {
    this.#open.close();
  }

  #setNext({ request, report, betas, native, warning }: NextRequest): void {
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
