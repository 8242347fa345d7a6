/**
 * What the adapters of frameworks share. A framework has its own types for tools and calls: its adapter gives the tools here, and gets back
 * what is sent for them and what restores the calls. An `Exchange` would need each request and reply as the text of an API, which the
 * framework's provider writes and reads below the adapter, and would restore the last call of a stream only where the reply ends.
 *
 * @packageDocumentation
 */

// The file beside this one: no second WebAssembly.
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
const OWN_OPTIONS = [
  'deferred',
  'format',
  'formats',
  'historyArguments',
  'historyPairs',
  'model',
  'outputSchemas',
  'overflow',
  'prefix',
  'share',
  'wrapper',
] as const;
type OwnOption = (typeof OWN_OPTIONS)[number];

/** Options of the adapters of frameworks. */
export interface FrameworkOptions extends Omit<AdaptOptions, OwnOption> {
  /**
   * What becomes of a list of which tools have to be set aside. Default `"warn"`: it is sent without them, and `console.warn` says which, for
   * which dialect, why, and what to do, once for each list. `"error"`: it is not sent. A function is called instead of `console.warn`.
   */
  onSetAside?: 'warn' | 'error' | ((tools: Quarantined[], list: { dialect: Dialect }) => void) | undefined;
  /** Is called with the report of each request before it is sent. What it throws, the caller of the model gets. */
  onReport?: ((report: AdaptReport, sent: SentTools) => void) | undefined;
  /** With `repair`: is called with what became of the arguments of each call, once they are whole. */
  onRepair?: ((calls: RepairedCall[], sent: SentTools) => void) | undefined;
}

/** The tools of a request as they are sent. */
export interface SentTools {
  /** The dialect that they are written in. */
  dialect: Dialect;
  /** The model, as the framework names it. */
  model: string;
  /** The tools, as functions of Chat Completions. */
  tools: readonly SentTool[];
}

/** A tool as it is sent. */
export interface SentTool {
  /** The name that the API takes. */
  name: string;
  /** The description; absent if the tool has none. */
  description?: string;
  /** The schema of its arguments, in the dialect. */
  parameters: { [keyword: string]: unknown };
  /** Whether the API enforces the schema; absent if the dialect does not say so. */
  strict?: boolean;
}

/** A tool as the core takes it: a function in the form of Chat Completions, Responses or Anthropic. */
export type GivenTool = object & { function?: { name: string }; name?: string };

/** Which tool the model has to call: `"auto"`, `"none"`, `"required"`, or one by its own name. */
export type Choice = 'auto' | 'none' | 'required' | { name: string } | undefined;

/** What {@link Turn} takes of a request. */
export interface GivenRequest {
  /** The tools, in their order; `undefined` for those that the provider runs itself. */
  tools: readonly (GivenTool | undefined)[];
  /** The names of tools that the provider runs itself: no other tool is sent under such a name. */
  hosted?: readonly (string | undefined)[];
  /** The choice, in any form that frameworks have: a mode, or a tool's name, alone or as a member of `function`. */
  choice?: unknown;
  /** The calls in the history: tools that the list no longer has need a name that the API takes, too. */
  called?: Iterable<PastCall>;
  /** The model, as the framework names it. */
  model?: string;
}

/** A call in the history: the tool's own name, and the arguments, a value or JSON text. */
export interface PastCall {
  name: string;
  arguments: unknown;
}

/** What an adapter keeps from request to request: its options, and the calls that it has refused. */
export class Adapter {
  readonly options: FrameworkOptions;
  readonly refusals = new Refusals();

  /** @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`: here, and not with the first request. */
  constructor(options: FrameworkOptions) {
    const { onSetAside, onReport, onRepair, ...rest } = options;
    for (const name of OWN_OPTIONS)
      if ((options as object as { [option: string]: unknown })[name] !== undefined)
        throw invalid('unknown-option', name, `expected no \`${name}\`, which the adapter sets itself`);
    for (const [name, found] of Object.entries({ onReport, onRepair }))
      if (found !== undefined && typeof found !== 'function')
        throw invalid('invalid-option', name, `expected \`${name}\` to be a function, found \`${String(found)}\``);
    sanitizeTools([], { ...rest, format: 'openai-chat', onSetAside });
    this.options = options;
    new Turn({ tools: [] }, this, undefined);
  }

  /** Adapts the tools of a request. */
  turn(request: GivenRequest): Turn {
    return new Turn(request, this, this.options.onReport);
  }
}

function invalid(code: 'unknown-option' | 'invalid-option', name: string, message: string): ToolwireError {
  return new ToolwireError(code, `/${name}`, message);
}

/** One request of a framework: what is sent for its tools, and what restores the calls of its reply. */
export class Turn {
  /** The tools as they are sent. */
  readonly sent: SentTools;
  /** The choice as it was given; `undefined` if it was none of these tools. */
  readonly #givenChoice: Choice;
  /** The choice as it is sent; `undefined` if it was dropped. */
  readonly #sentChoice: Choice;
  readonly #adapter: Adapter;
  readonly #restore: Restore;
  /** What is sent for each tool, by its place in the list. */
  readonly #places: (SentTool | undefined)[];
  /** The names that are sent, by the tools' own. */
  readonly #sentNames = new Map<string, string>();
  /** The tools' own names, by those that are sent. */
  readonly #ownNames = new Map<string, string>();
  /** The arguments of calls in the history as they are sent, by those that were given. */
  readonly #sentTexts = new Map<string, string>();

  /** @throws {@link ToolwireError} What {@link adaptRequest} and {@link sanitizeTools} throw. */
  constructor(
    { tools, hosted = [], choice: found, called = [], model = '' }: GivenRequest,
    adapter: Adapter,
    onReport: FrameworkOptions['onReport'],
  ) {
    const { onSetAside, onReport: _, onRepair: __, ...rest } = adapter.options;
    const functions = tools.filter((tool) => tool !== undefined);
    const choice = functions.length === 0 ? undefined : choiceOf(found, functions.map(nameOf));
    const past = [...called];
    const names = [...new Set(past.map(({ name }) => name))];
    // Arguments that are an object stay as they are.
    const unread = past.filter((call) => !isRecord(call.arguments));
    const calls = [...names.map((name) => ({ name, arguments: {} })), ...unread];
    // Some models refuse to be forced while they think, which only the framework's own settings say.
    const isForced = typeof choice === 'object' || choice === 'required';
    const adapt = (list: readonly GivenTool[]) => {
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
      // As text: without `undefined`, which no JSON has.
      const adapted = adaptRequest(JSON.stringify(request), { ...rest, format: 'openai-chat', deferred: false });
      return { adapted, written: JSON.parse(adapted.request) as Written };
    };
    let { adapted, written } = adapt(functions);
    // A tool that the provider runs has its name already. Only functions reserve a name for every dialect.
    const taken = new Set(hosted.filter((name) => name !== undefined));
    for (const tool of functions) taken.delete(nameOf(tool));
    if (written.tools?.some((tool) => taken.has(tool.function.name))) {
      const reserved = [...taken].map((name) => ({ type: 'function', function: { name, parameters: NOTHING } }));
      ({ adapted, written } = adapt([...functions, ...reserved]));
    }
    const { report, restore } = adapted;
    // It warns, throws or calls the function, depending on `onSetAside`.
    if (report.quarantined.length > 0) {
      const list = JSON.parse(JSON.stringify(functions));
      sanitizeTools(list, { ...rest, format: 'openai-chat', onSetAside });
    }
    written.messages[1]?.tool_calls?.forEach((call, at) => {
      const { name, arguments: args } = calls[at] as PastCall;
      this.#name(name, call.function.name);
      this.#sentTexts.set(textOf(args), call.function.arguments);
    });
    const aside = new Set(report.quarantined.map(({ pointer }) => Number(pointer.split('/')[2])));
    const sent = (written.tools ?? []).map((tool) => tool.function);
    const places = functions.map((_, at) => (aside.has(at) ? undefined : sent.shift()));
    // Last: a listed tool has its name before one that only the history knows, and the first of two of one name before the other.
    for (const [at, tool] of [...functions.entries()].reverse()) {
      const place = places[at];
      if (place !== undefined) this.#name(nameOf(tool), place.name);
    }
    const { tool_choice: sentChoice } = written;
    this.#givenChoice = choice;
    this.#sentChoice = typeof sentChoice === 'object' ? { name: sentChoice.function.name } : sentChoice;
    this.sent = { dialect: report.dialect, model, tools: places.filter((tool) => tool !== undefined) };
    this.#places = tools.map((tool) => (tool === undefined ? undefined : places.shift()));
    this.#adapter = adapter;
    this.#restore = restore;
    onReport?.(report, this.sent);
  }

  #name(own: string, sent: string) {
    this.#sentNames.set(own, sent);
    this.#ownNames.set(sent, own);
  }

  /** The name that is sent for a tool's own name. */
  sentName(own: string): string {
    return this.#sentNames.get(own) ?? own;
  }

  /** The tool's own name, of a name that the model knows. */
  ownName(sent: string): string {
    return this.#ownNames.get(sent) ?? sent;
  }

  /** The arguments of a call in the history as they are sent: an object, or its text if text was given. */
  sentArguments<T>(args: T): T {
    if (isRecord(args)) return args;
    const text = this.#sentTexts.get(textOf(args)) ?? '{}';
    return (typeof args === 'string' ? text : JSON.parse(text)) as T;
  }

  /** The framework's choice as it is sent: as it was if nothing had to change, `undefined` if it was dropped. */
  chosen<T>(found: T, write: (choice: NonNullable<Choice>) => T): T | undefined {
    const [given, sent] = [this.#givenChoice, this.#sentChoice];
    if (given === undefined || (given === sent && typeof given === 'string')) return found;
    return sent === undefined ? undefined : write(sent);
  }

  /**
   * The framework's list as it is sent: without what was set aside; what the provider runs itself stays.
   *
   * @param given - The tools as they were given to the turn.
   */
  listed<T>(tools: readonly T[], given: GivenRequest['tools'], write: (tool: T, sent: SentTool) => T): T[] {
    return tools.flatMap((tool, at) => {
      if (given[at] === undefined) return [tool];
      const sent = this.#places[at];
      return sent === undefined ? [] : [write(tool, sent)];
    });
  }

  /**
   * Restores a call, says what became of its arguments, and refuses it if they could not be repaired, or not be read.
   *
   * @param isCut - Whether the reply may have ended within the call: then no text that breaks off is closed.
   */
  call<T>(id: string | undefined, name: string, args: T, isCut = false): RestoredCall<T> {
    const restored = (isCut ? this.#cutCall(name, textOf(args)) : this.#restore.call(name, args)) as RestoredCall<T>;
    const { valid, repairs = [], left = [], retryMessage = null } = restored;
    // Some frameworks run a call that they cannot read without its arguments.
    const isRead = typeof args !== 'string' || (args.trim() === '' ? !isCut : isJson(restored.arguments));
    const refusal = retryMessage ?? (isRead ? null : unread(restored.name));
    this.#adapter.refusals.keep(id, restored.name, restored.arguments, refusal);
    if (valid !== undefined) {
      const call = { id: id ?? '', name: restored.name, valid, repairs, left, retryMessage };
      this.#adapter.options.onRepair?.([call], this.sent);
    }
    return restored;
  }

  /** Restores a call of a reply that ended at a length limit. */
  #cutCall(name: string, text: string): RestoredCall<string> {
    const message = { tool_calls: [{ type: 'function', function: { name, arguments: text } }] };
    const { reply, calls } = this.#restore.reply<object>({ choices: [{ finish_reason: 'length', message }] });
    const { function: found } = (reply as CutReply).choices[0].message.tool_calls[0];
    return { ...calls[0], ...found };
  }

  /** Restores the arguments of a call in pieces. Does not report repairs: {@link call} does, once the arguments are whole. */
  callStream(name: string): CallStream {
    return this.#restore.callStream(name);
  }
}

/** Whether arguments are a value, or JSON text. */
function isJson(args: unknown): boolean {
  return typeof args !== 'string' || read(args) !== args;
}

/** The error of a call whose arguments cannot be read, without `repair`. */
export function unread(name: string): string {
  return `The call of \`${name}\` was not run: expected its arguments as JSON, found text that is none or was cut off. Call it again with whole arguments.`;
}

/** Words of model APIs and frameworks for the end of a reply at a length limit. */
const ENDS_OF_A_CUT = [
  'length',
  'model_length',
  'max_tokens',
  'MAX_TOKENS',
  'model_context_window_exceeded',
  'incomplete',
];

/** Whether a reply that ended for this reason may have ended within a call. */
export function isCut(reason: unknown): boolean {
  return ENDS_OF_A_CUT.includes(reason as string);
}

/** Whether a schema as it is sent takes an example of arguments. If it does not, APIs refuse the tool. */
export function fits(example: unknown, parameters: SentTool['parameters']): boolean {
  return validateArguments(example, parameters).valid !== false;
}

/** The schema of a function that only reserves a name. */
const NOTHING = { type: 'object', properties: {} };

/** The own name of a tool. */
function nameOf(tool: GivenTool): string {
  return tool.function?.name ?? tool.name ?? '';
}

/** The choice of one of the tools, or of a mode. */
function choiceOf(found: unknown, names: readonly string[]): Choice {
  if (found === 'any' || found === 'required') return 'required';
  if (found === 'auto' || found === 'none') return found;
  const { function: one, name = one?.name } = (
    typeof found === 'object' ? (found ?? {}) : { name: found }
  ) as GivenTool;
  return name !== undefined && names.includes(name) ? { name } : undefined;
}

/** Maximum number of calls whose `retryMessage` is kept. */
const MOST = 1000;

/** Number of levels of arguments that tell calls apart. */
const DEEPEST = 64;

/**
 * The `retryMessage` of calls that could not be repaired. A call is its id, its tool and its arguments: some backends count ids in each
 * reply, so those of different replies and conversations may be equal.
 */
export class Refusals {
  readonly #messages = new Map<string, string>();
  /** The calls with an id and a name, whatever their arguments. */
  readonly #judged = new Map<string, { calls: number; refused: number; message: string }>();

  /** Keeps the message of a call with the tool's own name and restored arguments; none if the call may run. */
  keep(id: string | undefined, name: string, args: unknown, message: string | null | undefined): void {
    const pair = JSON.stringify([id ?? '', name]);
    const { calls, refused, message: before } = this.#judged.get(pair) ?? { calls: 0, refused: 0, message: '' };
    const count = refused + (message ? 1 : 0);
    put(this.#judged, pair, { calls: calls + 1, refused: count, message: message || before });
    if (message) put(this.#messages, keyOf(id, name, args), message);
  }

  /** The message of a call that could not be repaired. */
  get(id: string | undefined, name: string, args: unknown): string | undefined {
    return this.#messages.get(keyOf(id, name, args));
  }

  /** Throws the message of a call that could not be repaired. */
  check(id: string | undefined, name: string, args: unknown): void {
    const message = this.get(id, name, args);
    if (message !== undefined) throw new Error(message);
  }

  /**
   * The same where the framework has changed the arguments by the tool's own schema, so that they may no longer be those that were judged:
   * then no call of this id and tool runs if all of them were refused.
   */
  checkValidated(id: string | undefined, name: string, args: unknown): void {
    this.check(id, name, args);
    const judged = this.#judged.get(JSON.stringify([id ?? '', name]));
    if (judged !== undefined && judged.calls === judged.refused) throw new Error(judged.message);
  }
}

/** Puts a member behind all others, and drops the oldest beyond the most that are kept. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  for (const oldest of map.keys()) if (map.size < MOST || !map.delete(oldest)) break;
  map.set(key, value);
}

function keyOf(id: string | undefined, name: string, args: unknown): string {
  return JSON.stringify([id ?? '', name, canonical(read(args), DEEPEST)]);
}

/** The value of arguments, which may be JSON text. Text that cannot be read is its own value; none is no arguments. */
function read(args: unknown): unknown {
  if (typeof args !== 'string') return args ?? {};
  try {
    return args.trim() === '' ? {} : JSON.parse(args);
  } catch {
    return args;
  }
}

/** The arguments of a call as an object; `undefined` if they are none. */
export function argumentsOf(found: unknown): Record<string, unknown> | undefined {
  const value = found === '' ? found : read(found);
  return isRecord(value) ? value : undefined;
}

function isRecord(found: unknown): found is Record<string, unknown> {
  return typeof found === 'object' && found !== null && !Array.isArray(found);
}

/** Arguments as JSON text. */
function textOf(args: unknown): string {
  return typeof args === 'string' ? args : (JSON.stringify(args) ?? '');
}

/** A value that is written alike whatever the order of its members. What is deeper is one and the same. */
function canonical(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  if (Array.isArray(value)) return value.map((item) => canonical(item, levels - 1));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return { members: members.map(([name, member]) => [name, canonical(member, levels - 1)]) };
}

/** The parts of the adapted request that are read. */
interface Written {
  messages: { tool_calls?: { function: { name: string; arguments: string } }[] }[];
  tools?: { function: SentTool }[];
  tool_choice?: 'auto' | 'none' | 'required' | { function: { name: string } };
}

/** The parts of a reply with one call. */
interface CutReply {
  choices: [{ message: { tool_calls: [{ function: { name: string; arguments: string } }] } }];
}
