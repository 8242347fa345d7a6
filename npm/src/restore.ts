import { callForValue, callOnValues } from './engine/call.js';
import { CachedRestore } from './engine/restores.js';
import { Stream } from './engine/streams.js';
import { encodeLike, isBytes, isText, plainBytes } from './engine/text.js';
import type { Written } from './options.js';
import type { Left, Repair, RepairedCall } from './report.js';
import type { AnswerChange } from './rules.js';

/** The JSON form of a {@link Restore}. Its contents are private to toolwire. */
export interface RestoreJson {
  /** Version of this form. */
  version: number;
  /** The data for restoring each tool, by the name that the model uses. */
  tools: { [name: string]: unknown };
  /** The format of the client's request, if it is known. */
  format?: string;
  /** The client's own search function, if the backend's search replaces it. */
  search?: string;
  /** The options for repairing arguments; absent if they are not repaired. */
  repair?: object;
  /** The changes to undo in the structured output; absent if nothing has to be undone. */
  answer?: object;
}

/** A call as the tool's own server expects it. */
export interface RestoredCall<T> {
  /** The tool's name. */
  name: string;
  /** The tool's server; absent unless the list combines several servers. */
  server?: string;
  /** The tool's index in the list; absent unless `duplicateNames: "rename"` renamed it because another tool has the same name. */
  index?: number;
  /** The tool's namespace (OpenAI Responses); absent if the tool has none. */
  namespace?: string;
  /** The arguments: text if text was passed. */
  arguments: T;
  /**
   * True if the tool's schema accepts the arguments now; null if that cannot be decided. Absent, like the following members, unless
   * calls are repaired (`repair`) and the tool has a schema.
   */
  valid?: boolean | null;
  /** Every repair, in the order in which the repairs were made. */
  repairs?: Repair[];
  /** The remaining violations, at most 100. Text that cannot be read is returned unchanged and is one violation. */
  left?: Left[];
  /** Text that lists the remaining violations, to be sent to the model as the result of its call; null if nothing is violated. */
  retryMessage?: string | null;
}

/** A call in the client's own form, and the repair result of its arguments. */
export interface RestoredClientCall {
  /** The restored call. */
  call: ClientCall;
  /** The repair result of the arguments; null if calls are not repaired, or if the tool has no schema. */
  repaired: RepairedCall | null;
}

/** Text of the model's answer, in the form that the caller's response format describes. */
export interface RestoredContent<T> {
  /** The text, of the type that was passed. */
  content: T;
  /** False if the text is truncated JSON, of which only the complete parts are restored. */
  complete: boolean;
  /** True if the text was in a Markdown fence, which was removed. */
  fenced: boolean;
}

/** A reply with restored calls, and the repair result of each call's arguments. */
export interface RestoredReply<T> {
  /** The restored reply. */
  reply: T;
  /** The repair result of each call to a tool that has a schema, in order; empty if calls are not repaired. */
  calls: RepairedCall[];
  /** The changes to the structured output, other than restored values; each change is listed once. */
  answerChanges: AnswerChange[];
}

/**
 * A call of a backend: in the form of a reply of any API, in any type that an SDK has for it, or `{ id, name, arguments }` with the
 * arguments as a value or as JSON text.
 */
export type BackendCall = object;

/** A call in the form of the client's own API. */
export type ClientCall =
  | { type: 'tool_use'; id?: string; name: string; input: unknown }
  | { type: 'function'; id?: string; function: { name: string; arguments: string } }
  | { type: 'custom'; id?: string; custom: { name: string; input: string } }
  | { type: 'function_call'; call_id?: string; name: string; namespace?: string; arguments: string }
  | { type: 'custom_tool_call'; call_id?: string; name: string; namespace?: string; input: string }
  /** A search that the API's own servers ran (`"server"`) is returned unchanged. */
  | {
      type: 'tool_search_call';
      call_id?: string | null;
      execution: 'client' | 'server';
      status?: string;
      arguments: unknown;
    }
  /** If the client's format is unknown (`sanitizeTools`, Gemini), a call keeps its form. */
  | { type?: undefined; id?: string; name: string; namespace?: string; arguments?: unknown }
  | { type?: undefined; functionCall: { name: string; args?: unknown } }
  | { type?: undefined; toolUse: { toolUseId?: string; name: string; input?: unknown } };

/**
 * Restores calls for the tools' own servers: the tools' names, and arguments in the form that their schemas describe.
 *
 * A call may arrive in a later turn or in another process: store the result of `JSON.stringify`, and pass it to {@link Restore.from}.
 */
export class Restore {
  readonly #json: RestoreJson;
  readonly #cached: CachedRestore;

  /** @internal */
  constructor(json: RestoreJson) {
    this.#json = json;
    this.#cached = new CachedRestore(json);
  }

  /**
   * Creates a {@link Restore} from its stored form: the JSON text, or the value parsed from it.
   *
   * @throws {@link ToolwireError} `invalid-value` if it is something else; `invalid-json`.
   */
  static from(json: string | object): Restore {
    const stored: unknown = typeof json === 'string' ? parseJson(json) : json;
    // Restoring a call to an unknown tool reads, and so validates, the whole form.
    callOnValues('restoreCall', [stored, '', null], null);
    // A copy, because later changes of the caller's object must not affect how calls are restored.
    return new Restore(copy(stored as RestoreJson));
  }

  /**
   * Restores a call. A call to an unknown tool, and arguments that cannot be interpreted, are returned unchanged.
   *
   * @param args - The arguments as a value, or as JSON text (the form of OpenAI's APIs). For text, the restored arguments are text.
   *
   * @throws {@link ToolwireError} `invalid-value`, `too-deep`.
   */
  call<T>(name: string, args: T): RestoredCall<Written<T, T>> {
    const input: unknown = args;
    const decoded = isBytes(input) ? decodeLossy(input) : input;
    const restored = this.#cached.onValues('restoreCall', [name, decoded]).value as RestoredCall<Written<T, T>>;
    // Bytes that are not UTF-8 are returned unchanged, too.
    if (isBytes(input) && restored.arguments === decoded)
      restored.arguments = plainBytes(input).slice() as Written<T, T>;
    else if (isBytes(input)) restored.arguments = encodeLike(input, restored.arguments as string) as Written<T, T>;
    return restored;
  }

  /**
   * Returns a call in the client's own form, the format of its request (an Anthropic `tool_use`, an entry of Chat Completions'
   * `tool_calls`, or an item of Responses: `function_call` with its namespace, `custom_tool_call` with its input, `tool_search_call`),
   * and the repair result of its arguments, if calls are repaired. For gateways that translate one API's replies into another's.
   *
   * @param call - A call in the form of a reply of any API, or `{ id, name, arguments }` with the arguments as a value or as JSON text.
   *
   * @example
   * ```ts
   * const { restore } = applyDeferredLoading(fromCodex, { target: 'openai-chat' });
   * const { call, repaired } = restore.clientCall({ id: 'call_1', name: 'exec', arguments: '{"input":"pwd"}' });
   * // call: { type: 'custom_tool_call', call_id: 'call_1', name: 'exec', input: 'pwd' }
   * if (repaired?.retryMessage) answer(repaired.id, repaired.retryMessage);
   * ```
   *
   * @throws {@link ToolwireError} `invalid-value` if it is not a call; `too-deep`.
   */
  clientCall(call: BackendCall): RestoredClientCall {
    const { value, report } = this.#cached.onValues('restoreClientCall', [call]);
    return { call: value, ...report } as RestoredClientCall;
  }

  /**
   * Restores the arguments of one call piece by piece, for gateways that translate one API's stream into another's.
   *
   * @param name - The tool's name as the backend knows it.
   */
  callStream(name: string): CallStream {
    return new CallStream(this.#json, name);
  }

  /**
   * Restores text of the model's answer if the request has a response format that was rewritten:
   * removes its wrapper and decodes encoded values. If the schema was sent only in the instructions,
   * a Markdown fence around the answer is removed, too, unless the schema rejects the answer inside
   * it. Text that is not JSON, or needs no change, is returned unchanged. If the JSON is truncated,
   * its complete parts are restored. {@link reply} and {@link stream} do the same.
   *
   * @example
   * ```ts
   * const { request, restore } = adaptRequest(body, { dialect: 'openai-strict' });
   * const { content } = restore.content(message.content);
   * ```
   *
   * @throws {@link ToolwireError} `invalid-value` if it is not text; `budget-exceeded` if the answer takes too many steps to restore.
   */
  content<T extends string | Uint8Array>(text: T): RestoredContent<Written<T, T>> {
    const input: unknown = text;
    const decoded = isBytes(input) ? decodeLossy(input) : input;
    const { value, report } = this.#cached.onValues('restoreContent', [decoded]);
    if (!isBytes(input)) return { content: value, ...report } as RestoredContent<Written<T, T>>;
    // Bytes that are not UTF-8 are returned unchanged, too.
    const content = value === decoded ? plainBytes(input).slice() : encodeLike(input, value as string);
    return { content, ...report } as RestoredContent<Written<T, T>>;
  }

  /**
   * Restores every call in a whole reply of Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini, and the answer to a
   * response format. If calls are repaired, the result includes the repair result of each call's arguments. The reply is not changed.
   * For JSON text, the result is JSON text of the same type, and the same text if there is nothing to restore.
   *
   * @example
   * ```ts
   * const { restore } = sanitizeTools(tools, { dialect: 'moonshot', repair: true });
   * const { reply, calls } = restore.reply(answered);
   * for (const { id, retryMessage } of calls) if (retryMessage !== null) console.warn(id, retryMessage);
   * ```
   *
   * @throws {@link ToolwireError} `invalid-json`, `invalid-value`, `too-deep`, `budget-exceeded`.
   */
  reply<T>(reply: T): RestoredReply<Written<T, T>> {
    const { value, report } = isText(reply)
      ? this.#cached.onText(reply)
      : this.#cached.onValues('restoreReply', [reply]);
    return { reply: value, ...report } as RestoredReply<Written<T, T>>;
  }

  /** Returns a restorer for a streamed reply. */
  stream(): ReplyRestorer {
    return new ReplyRestorer(this.#json);
  }

  /** Returns the form that `JSON.stringify` writes. */
  toJSON(): RestoreJson {
    return copy(this.#json);
  }
}

/**
 * The arguments of one call, restored piece by piece ({@link Restore.callStream}).
 *
 * The input of a `custom` tool is unescaped and passed on as it arrives. Arguments that a dialect has encoded are held back
 * until the end; all others pass unchanged.
 *
 * @example
 * ```ts
 * const input = restore.callStream('exec');
 * for await (const { delta } of argumentDeltas) emit(input.feed(delta));
 * emit(input.finish());
 * ```
 */
export class CallStream {
  readonly #stream: Stream;

  /** @internal */
  constructor(json: RestoreJson, name: string) {
    this.#stream = new Stream([json, name]);
  }

  /**
   * Accepts the next piece of the arguments' text, and returns the text to be passed on, which may be empty.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if the text that has to be held back is larger than any call.
   */
  feed(piece: string): string {
    return this.#stream.feedText(piece);
  }

  /**
   * Ends the call and returns the text that was still held back.
   *
   * @throws {@link ToolwireError} `budget-exceeded` if the arguments take too many steps to restore. They are discarded.
   */
  finish(): string {
    return this.#stream.finish(true)[0] as string;
  }

  /** Returns the repair result of the call, if it ended since the last call to this method and calls are repaired. */
  takeRepairedCalls(): RepairedCall[] {
    return this.#stream.takeRepairedCalls();
  }
}

/** Parses JSON text. For invalid text, the core throws an error with code and position. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    callForValue('check', text, { dialect: 'portable' });
    throw error;
  }
}

/** Returns arguments as text. Bytes that are not UTF-8 become replacement characters. */
function decodeLossy(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(plainBytes(bytes));
}

function copy<T>(json: T): T {
  return JSON.parse(JSON.stringify(json));
}

/**
 * Restores a streamed reply: the events of one stream, in order.
 *
 * Names are restored at once. The pieces of a call's arguments pass unchanged, unless the dialect encoded something for
 * that tool or calls are repaired. In that case the pieces are held back until the call ends, and the arguments are restored as a whole.
 *
 * @example
 * ```ts
 * const stream = restore.stream();
 * for await (const event of events) for (const restored of stream.feed(event)) emit(restored);
 * for (const restored of stream.finish()) emit(restored);
 * ```
 */
export class ReplyRestorer {
  readonly #stream: Stream;
  #decoder: TextDecoder | undefined;

  /** @internal */
  constructor(json: RestoreJson) {
    this.#stream = new Stream(json);
  }

  /**
   * Accepts the next event, and returns the events to be passed on: one, none or several.
   *
   * @throws {@link ToolwireError} `invalid-value`, `too-deep`; `budget-exceeded` if the arguments of a call take too many steps to restore.
   * They are discarded, so the stream must not be continued.
   */
  feed<T>(event: T): T[] {
    return this.#stream.feed(event) as T[];
  }

  /**
   * Accepts the next piece of the text of an event stream (`text/event-stream`), which may be cut anywhere, and returns the text to be
   * passed on. Text that needs no change passes byte for byte. Bytes are read as UTF-8, and the result is then bytes.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if an event, or the text that has to be held back, is larger than any reply. The next
   * call returns the text that could have been passed on by then, and the event unchanged. `budget-exceeded` as for {@link feed}.
   */
  feedText(piece: string): string;
  feedText(piece: Uint8Array): Uint8Array;
  feedText(piece: string | Uint8Array): string | Uint8Array {
    if (typeof piece === 'string') return this.#stream.feedText(piece);
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    return new TextEncoder().encode(this.#stream.feedText(this.#decoder.decode(piece, { stream: true })));
  }

  /** Returns the repair results of the calls that ended since the last call to this method, if calls are repaired. */
  takeRepairedCalls(): RepairedCall[] {
    return this.#stream.takeRepairedCalls();
  }

  /**
   * Returns the changes to the structured output since the last call to this method, except for restored values.
   */
  takeAnswerChanges(): AnswerChange[] {
    return this.#stream.takeAnswerChanges();
  }

  /**
   * Ends the stream, and returns the events that are still held back because their call never ended.
   *
   * @throws {@link ToolwireError} `budget-exceeded` as for {@link feed}.
   */
  finish(): unknown[] {
    return this.#stream.finish(false);
  }

  /**
   * Ends a stream of text, and returns the text that is still held back, including an incomplete last event.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call returns the text
   * that was held back, and that event unchanged. `budget-exceeded` as for {@link feed}.
   */
  finishText(): string {
    // The last bytes may be an incomplete character.
    const rest = this.#decoder?.decode() ?? '';
    this.#decoder = undefined;
    const before = rest === '' ? '' : this.#stream.feedText(rest);
    return before + (this.#stream.finish(true)[0] as string);
  }
}
