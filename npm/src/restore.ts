import { ask, callOnValues } from './engine/call.js';
import { KeptRestore } from './engine/restores.js';
import { Stream } from './engine/streams.js';
import { genuine, isBytes, isText, likeBytes } from './engine/text.js';
import type { Written } from './options.js';
import type { Left, Repair, RepairedCall } from './report.js';
import type { AnswerChange } from './rules.js';

/** What a {@link Restore} is as JSON. What is in it is nobody's business but toolwire's. */
export interface RestoreJson {
  /** The version of this form. */
  version: number;
  /** What each tool needs, by the name that the model knows. */
  tools: { [name: string]: unknown };
  /** The format of the client's request, where it is known. */
  format?: string;
  /** The client's own search function, where the backend's stands for it. */
  search?: string;
  /** How arguments are repaired; absent if they are not. */
  repair?: object;
  /** What has to be undone in the answer to a response format; absent if nothing has. */
  answer?: object;
}

/** A call as the tool's own server expects it. */
export interface RestoredCall<T> {
  /** The tool's name. */
  name: string;
  /** The tool's server; absent unless the list was one of several servers. */
  server?: string;
  /** The tool's index in the list; absent unless `duplicateNames: "rename"` renamed it because another one has its name. */
  index?: number;
  /** The namespace of the tool (OpenAI Responses); absent if it stood in none. */
  namespace?: string;
  /** The arguments: text if text was given. */
  arguments: T;
  /**
   * Whether the tool's own schema takes the arguments now; null where that cannot be told. This and what follows is there only where
   * calls are repaired (`repair`) and the tool has a schema.
   */
  valid?: boolean | null;
  /** Every repair, in the order in which they were made. */
  repairs?: Repair[];
  /** What is still wrong, at most 100. Text that cannot be read stays as it was answered, and is wrong as a whole. */
  left?: Left[];
  /** What is still wrong as one text, to be sent back to the model as the result of its call; null if nothing is. */
  retryMessage?: string | null;
}

/** A call in its client's own form, and what became of its arguments. */
export interface RestoredClientCall {
  /** The call. */
  call: ClientCall;
  /** What became of its arguments; null where calls are not repaired, or the tool has no schema. */
  repaired: RepairedCall | null;
}

/** A text of the model's answer, as the caller's response format describes it. */
export interface RestoredContent<T> {
  /** The text: of the type that was given. */
  content: T;
  /** False if the text is JSON that breaks off. Then only what is whole of it is restored. */
  complete: boolean;
  /** True if the text stood in a Markdown fence, which is removed. */
  fenced: boolean;
}

/** A reply whose calls are restored, and what became of the arguments of each. */
export interface RestoredReply<T> {
  /** The reply. */
  reply: T;
  /** What became of each call of a tool that has a schema, in their order; empty where calls are not repaired. */
  calls: RepairedCall[];
  /** What was changed of the answer to a response format, beside its values; each change once. */
  answerChanges: AnswerChange[];
}

/**
 * A call of a backend: as it stands in a reply of any API, in whatever type an SDK has for it, or `{ id, name, arguments }` with the
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
  /** One that the API's own servers have run (`"server"`) comes back as it is. */
  | {
      type: 'tool_search_call';
      call_id?: string | null;
      execution: 'client' | 'server';
      status?: string;
      arguments: unknown;
    }
  /** Where the client is not known (`sanitizeTools`, Gemini), a call keeps its form. */
  | { type?: undefined; id?: string; name: string; namespace?: string; arguments?: unknown }
  | { type?: undefined; functionCall: { name: string; args?: unknown } }
  | { type?: undefined; toolUse: { toolUseId?: string; name: string; input?: unknown } };

/**
 * Brings calls back to what the tools' own servers expect: their names, and arguments in the shape of their schemas.
 *
 * Calls come back in a later turn, maybe in another process: `JSON.stringify` it, and {@link Restore.from} what was kept.
 */
export class Restore {
  readonly #json: RestoreJson;
  readonly #kept: KeptRestore;

  /** @internal */
  constructor(json: RestoreJson) {
    this.#json = json;
    this.#kept = new KeptRestore(json);
  }

  /**
   * A {@link Restore} from what was kept of it: the JSON text, or the value parsed from it.
   *
   * @throws {@link ToolwireError} `invalid-value` if it is something else; `invalid-json`.
   */
  static from(json: string | object): Restore {
    const kept: unknown = typeof json === 'string' ? parsedJson(json) : json;
    // Restoring something that nothing is known of reads all of it.
    callOnValues('restoreCall', [kept, '', null], null);
    // A copy: what is changed in the caller's object later must not change where calls go.
    return new Restore(copied(kept as RestoreJson));
  }

  /**
   * Restores a call. A tool that is not known comes back as it is, and so do arguments that are not understood.
   *
   * @param args - The arguments as a value, or as JSON text, which is what OpenAI's APIs give: text gives text.
   *
   * @throws {@link ToolwireError} `invalid-value`, `too-deep`.
   */
  call<T>(name: string, args: T): RestoredCall<Written<T, T>> {
    const given: unknown = args;
    const text = isBytes(given) ? lossy(given) : given;
    const restored = this.#kept.onValues('restoreCall', [name, text]).value as RestoredCall<Written<T, T>>;
    // Bytes that are not UTF-8 stay what they are, too.
    if (isBytes(given) && restored.arguments === text) restored.arguments = genuine(given).slice() as Written<T, T>;
    else if (isBytes(given)) restored.arguments = likeBytes(given, restored.arguments as string) as Written<T, T>;
    return restored;
  }

  /**
   * The client's own form of a call, in the format that its request had (an Anthropic `tool_use`, an entry of Chat Completions'
   * `tool_calls`, or an item of Responses: `function_call` with its namespace, `custom_tool_call` with its input, `tool_search_call`),
   * and what became of its arguments, if calls are repaired. For gateways that turn one API's replies into another's.
   *
   * @param call - A call as it stands in a reply of any API, or `{ id, name, arguments }` with the arguments as a value or as JSON text.
   *
   * @example
   * ```ts
   * const { restore } = applyDeferredLoading(fromCodex, { target: 'openai-chat' });
   * const { call, repaired } = restore.clientCall({ id: 'call_1', name: 'exec', arguments: '{"input":"pwd"}' });
   * // call: { type: 'custom_tool_call', call_id: 'call_1', name: 'exec', input: 'pwd' }
   * if (repaired?.retryMessage) answer(repaired.id, repaired.retryMessage);
   * ```
   *
   * @throws {@link ToolwireError} `invalid-value` if it is no call; `too-deep`.
   */
  clientCall(call: BackendCall): RestoredClientCall {
    const { value, report } = this.#kept.onValues('restoreClientCall', [call]);
    return { call: value, ...report } as RestoredClientCall;
  }

  /**
   * Restores the arguments of one call piece by piece: for gateways that turn a stream of one API into another's.
   *
   * @param name - The tool's name as the backend knows it.
   */
  callStream(name: string): CallStream {
    return new CallStream(this.#json, name);
  }

  /**
   * Restores a text of the model's answer, if the request has a response format that was rewritten: takes it out of its wrapper, and
   * brings encoded values back. If the schema was sent in the instructions alone, the answer is taken out of a Markdown fence, too, unless
   * the schema refuses it. Text that is no JSON, or needs nothing, stays as it is. Of JSON that breaks off, whatever is whole is restored.
   * {@link reply} and {@link stream} do the same.
   *
   * @example
   * ```ts
   * const { request, restore } = adaptRequest(body, { dialect: 'openai-strict' });
   * const { content } = restore.content(message.content);
   * ```
   *
   * @throws {@link ToolwireError} `invalid-value` if it is no text.
   */
  content<T extends string | Uint8Array>(text: T): RestoredContent<Written<T, T>> {
    const given: unknown = text;
    const asked = isBytes(given) ? lossy(given) : given;
    const { value, report } = this.#kept.onValues('restoreContent', [asked]);
    if (!isBytes(given)) return { content: value, ...report } as RestoredContent<Written<T, T>>;
    // Bytes that are not UTF-8 stay what they are, too.
    const content = value === asked ? genuine(given).slice() : likeBytes(given, value as string);
    return { content, ...report } as RestoredContent<Written<T, T>>;
  }

  /**
   * Restores every call in a whole reply of Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini, and the answer to a
   * response format, and says what became of the arguments of each call, if calls are repaired. The reply is not changed. JSON text gives JSON text of its type, and the very same
   * text if there is nothing to restore.
   *
   * @example
   * ```ts
   * const { restore } = sanitizeTools(tools, { dialect: 'moonshot', repair: true });
   * const { reply, calls } = restore.reply(answered);
   * for (const { id, retryMessage } of calls) if (retryMessage !== null) console.warn(id, retryMessage);
   * ```
   *
   * @throws {@link ToolwireError} `invalid-json`, `invalid-value`, `too-deep`.
   */
  reply<T>(reply: T): RestoredReply<Written<T, T>> {
    const { value, report } = isText(reply) ? this.#kept.onText(reply) : this.#kept.onValues('restoreReply', [reply]);
    return { reply: value, ...report } as RestoredReply<Written<T, T>>;
  }

  /** Restores a reply that comes in pieces. */
  stream(): ReplyRestorer {
    return new ReplyRestorer(this.#json);
  }

  /** What `JSON.stringify` writes. */
  toJSON(): RestoreJson {
    return copied(this.#json);
  }
}

/**
 * The arguments of one call, restored piece by piece ({@link Restore.callStream}).
 *
 * What a `custom` tool is called with comes unescaped, as soon as it is there. Arguments that a dialect has encoded are held back
 * until the end; all others pass as they are.
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
   * Takes the next piece of the arguments' text, and gives what is to be passed on, which may be nothing.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if what has to be held back is larger than any call.
   */
  feed(piece: string): string {
    return this.#stream.feedText(piece);
  }

  /** Ends the call: gives what was still held back. */
  finish(): string {
    return this.#stream.finish(true)[0] as string;
  }

  /** What became of the arguments of the call that ended since this was asked last, where calls are repaired. */
  takeRepairedCalls(): RepairedCall[] {
    return this.#stream.takeRepairedCalls();
  }
}

/** Reads JSON text. For other text the core throws its own error, with code and place. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    ask('check', text, { dialect: 'portable' });
    throw error;
  }
}

/** Returns arguments as text. Bytes that are not UTF-8 become replacement characters. */
function lossy(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(genuine(bytes));
}

function copied<T>(json: T): T {
  return JSON.parse(JSON.stringify(json));
}

/**
 * Restores a reply that comes in pieces: the events of one stream, in their order.
 *
 * Names are restored at once. The pieces of a call's arguments pass as they are, unless the dialect encoded something for
 * that tool, or calls are repaired: then they are held back, and come whole, restored, where the call ends.
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
   * Takes the next event, and gives what is to be passed on: the event, none, or several.
   *
   * @throws {@link ToolwireError} `invalid-value`, `too-deep`.
   */
  feed<T>(event: T): T[] {
    return this.#stream.feed(event) as T[];
  }

  /**
   * Takes the next piece of the text of an event stream (`text/event-stream`), cut anywhere, and gives the text to be passed
   * on. What needs no change passes byte for byte. Bytes are UTF-8 and give bytes.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if an event, or what has to be held back, is larger than any reply. What could
   * be passed on by then comes with the next call, and the event as it came.
   */
  feedText(piece: string): string;
  feedText(piece: Uint8Array): Uint8Array;
  feedText(piece: string | Uint8Array): string | Uint8Array {
    if (typeof piece === 'string') return this.#stream.feedText(piece);
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    return new TextEncoder().encode(this.#stream.feedText(this.#decoder.decode(piece, { stream: true })));
  }

  /** What became of the arguments of the calls that ended since this was asked last, where calls are repaired. */
  takeRepairedCalls(): RepairedCall[] {
    return this.#stream.takeRepairedCalls();
  }

  /**
   * Returns the changes to the answer to a response format since the last call of this method. Restored values are not among them.
   */
  takeAnswerChanges(): AnswerChange[] {
    return this.#stream.takeAnswerChanges();
  }

  /** Ends the stream: gives the events that are still held back because their call never ended. */
  finish(): unknown[] {
    return this.#stream.finish(false);
  }

  /**
   * Ends a stream of text: gives what is still held back, and what came after the last whole event.
   *
   * @throws {@link ToolwireError} `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call gives what
   * was held back, and that event as it came.
   */
  finishText(): string {
    // Bytes that end in the middle of a character.
    const rest = this.#decoder?.decode() ?? '';
    this.#decoder = undefined;
    const before = rest === '' ? '' : this.#stream.feedText(rest);
    return before + (this.#stream.finish(true)[0] as string);
  }
}
