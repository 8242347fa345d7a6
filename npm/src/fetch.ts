/**
 * `fetch` for the SDKs of the model APIs: adapts requests, restores replies, and answers searches for deferred tools in between.
 *
 * @packageDocumentation
 */

import type { AdaptReport } from './adapt.js';
// The bundled file next to this one, so that the WebAssembly is not loaded twice.
import { Exchange, ToolwireError } from './index.js';
import type { ExchangeOptions, SentRequest } from './options.js';
import type { RepairedCall } from './report.js';

/** The type of `fetch` in the caller's program. */
// biome-ignore lint/suspicious/noExplicitAny: without types for `fetch`, nothing is known about it.
export type Fetch = typeof globalThis extends { fetch: infer F } ? F : (input: any, init?: any) => Promise<any>;

/** Options of {@link toolwireFetch}. */
export interface FetchOptions extends ExchangeOptions {
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: Fetch | undefined;
  /**
   * Called with the report of each request before it is sent: the dialect, every change, the tools that were set aside and those that
   * were loaded. Any error that it throws reaches the caller of `fetch`.
   */
  onReport?: ((report: AdaptReport, request: SentRequest) => void) | undefined;
  /**
   * Called with the repair results of the calls in each reply, once their arguments are complete, if calls are repaired (`repair`).
   * Any error that it throws reaches the reader of the reply.
   */
  onRepair?: ((calls: RepairedCall[], request: SentRequest) => void) | undefined;
}

/** Headers that describe the exact bytes of a body, and are wrong for any other body. */
const BODY_HEADERS = ['content-length', 'content-digest', 'repr-digest', 'digest', 'content-md5'];
/**
 * Headers that are wrong for a rewritten reply: `fetch` has already decompressed the body, and the
 * new body does not match the cache tag.
 */
const REPLY_HEADERS = [...BODY_HEADERS, 'content-encoding', 'transfer-encoding', 'etag'];
/** Headers by which a backend recognizes a request that it has already answered. A request that asks the model again must not have them. */
const IDEMPOTENCY_HEADERS = ['idempotency-key', 'x-idempotency-key'];

/** `fetch` with the browser's types. */
type Send = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

/**
 * Returns a `fetch` that adapts every request with tools to its backend, and restores the reply, whole or streamed.
 *
 * The host, the path and the model determine the dialect, unless the option `dialect` is set. A GET, another path, or a body that is not
 * a conversation passes unchanged, and so do error responses. If a request cannot be adapted, nothing is sent: the response has status
 * 400 and reports the reason in the API's own form, so that an SDK throws its bad-request error and does not retry.
 *
 * Tools that cannot be sent are set aside. `console.warn` names them, unless `onSetAside` changes that.
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
  const { fetch: customFetch, onReport, onRepair, ...rest } = options;
  // Invalid options are reported here rather than by the first request.
  for (const [name, value] of Object.entries({ fetch: customFetch, onReport, onRepair })) {
    if (value === undefined || value === null || typeof value === 'function') continue;
    const message = `expected \`${name}\` to be a function, found ${Array.isArray(value) ? 'an array' : `a value of type \`${typeof value}\``}`;
    throw new ToolwireError('invalid-option', `/${name}`, message);
  }
  try {
    Exchange.open('', '', rest);
  } catch (error) {
    if (!(error instanceof ToolwireError)) throw error;
    // The core refuses the value of a misspelled function option before its name.
    const isFunction = typeof (rest as Record<string, unknown>)[error.pointer.slice(1)] === 'function';
    if (error.code !== 'unknown-option' && !isFunction) throw error;
    const message = `${error.detail}; \`toolwireFetch\` takes \`fetch\`, \`onReport\` and \`onRepair\`, too`;
    throw new ToolwireError(error.code, error.pointer, message);
  }
  const adaptingFetch: Send = async (input, init) => {
    const send = (customFetch ?? globalThis.fetch) as Send;
    const request = await Outgoing.read(input, init);
    if (request === undefined) return send(input, init);
    const { url } = request;
    let exchange: Exchange | null;
    const betas = [...(rest.betas ?? []).flatMap(splitNames), ...request.betas()];
    try {
      exchange = Exchange.open(url, request.body, betas.length === 0 ? rest : { ...rest, betas });
    } catch (error) {
      return refusalResponse(url, error);
    }
    if (exchange === null) return request.send(send);
    const betasChanged = request.setBetas(betas, exchange.betas);
    const sentRequest = ({ report, request: body }: Exchange): SentRequest => ({ url, dialect: report.dialect, body });
    const sendNext = (exchange: Exchange) => {
      onReport?.(exchange.report, sentRequest(exchange));
      return request.send(send, exchange.request === request.body && !betasChanged ? undefined : exchange.request);
    };
    const reportRepairs = (exchange: Exchange) => {
      const calls = exchange.takeRepairedCalls();
      if (calls.length > 0) onRepair?.(calls, sentRequest(exchange));
    };
    // If nothing was rewritten, nothing has to be restored, unless calls are repaired.
    if (exchange.request === request.body && !rest.repair) {
      onReport?.(exchange.report, sentRequest(exchange));
      exchange.close();
      return betasChanged ? request.send(send, request.body) : request.send(send);
    }
    return replyFor(url, exchange, { sendNext, reportRepairs });
  };
  return adaptingFetch as Fetch;
}

/** Returns the betas in a header, a list with commas. */
function splitNames(header: string): string[] {
  const names = header.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

/** An outgoing request, which may have to be sent several times with different bodies. */
class Outgoing {
  private headers: Headers;
  private wasSent = false;

  private constructor(
    readonly url: string,
    readonly body: string,
    private readonly input: RequestInfo | URL,
    private readonly init: RequestInit | undefined,
    /** The content of the caller's body, if it was a stream, which reading has consumed. */
    private readonly consumedBody: Uint8Array<ArrayBuffer> | undefined,
  ) {
    this.headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  }

  /** Reads a request. Returns `undefined`, without consuming the body, if the request is not adapted. */
  static async read(input: RequestInfo | URL, init: RequestInit | undefined): Promise<Outgoing | undefined> {
    const request = isRequest(input) ? input : undefined;
    const method = init?.method ?? request?.method ?? 'GET';
    if (method.toUpperCase() !== 'POST') return undefined;
    const headers = new Headers(init?.headers ?? request?.headers);
    const type = headers.get('content-type') ?? '';
    if (headers.has('content-encoding') || !/\bjson\b|^$/i.test(type)) return undefined;
    const url = request?.url ?? String(input);
    const body = init?.body;
    if (body === undefined || body === null) {
      // Some browsers lack this member; `null` means a request without a body everywhere.
      if (request === undefined || request.body === null) return undefined;
      return new Outgoing(url, textOf(await request.clone().arrayBuffer()), input, init, undefined);
    }
    if (typeof body === 'string') return new Outgoing(url, body, input, init, undefined);
    if (body instanceof FormData || body instanceof URLSearchParams) return undefined;
    const isStream = body instanceof ReadableStream || Symbol.asyncIterator in body;
    // A stream may contain anything of any length, so it is read to its end only if it is declared as JSON.
    if (isStream && type === '') return undefined;
    const bytes = await new Response(body).arrayBuffer();
    return new Outgoing(url, textOf(bytes), input, init, isStream ? new Uint8Array(bytes) : undefined);
  }

  /** Returns the betas in the header. */
  betas(): string[] {
    return splitNames(this.headers.get('anthropic-beta') ?? '');
  }

  /**
   * Removes the betas of the header that are not in `needed`, and adds the betas of `needed` that are not in `known`.
   * Returns true if the header changed.
   */
  setBetas(known: readonly string[], needed: readonly string[]): boolean {
    const current = this.betas();
    const kept = current.filter((name) => needed.includes(name));
    const added = needed.filter((name) => !known.includes(name));
    if (kept.length === current.length && added.length === 0) return false;
    const value = [...kept, ...added].join(',');
    if (value === '') this.headers.delete('anthropic-beta');
    else this.headers.set('anthropic-beta', value);
    return true;
  }

  /** Sends the request: unchanged, or with a body and the headers for it. */
  send(send: Send, body?: string): Promise<Response> {
    if (body === undefined) {
      return send(this.input, this.consumedBody === undefined ? this.init : { ...this.init, body: this.consumedBody });
    }
    if (body !== this.body) for (const name of BODY_HEADERS) this.headers.delete(name);
    if (this.wasSent) for (const name of IDEMPOTENCY_HEADERS) this.headers.delete(name);
    this.wasSent = true;
    const { duplex: _, ...init } = { ...this.init, headers: this.headers, body } as RequestInit & { duplex?: unknown };
    // SDKs pass a URL. If the caller passes a `Request`, its other settings are sent, too.
    return isRequest(this.input) ? send(new Request(this.input, init)) : send(this.input, init);
  }
}

function isRequest(input: RequestInfo | URL): input is Request {
  return typeof input === 'object' && 'method' in input;
}

/** The callbacks of a running exchange. */
interface Callbacks {
  /** Sends the exchange's current request. */
  sendNext: (exchange: Exchange) => Promise<Response>;
  /** Reports calls whose arguments were repaired. */
  reportRepairs: (exchange: Exchange) => void;
}

/** Content types of event streams: text, and the frames of Amazon's services. */
const STREAM = /^(?:text\/event-stream|application\/vnd\.amazon\.eventstream)\b/i;

/** Statuses whose responses have no body: `new Response` throws if it gets such a status and a body. */
const NO_BODY = new Set([204, 205]);

/** Codes of errors that do not depend on the request. Status 400 would be wrong for them. */
const INDEPENDENT_ERRORS = new Set<string>(['internal', 'no-webassembly']);

/** Returns the response to a request that was not sent because of a toolwire error. Rethrows any other error. */
function refusalResponse(url: string, error: unknown): Response {
  if (!(error instanceof ToolwireError) || INDEPENDENT_ERRORS.has(error.code)) throw error;
  // The second header makes the SDKs of OpenAI and Anthropic not retry.
  const headers = { 'content-type': 'application/json', 'x-should-retry': 'false' };
  const response = new Response(Exchange.refusal(url, error), { status: 400, statusText: 'Bad Request', headers });
  Object.defineProperty(response, 'url', { value: url });
  return response;
}

/** Returns the reply for the client, and closes the exchange if that fails. */
async function replyFor(url: string, exchange: Exchange, callbacks: Callbacks): Promise<Response> {
  try {
    return await sendUntilReply(url, exchange, callbacks);
  } catch (error) {
    // The exchange cannot continue after an error of the caller or the network.
    exchange.close();
    throw error;
  }
}

/** Sends requests until there is a reply for the client. */
async function sendUntilReply(url: string, exchange: Exchange, callbacks: Callbacks): Promise<Response> {
  for (;;) {
    const response = await callbacks.sendNext(exchange);
    if (NO_BODY.has(response.status)) {
      exchange.close();
      return response;
    }
    if (isStream(response)) return withBody(response, joinStreams(exchange, response, callbacks));
    if (!response.ok || !/\bjson\b/i.test(typeOf(response))) {
      exchange.close();
      return response;
    }
    const text = await response.text();
    if (text === '') {
      exchange.close();
      return withBody(response, null);
    }
    let reply: string | null;
    try {
      reply = exchange.reply(text);
    } catch (error) {
      exchange.close();
      return refusalResponse(url, error);
    }
    callbacks.reportRepairs(exchange);
    if (reply !== null) {
      exchange.close();
      return withBody(response, reply);
    }
  }
}

/** Returns a response with a different body. */
function withBody({ status, statusText, headers, url }: Response, body: BodyInit | null): Response {
  const newHeaders = new Headers(headers);
  for (const name of REPLY_HEADERS) newHeaders.delete(name);
  const response = new Response(body, { status, statusText, headers: newHeaders });
  Object.defineProperty(response, 'url', { value: url });
  return response;
}

/** Returns the streams of all rounds as one stream. Nothing is read before the consumer pulls. */
function joinStreams(exchange: Exchange, first: Response, callbacks: Callbacks): ReadableStream<Uint8Array> {
  let pieces = readerOf(first);
  let ended = false;
  const end = () => {
    ended = true;
    exchange.close();
  };
  /** Returns the next bytes to pass on; empty if there are none yet. */
  const read = async (): Promise<Uint8Array> => {
    const { done, value } = await pieces.read();
    if (!done) {
      const bytes = exchange.feedBytes(value);
      callbacks.reportRepairs(exchange);
      return bytes;
    }
    const bytes = exchange.finishBytes();
    callbacks.reportRepairs(exchange);
    if (exchange.asksAgain) {
      const response = await callbacks.sendNext(exchange);
      if (isStream(response)) {
        pieces = readerOf(response);
        return bytes;
      }
      const failed = exchange.failedBytes(await response.text());
      end();
      return concat(bytes, failed);
    }
    end();
    return bytes;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (let length = 0; length === 0; ) {
            if (ended) return controller.close();
            const bytes = await read();
            length = bytes.length;
            if (length > 0) controller.enqueue(bytes);
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

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  return (body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })).getReader();
}

function typeOf({ headers }: Response): string {
  return headers.get('content-type') ?? '';
}

function isStream(response: Response): boolean {
  return response.ok && STREAM.test(typeOf(response));
}

/** Returns the text of a body; an empty string, which is not JSON, if the body is not UTF-8. */
function textOf(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return '';
  }
}
