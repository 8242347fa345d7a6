/**
 * What the adapters of frameworks share. A framework has its own types for tools and calls: its adapter gives the tools here, and gets back
 * what is sent for them and what restores the calls.
 *
 * @packageDocumentation
 */

// The file beside this one: no second WebAssembly.
import { type AdaptOptions, type AdaptReport, adaptRequest, type Dialect, sanitizeTools } from './index.js';
import type { Quarantined, RepairedCall } from './report.js';
import type { CallStream, Restore, RestoredCall } from './restore.js';

/** Options of the adapters of frameworks. */
export interface FrameworkOptions
  extends Omit<
    AdaptOptions,
    | 'deferred'
    | 'format'
    | 'formats'
    | 'historyArguments'
    | 'historyPairs'
    | 'model'
    | 'outputSchemas'
    | 'overflow'
    | 'prefix'
    | 'share'
    | 'wrapper'
  > {
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

/** A tool as a framework has it. */
export interface GivenTool {
  /** The tool's own name. */
  name: string;
  /** The description. */
  description?: string | undefined;
  /** The schema of its arguments. */
  schema: unknown;
  /** Whether the API should enforce the schema. */
  strict?: boolean | undefined;
}

/** Which tool the model has to call: `"auto"`, `"none"`, `"required"`, or one by its own name. */
export type Choice = 'auto' | 'none' | 'required' | { name: string } | undefined;

/** One request of a framework: what is sent for its tools, and what restores the calls of its reply. */
export class Turn {
  /** The tools as they are sent. */
  readonly sent: SentTools;
  /** The choice as it is sent; a choice of one tool has the name that is sent. */
  readonly choice: Choice;
  readonly #byName: ReadonlyMap<string, SentTool>;
  readonly #options: FrameworkOptions;
  readonly #restore: Restore;
  /** The names that are sent, by the tools' own. */
  readonly #sentNames = new Map<string, string>();
  /** The tools' own names, by those that are sent. */
  readonly #ownNames = new Map<string, string>();

  /**
   * @param called - The names of the calls in the history: tools that the list no longer has need a name that the API takes, too.
   * @throws {@link ToolwireError} What {@link adaptRequest} and {@link sanitizeTools} throw.
   */
  constructor(
    tools: readonly GivenTool[],
    { choice, called, model }: { choice?: Choice; called: Iterable<string>; model: string },
    options: FrameworkOptions,
  ) {
    const { onSetAside, onReport, onRepair: _, ...rest } = options;
    const names = [...new Set([...tools.map(({ name }) => name), ...called])];
    // Some models refuse to be forced while they think, which only the framework's own settings say.
    const isForced = typeof choice === 'object' || choice === 'required';
    const request = {
      model: isForced ? undefined : model,
      messages: [
        { role: 'user', content: '' },
        {
          role: 'assistant',
          content: null,
          tool_calls: names.map((name, at) => ({ id: `${at}`, type: 'function', function: { name, arguments: '{}' } })),
        },
      ],
      tools: tools.map(({ name, description, schema, strict }) => ({
        type: 'function',
        function: { name, description, parameters: schema, strict },
      })),
      tool_choice: typeof choice === 'object' ? { type: 'function', function: { name: choice.name } } : choice,
    };
    // Without `undefined`, which no JSON has.
    const body = JSON.stringify(request);
    const adapted = adaptRequest(body, { ...rest, format: 'openai-chat', deferred: false });
    const { report, restore } = adapted;
    // It warns, throws or calls the function, depending on `onSetAside`.
    if (report.quarantined.length > 0) {
      sanitizeTools(JSON.parse(body).tools, { ...rest, format: 'openai-chat', onSetAside });
    }
    const written = JSON.parse(adapted.request) as Written;
    written.messages[1]?.tool_calls?.forEach(({ function: { name } }, at) => {
      const own = names[at] as string;
      this.#sentNames.set(own, name);
      this.#ownNames.set(name, own);
    });
    const { tool_choice: sentChoice, tools: sentTools = [] } = written;
    this.choice = typeof sentChoice === 'object' ? { name: sentChoice.function.name } : sentChoice;
    this.sent = { dialect: report.dialect, model, tools: sentTools.map((tool) => tool.function) };
    this.#byName = new Map(this.sent.tools.map((tool) => [tool.name, tool]));
    this.#options = options;
    this.#restore = restore;
    onReport?.(report, this.sent);
  }

  /** The name that is sent for a tool's own name. */
  sentName(own: string): string {
    return this.#sentNames.get(own) ?? own;
  }

  /** The tool's own name, of a name that the model knows. */
  ownName(sent: string): string {
    return this.#ownNames.get(sent) ?? sent;
  }

  /** What is sent for a tool; `undefined` if it was set aside. */
  sentTool(own: string): SentTool | undefined {
    return this.#byName.get(this.sentName(own));
  }

  /** Restores a call, and says what became of its arguments. */
  call<T>(id: string, name: string, args: T): RestoredCall<T> {
    const restored = this.#restore.call(name, args) as RestoredCall<T>;
    const { valid, repairs = [], left = [], retryMessage = null } = restored;
    if (valid !== undefined) {
      this.#options.onRepair?.([{ id, name: restored.name, valid, repairs, left, retryMessage }], this.sent);
    }
    return restored;
  }

  /** Restores the arguments of a call in pieces. Does not report repairs: {@link call} does, once the arguments are whole. */
  callStream(name: string): CallStream {
    return this.#restore.callStream(name);
  }
}

/** Maximum number of calls whose `retryMessage` is kept. */
const MOST = 1000;

/** The `retryMessage` of calls that could not be repaired, until they would run. */
export class Refusals {
  readonly #messages = new Map<string, string>();

  /** Keeps the message of a call. */
  keep(id: string, message: string | null | undefined): void {
    // Another call may have the same id: some backends count them in each reply.
    this.#messages.delete(id);
    if (!message) return;
    for (const oldest of this.#messages.keys()) if (this.#messages.size < MOST || !this.#messages.delete(oldest)) break;
    this.#messages.set(id, message);
  }

  /** The message of a call that could not be repaired. */
  get(id: string): string | undefined {
    return this.#messages.get(id);
  }

  /** Throws the message of a call that could not be repaired. */
  check(id: string): void {
    const message = this.get(id);
    if (message !== undefined) throw new Error(message);
  }
}

/** The parts of the adapted request that are read. */
interface Written {
  messages: { tool_calls?: { function: { name: string } }[] }[];
  tools?: { function: SentTool }[];
  tool_choice?: 'auto' | 'none' | 'required' | { function: { name: string } };
}
