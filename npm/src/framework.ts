/**
 * The code that all adapters of frameworks share. Each framework has types for tools and calls: its adapter passes the
 * tools to a `Turn`, which returns the tools as they are sent and restores the calls. An `Exchange` is not used here:
 * it needs each request and reply as the text of an API, which the framework's provider writes and reads below the
 * adapter, and it restores the last call of a stream only at the end of the reply.
 *
 * @packageDocumentation
 */

// The same file that users import, so that the WebAssembly is not loaded twice.
import {
  type AdaptOptions,
  type AdaptReport,
  adaptRequest,
  type Dialect,
  sanitizeTools,
  ToolwireError,
  validateArguments,
} from './index.js';
import type { Quarantined, RepairedCall } from './report.js';
import type { CallStream, Restore, RestoredCall } from './restore.js';

/** Options of the core that an adapter sets itself. */
const ADAPTER_OPTIONS = [
  'deferred',
  'format',
  'formats',
  'historyArguments',
  'historyPairs',
  'host',
  'model',
  'outputSchemas',
  'overflow',
  'prefix',
  'share',
  'wrapper',
] as const;
type AdapterOption = (typeof ADAPTER_OPTIONS)[number];

/** Options of the adapters of frameworks. */
export interface FrameworkOptions extends Omit<AdaptOptions, AdapterOption> {
  /**
   * Handling of a list if some of its tools have to be set aside. Default `"warn"`: the list is sent without them, and `console.warn`
   * reports the tools, the dialect, the reasons and the remedies, once for each list. `"error"`: the list is not sent. A function is called
   * instead of `console.warn`.
   */
  onSetAside?: 'warn' | 'error' | ((tools: Quarantined[], list: { dialect: Dialect }) => void) | undefined;
  /** Called with the report of each request before it is sent. Any error that it throws reaches the model's caller. */
  onReport?: ((report: AdaptReport, sent: SentTools) => void) | undefined;
  /** With `repair`: called with the repair result of each call, once its arguments are complete. */
  onRepair?: ((calls: RepairedCall[], sent: SentTools) => void) | undefined;
}

/** The tools of a request as they are sent. */
export interface SentTools {
  /** The dialect of the tools. */
  dialect: Dialect;
  /** The model, as the framework names it. */
  model: string;
  /** The tools, as functions of Chat Completions. */
  tools: readonly SentTool[];
}

/** A tool as it is sent. */
export interface SentTool {
  /** The name, in a form that the API accepts. */
  name: string;
  /** The description; absent if the tool has none. */
  description?: string;
  /** The schema of the arguments, in the dialect. */
  parameters: { [keyword: string]: unknown };
  /** True if the API enforces the schema. Absent if the dialect does not write `strict`. */
  strict?: boolean;
}

/** A tool in a form that the core accepts: a function of Chat Completions, Responses or Anthropic. */
export type CoreTool = object & { function?: { name: string }; name?: string };

/** The tool choice: `"auto"`, `"none"`, `"required"`, or a tool by its own name. */
export type Choice = 'auto' | 'none' | 'required' | { name: string } | undefined;

/** The parts of a request that {@link Turn} needs. */
export interface TurnRequest {
  /** The tools in order, with `undefined` for those that the provider runs itself. */
  tools: readonly (CoreTool | undefined)[];
  /** Names of tools that the provider runs itself. No other tool is sent under such a name. */
  hosted?: readonly (string | undefined)[];
  /** The choice in any framework's form: a mode, a tool's name, or an object with `name` or `function.name`. */
  choice?: unknown;
  /** The calls in the history. Tools that are no longer in the list also need a name that the API accepts. */
  called?: Iterable<PastCall>;
  /** The model, as the framework names it. */
  model?: string;
}

/** A call in the history: the tool's own name, and the arguments as a value or as JSON text. */
export interface PastCall {
  name: string;
  arguments: unknown;
}

/** The state that an adapter keeps across requests: its options, and the calls that it has refused. */
export class Adapter {
  readonly options: FrameworkOptions;
  readonly refusals = new Refusals();

  /**
   * Checks the options, so that errors do not wait for the first request.
   *
   * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`.
   */
  constructor(options: FrameworkOptions) {
    const { onSetAside, onReport, onRepair, ...rest } = options;
    for (const name of ADAPTER_OPTIONS)
      if ((options as object as { [option: string]: unknown })[name] !== undefined)
        throw invalid('unknown-option', name, `expected no \`${name}\`, which the adapter sets itself`);
    for (const [name, value] of Object.entries({ onReport, onRepair }))
      if (value !== undefined && typeof value !== 'function')
        throw invalid('invalid-option', name, `expected \`${name}\` to be a function, found \`${String(value)}\``);
    sanitizeTools([], { ...rest, format: 'openai-chat', onSetAside });
    this.options = options;
    new Turn({ tools: [] }, this, undefined);
  }

  /** Adapts the tools of a request. */
  turn(request: TurnRequest): Turn {
    return new Turn(request, this, this.options.onReport);
  }
}

function invalid(code: 'unknown-option' | 'invalid-option', name: string, message: string): ToolwireError {
  return new ToolwireError(code, `/${name}`, message);
}

/** One request of a framework. It contains the tools as they are sent, and restores the calls of the reply. */
export class Turn {
  /** The tools as they are sent. */
  readonly sent: SentTools;
  /** The choice of the framework; `undefined` if it has none, or if it names a tool that is not in the list. */
  readonly #choice: Choice;
  /** The choice as it is sent; `undefined` if it was dropped. */
  readonly #sentChoice: Choice;
  readonly #adapter: Adapter;
  readonly #restore: Restore;
  /** The tools as they are sent, by their index in the request of the framework. */
  readonly #sentTools: (SentTool | undefined)[];
  /** Maps the tools' own names to the names that are sent. */
  readonly #sentNames = new Map<string, string>();
  /** Maps the names that are sent to the tools' own names. */
  readonly #ownNames = new Map<string, string>();
  /** Maps the arguments of calls in the history to the arguments that are sent. */
  readonly #sentTexts = new Map<string, string>();

  /** @throws {@link ToolwireError} The errors of {@link adaptRequest} and {@link sanitizeTools}. */
  constructor(
    { tools, hosted = [], choice: toolChoice, called = [], model = '' }: TurnRequest,
    adapter: Adapter,
    onReport: FrameworkOptions['onReport'],
  ) {
    const { onSetAside, onReport: _, onRepair: __, ...rest } = adapter.options;
    const functions = tools.filter((tool) => tool !== undefined);
    const choice = functions.length === 0 ? undefined : choiceOf(toolChoice, functions.map(nameOf));
    const past = [...called];
    const names = [...new Set(past.map(({ name }) => name))];
    // Arguments that are an object are sent unchanged.
    const unparsed = past.filter((call) => !isRecord(call.arguments));
    const calls = [...names.map((name) => ({ name, arguments: {} })), ...unparsed];
    // Some models refuse a forced choice while they think, and only the framework knows if they think. Without the
    // model in the request, the choice is kept.
    const isForced = typeof choice === 'object' || choice === 'required';
    const adaptList = (list: readonly CoreTool[]) => {
      const request = {
        model: isForced ? undefined : model,
        messages: [
          { role: 'user', content: '' },
          {
            role: 'assistant',
            content: null,
            tool_calls: calls.map(({ name, arguments: args }, at) => ({
              id: `${at}`,
              type: 'function',
              function: { name, arguments: textOf(args) },
            })),
          },
        ],
        tools: list,
        tool_choice: typeof choice === 'object' ? { type: 'function', function: choice } : choice,
      };
      // The request is serialized, because the core does not accept `undefined`.
      const adapted = adaptRequest(JSON.stringify(request), { ...rest, format: 'openai-chat', deferred: false });
      return { adapted, adaptedRequest: JSON.parse(adapted.request) as AdaptedRequest };
    };
    let { adapted, adaptedRequest } = adaptList(functions);
    // The names of tools that the provider runs are taken. They are reserved by placeholder functions, because only
    // functions reserve a name in every dialect.
    const hostedNames = new Set(hosted.filter((name) => name !== undefined));
    for (const tool of functions) hostedNames.delete(nameOf(tool));
    if (adaptedRequest.tools?.some((tool) => hostedNames.has(tool.function.name))) {
      const reserved = [...hostedNames].map((name) => ({
        type: 'function',
        function: { name, parameters: EMPTY_SCHEMA },
      }));
      ({ adapted, adaptedRequest } = adaptList([...functions, ...reserved]));
    }
    const { report, restore } = adapted;
    // `sanitizeTools` warns, throws or calls the function, depending on `onSetAside`.
    if (report.quarantined.length > 0) {
      const list = JSON.parse(JSON.stringify(functions));
      sanitizeTools(list, { ...rest, format: 'openai-chat', onSetAside });
    }
    adaptedRequest.messages[1]?.tool_calls?.forEach((call, at) => {
      const { name, arguments: args } = calls[at] as PastCall;
      this.#addName(name, call.function.name);
      this.#sentTexts.set(textOf(args), call.function.arguments);
    });
    const quarantinedIndices = new Set(report.quarantined.map(({ pointer }) => Number(pointer.split('/')[2])));
    const sent = (adaptedRequest.tools ?? []).map((tool) => tool.function);
    const sentTools = functions.map((_, at) => (quarantinedIndices.has(at) ? undefined : sent.shift()));
    // Listed tools come last and in reverse: they override names that occur only in the history, and of two tools with
    // the same name the first one wins.
    for (const [at, tool] of [...functions.entries()].reverse()) {
      const sentTool = sentTools[at];
      if (sentTool !== undefined) this.#addName(nameOf(tool), sentTool.name);
    }
    const { tool_choice: sentChoice } = adaptedRequest;
    this.#choice = choice;
    this.#sentChoice = typeof sentChoice === 'object' ? { name: sentChoice.function.name } : sentChoice;
    this.sent = { dialect: report.dialect, model, tools: sentTools.filter((tool) => tool !== undefined) };
    this.#sentTools = tools.map((tool) => (tool === undefined ? undefined : sentTools.shift()));
    this.#adapter = adapter;
    this.#restore = restore;
    onReport?.(report, this.sent);
  }

  #addName(ownName: string, sentName: string) {
    this.#sentNames.set(ownName, sentName);
    this.#ownNames.set(sentName, ownName);
  }

  /** Returns the name under which a tool is sent. */
  sentName(ownName: string): string {
    return this.#sentNames.get(ownName) ?? ownName;
  }

  /** Returns the tool's own name for a name that was sent. */
  ownName(sentName: string): string {
    return this.#ownNames.get(sentName) ?? sentName;
  }

  /** Returns the arguments of a call in the history as they are sent: an object, or JSON text if `args` is text. */
  sentArguments<T>(args: T): T {
    if (isRecord(args)) return args;
    const text = this.#sentTexts.get(textOf(args)) ?? '{}';
    return (typeof args === 'string' ? text : JSON.parse(text)) as T;
  }

  /** Returns the framework's choice as it is sent: unchanged if possible, `undefined` if it was dropped. */
  sentToolChoice<T>(frameworkChoice: T, write: (choice: NonNullable<Choice>) => T): T | undefined {
    const [choice, sent] = [this.#choice, this.#sentChoice];
    if (choice === undefined || (choice === sent && typeof choice === 'string')) return frameworkChoice;
    return sent === undefined ? undefined : write(sent);
  }

  /**
   * Returns the framework's list as it is sent. Tools that were set aside are removed, tools that the provider runs are
   * kept.
   *
   * @param turnTools - The tools that were passed to the turn.
   */
  sentList<T>(tools: readonly T[], turnTools: TurnRequest['tools'], write: (tool: T, sent: SentTool) => T): T[] {
    return tools.flatMap((tool, at) => {
      if (turnTools[at] === undefined) return [tool];
      const sent = this.#sentTools[at];
      return sent === undefined ? [] : [write(tool, sent)];
    });
  }

  /**
   * Restores a call, reports the repairs of its arguments, and refuses it if they could not be repaired or parsed.
   *
   * @param isCut - True if the reply may have ended within the call. Its arguments are then not completed.
   */
  call<T>(id: string | undefined, name: string, args: T, isCut = false): RestoredCall<T> {
    const restored = (
      isCut ? this.#truncatedCall(name, textOf(args)) : this.#restore.call(name, args)
    ) as RestoredCall<T>;
    const { valid, repairs = [], left = [], retryMessage = null } = restored;
    // If a call's arguments cannot be parsed, some frameworks run it without arguments.
    const isParsed = typeof args !== 'string' || (args.trim() === '' ? !isCut : isJson(restored.arguments));
    const refusal = retryMessage ?? (isParsed ? null : unreadMessage(restored.name));
    this.#adapter.refusals.record(id, restored.name, restored.arguments, refusal);
    if (valid !== undefined) {
      const call = { id: id ?? '', name: restored.name, valid, repairs, left, retryMessage };
      this.#adapter.options.onRepair?.([call], this.sent);
    }
    return restored;
  }

  /** Restores a call of a reply that ended at a length limit. */
  #truncatedCall(name: string, text: string): RestoredCall<string> {
    const message = { tool_calls: [{ type: 'function', function: { name, arguments: text } }] };
    const { reply, calls } = this.#restore.reply<object>({ choices: [{ finish_reason: 'length', message }] });
    const { function: restoredFunction } = (reply as OneCallReply).choices[0].message.tool_calls[0];
    return { ...calls[0], ...restoredFunction };
  }

  /** Restores the arguments of a call in pieces. {@link call} reports the repairs, once the arguments are whole. */
  callStream(name: string): CallStream {
    return this.#restore.callStream(name);
  }
}

/** Returns true if arguments are a value or JSON text. */
function isJson(args: unknown): boolean {
  return typeof args !== 'string' || parseArguments(args) !== args;
}

/** Returns the error for a call whose arguments cannot be parsed, if arguments are not repaired. */
export function unreadMessage(name: string): string {
  return `The call to \`${name}\` was not run: expected its arguments as JSON, found text that is not JSON or is truncated. Call it again with complete arguments.`;
}

/** Finish reasons of model APIs and frameworks for a reply that ended at a length limit. */
const LENGTH_LIMIT_REASONS = [
  'length',
  'model_length',
  'max_tokens',
  'MAX_TOKENS',
  'model_context_window_exceeded',
  'incomplete',
];

/** Returns true if a reply that ended for this reason may have ended within a call. */
export function isCut(reason: unknown): boolean {
  return LENGTH_LIMIT_REASONS.includes(reason as string);
}

/** Returns false if an example of arguments does not match the schema as sent: APIs would refuse the tool. */
export function matchesSchema(example: unknown, parameters: SentTool['parameters']): boolean {
  return validateArguments(example, parameters).valid !== false;
}

/** The schema of a function that only reserves a name. */
const EMPTY_SCHEMA = { type: 'object', properties: {} };

/** Returns the own name of a tool. */
function nameOf(tool: CoreTool): string {
  return tool.function?.name ?? tool.name ?? '';
}

/** Reads a framework's choice: a mode, or one of the tools. */
function choiceOf(choice: unknown, names: readonly string[]): Choice {
  if (choice === 'any' || choice === 'required') return 'required';
  if (choice === 'auto' || choice === 'none') return choice;
  const { function: chosenFunction, name = chosenFunction?.name } = (
    typeof choice === 'object' ? (choice ?? {}) : { name: choice }
  ) as CoreTool;
  return name !== undefined && names.includes(name) ? { name } : undefined;
}

/** Maximum number of calls whose `retryMessage` is kept. */
const MAX_CALLS = 1000;

/** Maximum depth to which the arguments of calls are compared. */
const MAX_DEPTH = 64;

/**
 * The `retryMessage` of each call that could not be repaired. A call is identified by its id, tool and arguments: some
 * backends number the calls of each reply from the start, so different replies and conversations may have equal ids.
 */
export class Refusals {
  readonly #messages = new Map<string, string>();
  /** Number of calls, and of refused calls, for each id and name, regardless of the arguments. */
  readonly #counts = new Map<string, { calls: number; refused: number; message: string }>();

  /** Records a call with the tool's own name and restored arguments, and its message unless the call may run. */
  record(id: string | undefined, name: string, args: unknown, message: string | null | undefined): void {
    const pair = JSON.stringify([id ?? '', name]);
    const { calls, refused, message: lastMessage } = this.#counts.get(pair) ?? { calls: 0, refused: 0, message: '' };
    const count = refused + (message ? 1 : 0);
    putLast(this.#counts, pair, { calls: calls + 1, refused: count, message: message || lastMessage });
    if (message) putLast(this.#messages, keyOf(id, name, args), message);
  }

  /** Returns the message of a call that could not be repaired, or `undefined` for any other call. */
  get(id: string | undefined, name: string, args: unknown): string | undefined {
    return this.#messages.get(keyOf(id, name, args));
  }

  /** Throws if a call could not be repaired. */
  check(id: string | undefined, name: string, args: unknown): void {
    const message = this.get(id, name, args);
    if (message !== undefined) throw new Error(message);
  }

  /**
   * Like {@link check}, for frameworks that may have changed the arguments according to the tool's own schema, so that
   * they no longer match the recorded ones. Also throws if all calls with the id and name were refused.
   */
  checkValidated(id: string | undefined, name: string, args: unknown): void {
    this.check(id, name, args);
    const counts = this.#counts.get(JSON.stringify([id ?? '', name]));
    if (counts !== undefined && counts.calls === counts.refused) throw new Error(counts.message);
  }
}

/** Adds a member at the end, or moves it there, and drops the oldest members beyond the maximum. */
function putLast<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  for (const oldest of map.keys()) if (map.size < MAX_CALLS || !map.delete(oldest)) break;
  map.set(key, value);
}

function keyOf(id: string | undefined, name: string, args: unknown): string {
  return JSON.stringify([id ?? '', name, canonical(parseArguments(args), MAX_DEPTH)]);
}

/** Parses arguments that are JSON text. Text that cannot be parsed is returned unchanged, and blank text is `{}`. */
function parseArguments(args: unknown): unknown {
  if (typeof args !== 'string') return args ?? {};
  try {
    return args.trim() === '' ? {} : JSON.parse(args);
  } catch {
    return args;
  }
}

/** Returns the arguments of a call as an object, or `undefined` if they are not an object. */
export function argumentsOf(args: unknown): Record<string, unknown> | undefined {
  const value = args === '' ? args : parseArguments(args);
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns arguments as JSON text. */
function textOf(args: unknown): string {
  return typeof args === 'string' ? args : (JSON.stringify(args) ?? '');
}

/** Returns a value whose JSON text does not depend on the order of members. Anything below `levels` becomes null. */
function canonical(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  if (Array.isArray(value)) return value.map((item) => canonical(item, levels - 1));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return { members: members.map(([name, member]) => [name, canonical(member, levels - 1)]) };
}

/** The parts of the adapted request that this module reads. */
interface AdaptedRequest {
  messages: { tool_calls?: { function: { name: string; arguments: string } }[] }[];
  tools?: { function: SentTool }[];
  tool_choice?: 'auto' | 'none' | 'required' | { function: { name: string } };
}

/** The parts of a reply with one call. */
interface OneCallReply {
  choices: [{ message: { tool_calls: [{ function: { name: string; arguments: string } }] } }];
}
