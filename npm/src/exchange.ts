import type { AdaptReport } from './adapt.js';
import { Running } from './engine/exchanges.js';
import type { ExchangeOptions, Text } from './options.js';

/**
 * One request of a client and its reply, for whoever stands between a client and a backend. The request is adapted as
 * {@link adaptRequest} does it, the reply restored; and where the model searches for tools although the client left that to its
 * provider (Anthropic's `tool_search_tool_*`), the search is answered and the model asked again. The client gets one reply, with
 * the blocks that Anthropic's servers would have written; in its history they say which tools were found.
 *
 * It knows no network: `toolwire/fetch` is this for `fetch`.
 *
 * @example
 * ```ts
 * import { Exchange } from 'toolwire/search';
 *
 * const exchange = Exchange.open(url, body, { dialect: 'moonshot' });
 * if (exchange === null) return send(body); // no request with tools
 * let reply = null;
 * while (reply === null) reply = exchange.reply(await send(exchange.request));
 * ```
 */
export class Exchange {
  readonly #running: Running;
  #request: string;
  #report: AdaptReport;
  #asksAgain = false;

  private constructor(running: Running, request: string, report: object) {
    this.#running = running;
    this.#request = request;
    this.#report = report as AdaptReport;
  }

  /**
   * Opens an exchange for a request; `null` if it is none that tools are sent with (another path, no conversation), and is to be
   * passed on as it is.
   *
   * @param url - Where the request is sent: the path tells the API, and with the host and the model the dialect.
   * @param body - JSON text: a string, or UTF-8 bytes.
   * @throws {@link ToolwireError} as {@link adaptRequestJson} and {@link dialectFor}.
   */
  static open(url: string, body: Text, options?: ExchangeOptions): Exchange | null {
    const opened = Running.open(url, body, options);
    return opened === undefined ? null : new Exchange(opened.running, opened.request, opened.report);
  }

  /**
   * What is to be sent: the same text if there is nothing to rewrite. Once the model is to be asked again, the next request.
   */
  get request(): string {
    return this.#request;
  }

  /** What was done to the request. */
  get report(): AdaptReport {
    return this.#report;
  }

  /**
   * Takes a whole reply, and gives the one for the client. `null`: the model is to be asked again, with {@link request}.
   *
   * @throws {@link ToolwireError} `too-deep`, `invalid-option`.
   */
  reply(reply: string): string | null;
  reply(reply: Uint8Array): Uint8Array | null;
  reply(reply: Text): Text | null;
  reply(reply: Text): Text | null {
    const { value, report } = this.#running.reply(reply);
    if (report === undefined) return value;
    this.#next(typeof value === 'string' ? value : new TextDecoder().decode(value), report);
    return null;
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
   * was held back, and that event as it came. Also the errors of {@link adaptRequest}, for the next request.
   */
  finishText(): string {
    const { text, request, report } = this.#running.finishText();
    this.#asksAgain = request !== undefined;
    if (request !== undefined) this.#next(request, report as object);
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

  #next(request: string, report: object): void {
    this.#request = request;
    this.#report = report as AdaptReport;
  }
}
