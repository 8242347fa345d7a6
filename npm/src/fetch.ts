/**
 * `fetch` for the SDKs of the model APIs: requests are adapted on their way out, replies restored on their way back, and searches
 * for deferred tools answered on the way.
 *
 * @packageDocumentation
 */

import type { AdaptReport } from './adapt.js';
// The file beside this one: no second WebAssembly.
import { Exchange, stripDeferralBetas, ToolwireError } from './index.js';
import type { BetaOptions, ExchangeOptions, SentRequest } from './options.js';
import type { RepairedCall } from './report.js';

/** `fetch`, as this program's types have it. */
// biome-ignore lint/suspicious/noExplicitAny: where there are no types of `fetch`, nothing is known of it.
export type Fetch = typeof globalThis extends { fetch: infer F } ? F : (input: any, init?: any) => Promise<any>;

/** Options of {@link toolwireFetch}. */
export interface FetchOptions extends ExchangeOptions {
  /** What sends requests. Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  /**
   * Is told what was done to each request, before it is sent: the dialect, every change, which tools were set aside, which are
   * loaded. What it throws, the caller of `fetch` gets.
   */
  onReport?: ((report: AdaptReport, request: SentRequest) => void) | undefined;
  /**
   * Is told what became of the arguments of the calls in each reply, once they are whole, where calls are repaired (`repair`). What
   * it throws, whoever reads the reply gets.
   */
  onRepair?: ((calls: RepairedCall[], request: SentRequest) => void) | undefined;
}

/** Headers that say something of the very bytes of a body, and so nothing of another one. */
const OF_BODY = ['content-length', 'content-digest', 'repr-digest', 'digest', 'content-md5'];
/** Those of a reply: what `fetch` has unpacked is packed no longer, and what was rewritten is no longer what a cache knows by its tag. */
const OF_REPLY = [...OF_BODY, 'content-encoding', 'transfer-encoding', 'etag'];
/** Headers by which a backend knows that it has answered a request: the model asked again is asked something else. */
const OF_REQUEST = ['idempotency-key', 'x-idempotency-key'];

/** `fetch` as it is here: with the types of a browser. */
type Send = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` that adapts every request with tools to the backend that it goes to, and restores the reply, whole or streamed.
 *
 * The dialect is told by host, path and model, unless `dialect` says it. A GET, another path, or a body that is no conversation
 * passes untouched, and so do replies that are errors. If a request cannot be adapted, nothing is sent: the answer has status 400 and
 * says why in the API's own words, so that an SDK throws its error of a bad request, and does not try again.
 *
 * Tools that cannot be sent are set aside; `console.warn` tells of them, unless `onSetAside` says otherwise.
 *
 * @example
 * ```ts
 * import Anthropic from '@anthropic-ai/sdk';
 * import { toolwireFetch } from 'toolwire/fetch';
 *
 * const client = new Anthropic({ baseURL: 'https://api.moonshot.ai/anthropic', fetch: toolwireFetch() });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`.
 */
export function toolwireFetch(options: FetchOptions = {}): Fetch {
  const { fetch: given, onReport, onRepair, ...rest } = options;
  // Wrong options are told here, and not with the first request.
  for (const [name, value] of Object.entries({ fetch: given, onReport, onRepair })) {
    if (value === undefined || value === null || typeof value === 'function') continue;
    const message = `expected \`${name}\` to be a function, found ${Array.isArray(value) ? 'an array' : `a value of type \`${typeof value}\``}`;
    throw new ToolwireError('invalid-option', `/${name}`, message);
  }
  try {
    Exchange.open('', '', rest);
  } catch (error) {
    if (!(error instanceof ToolwireError)) throw error;
    // A misspelled function is refused for its value first.
    const isFunction = typeof (rest as Record<string, unknown>)[error.pointer.slice(1)] === 'function';
    if (error.code !== 'unknown-option' && !isFunction) throw error;
    const message = `${error.detail}; \`toolwireFetch\` takes \`fetch\`, \`onReport\` and \`onRepair\`, too`;
    throw new ToolwireError(error.code, error.pointer, message);
  }
  const adapting: Send = async (input, init) => {
    const send = (given ?? globalThis.fetch) as Send;
    const request = await Outgoing.read(input, init);
    if (request === undefined) return send(input, init);
    const { url } = request;
    let exchange: Exchange | null;
    try {
      exchange = Exchange.open(url, request.body, rest);
    } catch (error) {
      return refused(url, error);
    }
    if (exchange === null) return request.send(send);
    const betas = rest.deferred !== false && request.settleBetas(exchange.betas, exchange.native);
    const sent = ({ report, request: body }: Exchange): SentRequest => ({ url, dialect: report.dialect, body });
    const next = (exchange: Exchange) => {
      onReport?.(exchange.report, sent(exchange));
      return request.send(send, exchange.request === request.body && !betas ? undefined : exchange.request);
    };
    const repaired = (exchange: Exchange) => {
      const calls = exchange.takeRepairedCalls();
      if (calls.length > 0) onRepair?.(calls, sent(exchange));
    };
    // Nothing to rewrite is nothing to restore, unless calls are repaired.
    if (exchange.request === request.body && !rest.repair) {
      onReport?.(exchange.report, sent(exchange));
      exchange.close();
      return betas ? request.send(send, request.body) : request.send(send);
    }
    return answered(url, exchange, { next, repaired });
  };
  return adapting as Fetch;
}

/** A request on its way out, which may have to be sent several times with another body. */
class Outgoing {
  private headers: Headers;
  private sent = false;

  private constructor(
    readonly url: string,
    readonly body: string,
    private readonly input: RequestInfo | URL,
    private readonly init: RequestInit | undefined,
    /** What the caller's own body held, if reading it was using it up. */
    private readonly used: Uint8Array<ArrayBuffer> | undefined,
  ) {
    this.headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  }

  /** Reads a request; `undefined` if it is not to be looked at, and was not touched. */
  static async read(input: RequestInfo | URL, init: RequestInit | undefined): Promise<Outgoing | undefined> {
    const request = isRequest(input) ? input : undefined;
    const method = init?.method ?? request?.method ?? 'GET';
    if (method.toUpperCase() !== 'POST') return undefined;
    const headers = new Headers(init?.headers ?? request?.headers);
    const type = headers.get('content-type') ?? '';
    if (headers.has('content-encoding') || !/\bjson\b|^$/i.test(type)) return undefined;
    const url = request?.url ?? String(input);
    const given = init?.body;
    if (given === undefined || given === null) {
      // Some browsers do not have this member; `null` is a request without a body everywhere.
      if (request === undefined || request.body === null) return undefined;
      return new Outgoing(url, textOf(await request.clone().arrayBuffer()), input, init, undefined);
    }
    if (typeof given === 'string') return new Outgoing(url, given, input, init, undefined);
    if (given instanceof FormData || given instanceof URLSearchParams) return undefined;
    const isStream = given instanceof ReadableStream || Symbol.asyncIterator in given;
    // It may be anything, however long: only what is called JSON is read to its end before it is sent.
    if (isStream && type === '') return undefined;
    const bytes = await new Response(given).arrayBuffer();
    return new Outgoing(url, textOf(bytes), input, init, isStream ? new Uint8Array(bytes) : undefined);
  }

  /**
   * Settles the header's betas of deferred loading: a backend without a construct of its own knows none of them, one with needs
   * those of what is sent. Tells whether the header is another one now.
   */
  settleBetas(betas: readonly string[], native: BetaOptions['native']): boolean {
    const before = this.headers.get('anthropic-beta');
    const left = stripDeferralBetas(before, { native, betas });
    if (left === before) return false;
    if (left === null) this.headers.delete('anthropic-beta');
    else this.headers.set('anthropic-beta', left);
    return true;
  }

  /** Sends it: as it was given, or with a body and the headers for it. */
  send(send: Send, body?: string): Promise<Response> {
    if (body === undefined) {
      return send(this.input, this.used === undefined ? this.init : { ...this.init, body: this.used });
    }
    if (body !== this.body) for (const name of OF_BODY) this.headers.delete(name);
    if (this.sent) for (const name of OF_REQUEST) this.headers.delete(name);
    this.sent = true;
    const { duplex: _, ...init } = { ...this.init, headers: this.headers, body } as RequestInit & { duplex?: unknown };
    // An SDK passes a URL; whoever passes a `Request` gets all of it back.
    return isRequest(this.input) ? send(new Request(this.input, init)) : send(this.input, init);
  }
}

function isRequest(input: RequestInfo | URL): input is Request {
  return typeof input === 'object' && 'method' in input;
}

/** What is done with an exchange that is under way. */
interface Doing {
  /** Sends the request that it has now. */
  next: (exchange: Exchange) => Promise<Response>;
  /** Tells of calls whose arguments were repaired. */
  repaired: (exchange: Exchange) => void;
}

/** What has no body by its status, whatever its headers say: a `Response` with one of these cannot be made with another body. */
const NO_BODY = new Set([204, 205]);

/** Errors that another request cannot avoid: a response with status 400 would blame the request. */
const NOT_OF_THE_REQUEST = new Set<string>(['internal', 'no-webassembly']);

/** The answer of a backend that was not asked, because of an error of ours. Anybody else's error comes through. */
function refused(url: string, error: unknown): Response {
  if (!(error instanceof ToolwireError) || NOT_OF_THE_REQUEST.has(error.code)) throw error;
  // By the second header the SDKs of OpenAI and Anthropic know that trying again is of no use.
  const headers = { 'content-type': 'application/json', 'x-should-retry': 'false' };
  const response = new Response(Exchange.refusal(url, error), { status: 400, statusText: 'Bad Request', headers });
  Object.defineProperty(response, 'url', { value: url });
  return response;
}

/** The reply for the client. */
async function answered(url: string, exchange: Exchange, doing: Doing): Promise<Response> {
  try {
    return await rounds(url, exchange, doing);
  } catch (error) {
    // The caller's own, or one of the network: nothing more is asked of it.
    exchange.close();
    throw error;
  }
}

/** As many rounds as it takes. */
async function rounds(url: string, exchange: Exchange, doing: Doing): Promise<Response> {
  for (;;) {
    const response = await doing.next(exchange);
    if (NO_BODY.has(response.status)) {
      exchange.close();
      return response;
    }
    if (isStream(response)) return told(response, streamed(exchange, response, doing));
    if (!response.ok || !/\bjson\b/i.test(typeOf(response))) {
      exchange.close();
      return response;
    }
    const text = await response.text();
    if (text === '') {
      exchange.close();
      return told(response, null);
    }
    let reply: string | null;
    try {
      reply = exchange.reply(text);
    } catch (error) {
      exchange.close();
      return refused(url, error);
    }
    doing.repaired(exchange);
    if (reply !== null) {
      exchange.close();
      return told(response, reply);
    }
  }
}

/** A response with another body. */
function told({ status, statusText, headers, url }: Response, body: BodyInit | null): Response {
  const left = new Headers(headers);
  for (const name of OF_REPLY) left.delete(name);
  const response = new Response(body, { status, statusText, headers: left });
  Object.defineProperty(response, 'url', { value: url });
  return response;
}

/** The streams of all rounds as one. Nothing is read before somebody wants it. */
function streamed(exchange: Exchange, first: Response, doing: Doing): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let pieces = readerOf(first);
  let decoder = utf8();
  let ended = false;
  const end = () => {
    ended = true;
    exchange.close();
  };
  /** The next text to pass on, which may be none. */
  const read = async (): Promise<string> => {
    const { done, value } = await pieces.read();
    if (!done) {
      const text = exchange.feedText(decoder.decode(value, { stream: true }));
      doing.repaired(exchange);
      return text;
    }
    let text = exchange.feedText(decoder.decode()) + exchange.finishText();
    doing.repaired(exchange);
    if (exchange.asksAgain) {
      const response = await doing.next(exchange);
      if (isStream(response)) {
        pieces = readerOf(response);
        decoder = utf8();
        return text;
      }
      text += exchange.failedText(await response.text());
    }
    end();
    return text;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (let text = ''; text === ''; ) {
            if (ended) return controller.close();
            text = await read();
            if (text !== '') controller.enqueue(encoder.encode(text));
          }
        } catch (error) {
          end();
          await pieces.cancel(error).catch(() => {});
          throw error;
        }
      },
      cancel(reason) {
        end();
        return pieces.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  return (body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })).getReader();
}

function typeOf({ headers }: Response): string {
  return headers.get('content-type') ?? '';
}

function isStream(response: Response): boolean {
  return response.ok && /^text\/event-stream\b/i.test(typeOf(response));
}

function utf8(): TextDecoder {
  return new TextDecoder();
}

/** The text of a body; nothing, which is no JSON, if it is no text. */
function textOf(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return '';
  }
}
