/**
 * An adapter for MCP servers of the TypeScript SDK, version 1 (`@modelcontextprotocol/sdk`) and version 2
 * (`@modelcontextprotocol/server`). It lists tools in a dialect, and restores the tools' own names and arguments in calls.
 *
 * @packageDocumentation
 */

// The same file that users import, so that the WebAssembly is not loaded twice.
import {
  type FittedResult,
  fitResult,
  type McpTool,
  type ResultOptions,
  type SanitizedTools,
  sanitizeTools,
  type ToolsOptions,
  ToolwireError,
} from './index.js';
import type { RepairedCall, Validation } from './report.js';
import type { Restore, RestoredCall } from './restore.js';

/** Options of the core that the adapter sets itself. */
const ADAPTER_OPTIONS = ['duplicateNames', 'format', 'outputSchemas', 'prefix', 'share'] as const;

/** Options of {@link toolwireServer} and {@link toolwireHandlers}. */
export interface ServerOptions extends Omit<ToolsOptions, (typeof ADAPTER_OPTIONS)[number]> {
  /**
   * Handling of a result that does not match the `outputSchema` of its tool, and cannot be fitted by `fitResult`. Default `"pass"`: the
   * client receives it. `"refuse"`: the client receives a result with `isError` that names the violation. `"drop"`: the client receives it
   * without `structuredContent`, and the tools are listed without `outputSchema`, for which clients require structured content. Other
   * results of a call, such as a task or a request for input, are not checked.
   */
  results?: ResultOptions['mismatch'];
  /** Results whose structured content is also added as text, as in `fitResult`. Default `"empty"`. */
  structuredText?: ResultOptions['structuredText'];
  /**
   * Called for each list that is rewritten, before the client receives it. The last 16 lists are kept, so it is called again for a list
   * that 16 others have replaced, and in each process. If it throws, the request fails.
   */
  onReport?: ((list: SanitizedTools<McpTool[]>) => void) | undefined;
  /** With `repair`: called with the repair result of each call, before the tool runs. If it throws, the call fails. */
  onRepair?: ((call: Omit<RepairedCall, 'id'>) => void) | undefined;
  /**
   * Called with each result that does not match the `outputSchema` of its tool. Messages contain no value of the result. If it throws,
   * `console.warn` reports the error, and the result is not lost.
   */
  onResult?: ((result: CheckedResult) => void) | undefined;
}

/** A result that does not match the `outputSchema` of its tool. */
export interface CheckedResult {
  /** The tool's own name. */
  tool: string;
  /** The violations, with pointers into the result and into the tool. */
  errors: Validation['errors'];
}

/** A tool as the server lists it. */
interface ServerTool {
  name: string;
  outputSchema?: object;
}

/** A request of MCP, as the SDK passes it to a handler. */
interface Request {
  method: string;
  params?: { name?: string; arguments?: object | undefined; cursor?: unknown; _meta?: unknown } | undefined;
}

/** A handler of requests. Its second parameter is the SDK's context of a request, which is passed on. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's types, which this module does not import, differ between versions
export type RequestHandler = (request: any, context: any) => any;

/** The handlers of a server with tools. */
export interface ToolHandlers<L = RequestHandler, C = RequestHandler> {
  /** Answers `tools/list`. */
  list: L;
  /** Answers `tools/call`. */
  call: C;
}

/**
 * Makes a server list its tools in a dialect, and restores the calls. Returns the server. Tools may be registered before and after.
 * A call that could not be repaired (`repair`) does not run: its result is an error with the `retryMessage`.
 *
 * @example
 * ```ts
 * const server = toolwireServer(new McpServer({ name: 'files', version: '1.0.0' }), { dialect: 'portable', repair: true });
 * ```
 *
 * @param server - A `McpServer` or a `Server` of the SDK.
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`; `invalid-value` if it is not such a server.
 */
export function toolwireServer<S extends object>(server: S, options: ServerOptions): S {
  const lowServer = ((server as { server?: unknown }).server ?? server) as LowServer;
  const handlers = lowServer._requestHandlers;
  if (typeof lowServer.setRequestHandler !== 'function' || !(handlers instanceof Map)) {
    const message = 'expected a `McpServer` or a `Server` of the MCP SDK for TypeScript, found another object';
    throw new ToolwireError('invalid-value', '', message);
  }
  const adapter = new ServerAdapter(options);
  const serverHandlers: { [method: string]: RequestHandler } = {};
  const list: RequestHandler = (request, context) => (serverHandlers[LIST] ?? NO_TOOLS)(request, context);
  const adapted: { [method: string]: RequestHandler } = {
    [LIST]: (request, context) => adapter.list(list, request, context),
    [CALL]: (request, context) => adapter.call(list, serverHandlers[CALL] as RequestHandler, request, context),
  };
  const replaceHandler = (method: string): void => {
    const handler = handlers.get(method);
    if (handler === undefined) return;
    serverHandlers[method] = handler;
    handlers.set(method, adapted[method] as RequestHandler);
  };
  const methods = [LIST, CALL];
  methods.forEach(replaceHandler);
  const set = lowServer.setRequestHandler;
  lowServer.setRequestHandler = (...args: unknown[]) => {
    const previous = methods.map((method) => handlers.get(method));
    // The stored handler parses each request with the schema in `args`, including requests of the adapter.
    const returned = set.apply(lowServer, args);
    methods.filter((method, at) => handlers.get(method) !== previous[at]).forEach(replaceHandler);
    return returned;
  };
  return server;
}

/**
 * Adapts the handlers of a server that sets them itself, as {@link toolwireServer} does.
 *
 * @example
 * ```ts
 * const { list, call } = toolwireHandlers({ list: () => ({ tools }), call: ({ params }) => run(params) }, { dialect: 'portable' });
 * server.setRequestHandler(ListToolsRequestSchema, list);
 * server.setRequestHandler(CallToolRequestSchema, call);
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`.
 */
export function toolwireHandlers<L extends RequestHandler, C extends RequestHandler>(
  handlers: ToolHandlers<L, C>,
  options: ServerOptions,
): ToolHandlers<AsyncHandler<L>, AsyncHandler<C>> {
  const { list, call } = handlers;
  const adapter = new ServerAdapter(options);
  return {
    list: ((request, context) => adapter.list(list, request, context)) as AsyncHandler<L>,
    call: ((request, context) => adapter.call(list, call, request, context)) as AsyncHandler<C>,
  };
}

/** A handler with the parameters of another, which answers asynchronously. */
type AsyncHandler<H extends RequestHandler> = (
  request: Parameters<H>[0],
  context: Parameters<H>[1],
) => Promise<Awaited<ReturnType<H>>>;

const LIST = 'tools/list';
const CALL = 'tools/call';
const NO_TOOLS: RequestHandler = () => ({ tools: [] });

const RESULTS: readonly unknown[] = [undefined, 'pass', 'refuse', 'drop'];

/** Maximum number of lists that are kept. There are several if the list depends on the session. */
const MAX_LISTS = 16;

/** Maximum number of pages of a list. */
const MAX_PAGES = 10_000;

/** Maximum size of the tools on all pages of a list, as JSON text in UTF-8. `toolwire proxy` has the same limit. */
const MAX_BYTES = 64 << 20;

/** The members that this module reads of a server. The map is private, but equal in both versions of the SDK. */
interface LowServer {
  setRequestHandler(...args: unknown[]): unknown;
  _requestHandlers: Map<string, RequestHandler>;
}

/** A list as the client receives it, and the original definitions of its tools. */
interface AdaptedList {
  /** The listed tools, as JSON text, so that a receiver of the list cannot change it for others. */
  text: string;
  restore: Restore;
  serverTools: Map<string, ServerTool>;
  /** Maps the names of the server, and the listed names, to listed names. If two tools share a name, the listed one has priority. */
  names: Map<string, string>;
}

class ServerAdapter {
  readonly #options: Omit<ToolsOptions, (typeof ADAPTER_OPTIONS)[number]>;
  readonly #handlers: Pick<ServerOptions, 'results' | 'structuredText' | 'onReport' | 'onRepair' | 'onResult'>;
  /** The lists that were rewritten, by their JSON text; the most recently used is last. */
  readonly #lists = new Map<string, AdaptedList>();

  constructor({ results, structuredText, onReport, onRepair, onResult, ...options }: ServerOptions) {
    for (const name of ADAPTER_OPTIONS)
      if ((options as { [option: string]: unknown })[name] !== undefined)
        throw new ToolwireError('unknown-option', `/${name}`, `expected no \`${name}\`, which the adapter sets itself`);
    for (const [name, value] of Object.entries({ onReport, onRepair, onResult }))
      if (value !== undefined && typeof value !== 'function') throw invalid(name, 'a function', value);
    if (!RESULTS.includes(results)) throw invalid('results', '`"pass"`, `"refuse"` or `"drop"`', results);
    fitResult({}, {}, { structuredText });
    sanitizeTools([], { ...options, format: 'mcp' });
    this.#options = options;
    this.#handlers = { results, structuredText, onReport, onRepair, onResult };
  }

  /** Answers `tools/list` with all pages of the list, because names have to be unique in the whole list. */
  async list(handler: RequestHandler, request: Request, context: unknown): Promise<object> {
    const { first, listed } = await this.#readList(handler, request, context);
    const { nextCursor: _, ...members } = first;
    return { ...members, tools: JSON.parse(listed.text) };
  }

  async call(list: RequestHandler, handler: RequestHandler, request: Request, context: unknown): Promise<Result> {
    const { name, arguments: args, _meta } = request.params ?? {};
    // The SDK refuses such a request.
    if (typeof name !== 'string') return handler(request, context);
    // Another process may have listed the tools. The list request keeps only `_meta` of the parameters, because the others belong to the call.
    const params = _meta === undefined ? {} : { _meta };
    const { listed } = await this.#readList(list, { ...request, params }, context);
    throwIfCancelled(context);
    const call: RestoredCall<object> = listed.restore.call(listed.names.get(name) ?? name, args ?? {});
    const { valid, repairs = [], left = [], retryMessage = null } = call;
    if (valid !== undefined) this.#handlers.onRepair?.({ name: call.name, valid, repairs, left, retryMessage });
    if (valid === false) return errorResult(retryMessage ?? '');
    const isEmpty = args === undefined && Object.keys(call.arguments).length === 0;
    const restored = { ...request.params, name: call.name, arguments: isEmpty ? undefined : call.arguments };
    const result = await handler({ ...request, params: restored }, context);
    return this.#fit(result, listed.serverTools.get(call.name));
  }

  #fit(result: Result, tool: ServerTool | undefined): Result {
    const { results: mismatch, structuredText } = this.#handlers;
    if (tool === undefined || isOtherResult(result)) return result;
    if (tool.outputSchema === undefined && result?.structuredContent === undefined) return result;
    const { changed, result: fitted, errors } = fitOrReport(result, tool, { mismatch, structuredText });
    if (errors.length > 0) this.#reportMismatch({ tool: tool.name, errors });
    if (!changed) return result;
    const { structuredContent: _, ...members } = result ?? {};
    return { ...members, ...fitted };
  }

  /** Calls `onResult`. The tool has run, so an error of `onResult` must not replace its result. */
  async #reportMismatch(result: CheckedResult): Promise<void> {
    try {
      await this.#handlers.onResult?.(result);
    } catch (error) {
      console.warn('toolwire: `onResult` failed:', error);
    }
  }

  async #readList(handler: RequestHandler, { params, ...request }: Request, context: unknown) {
    const { cursor: _, ...otherParams } = params ?? {};
    const readPage = async (cursor: object): Promise<Page> => {
      throwIfCancelled(context);
      const page = await handler({ ...request, method: LIST, params: { ...otherParams, ...cursor } }, context);
      if (Array.isArray(page?.tools)) return page;
      throw new Error(`toolwire: expected the result of \`${LIST}\` to have a list \`tools\`, found none`);
    };
    const first = await readPage({});
    const pages = new ListText();
    pages.add(first);
    const cursors = new Set<string>();
    // The last page should have no cursor, but some servers send `null` or an empty string.
    for (let { nextCursor } = first; nextCursor; ) {
      if (cursors.has(nextCursor))
        throw new Error('toolwire: expected a new cursor on each page of tools, found a repeated one');
      cursors.add(nextCursor);
      if (cursors.size === MAX_PAGES)
        throw new Error(`toolwire: expected at most ${MAX_PAGES} pages of tools, found more`);
      const page = await readPage({ cursor: nextCursor });
      pages.add(page);
      nextCursor = page.nextCursor;
    }
    return { first, listed: this.#cachedList(pages.text) };
  }

  /** Adapts a list, or returns the result for an equal list that was adapted before. */
  #cachedList(key: string): AdaptedList {
    const listed = this.#lists.get(key) ?? this.#adapt(key);
    this.#lists.delete(key);
    for (const oldest of this.#lists.keys()) if (this.#lists.size < MAX_LISTS || !this.#lists.delete(oldest)) break;
    this.#lists.set(key, listed);
    return listed;
  }

  #adapt(text: string): AdaptedList {
    const tools: ServerTool[] = JSON.parse(text);
    const sanitized = sanitizeTools(tools, { ...this.#options, format: 'mcp' });
    // Clients require the structured content that `drop` removes.
    const isHidden = (key: string) => key === 'outputSchema' && this.#handlers.results === 'drop';
    const shownTools = sanitized.tools.map((tool) =>
      Object.fromEntries(Object.entries(tool).filter(([key]) => !isHidden(key))),
    );
    const listed = JSON.stringify(shownTools);
    this.#handlers.onReport?.(sanitized);
    // Reversed, because the first of two tools with the same name is listed.
    const serverTools = new Map(tools.reverse().map((tool) => [tool.name, tool]));
    const shown = Object.entries(sanitized.restore.toJSON().tools as { [shown: string]: ServerTool });
    const names = new Map(shown.map(([name, tool]) => [tool.name, name]));
    for (const [name] of shown) names.set(name, name);
    return { text: listed, restore: sanitized.restore, serverTools, names };
  }
}

/** A page of `tools/list`. */
interface Page {
  tools: ServerTool[];
  nextCursor?: string | null | undefined;
}

/** The tools of all pages of a list, as JSON text. */
class ListText {
  readonly #pages: string[] = [];
  #bytes = 0;

  /** @throws Error if the list is larger than `MAX_BYTES`. */
  add({ tools }: Page): void {
    const page = JSON.stringify(tools).slice(1, -1);
    this.#bytes += UTF8.encode(page).length;
    if (this.#bytes > MAX_BYTES)
      throw new Error(`toolwire: expected at most ${MAX_BYTES >> 20} MiB of tools, found more`);
    if (page !== '') this.#pages.push(page);
  }

  get text(): string {
    return `[${this.#pages.join(',')}]`;
  }
}

const UTF8 = new TextEncoder();

/** The result of a call, which may be of another kind than a `CallToolResult`. A handler may return none. */
type Result = (object & { isError?: unknown; content?: unknown; structuredContent?: unknown }) | undefined;

/** Members of results that are not a `CallToolResult`: a task, and a request for input. `resultType` names their kind. */
const OTHER_RESULTS = ['task', 'inputRequests', 'requestState'];

function isOtherResult(result: Result): boolean {
  const members: { [member: string]: unknown } = Object(result);
  if (typeof members.resultType === 'string' && members.resultType !== 'complete') return true;
  const isOfCall = members.content !== undefined || members.structuredContent !== undefined;
  return !isOfCall && OTHER_RESULTS.some((member) => member in members);
}

/** Fits a result. Structured content that is not JSON is treated as a violation of the output schema. */
function fitOrReport(
  result: Result,
  tool: ServerTool,
  options: ResultOptions,
  isSerialized = false,
): Omit<FittedResult<object>, 'changes'> {
  const { isError, content, structuredContent } = result ?? {};
  try {
    return fitResult<object>({ isError, content, structuredContent }, tool, options);
  } catch (error) {
    if (tool.outputSchema === undefined) return { result: {}, changed: false, valid: null, errors: [] };
    if (!isSerialized && error instanceof ToolwireError && error.pointer.startsWith('/content')) {
      return fitOrReport({ isError, content: asReceived(content), structuredContent }, tool, options, true);
    }
    const isKnown = error instanceof ToolwireError && error.code !== 'invalid-value';
    // Other messages may contain a value.
    const message = isKnown ? error.detail : 'expected a JSON value, found another value';
    const pointer = error instanceof ToolwireError ? error.pointer : '';
    const inTool = isKnown && error.code === 'invalid-schema';
    const violation = {
      pointer: inTool ? '' : pointer,
      schemaPointer: inTool ? pointer : '',
      keyword: 'type',
      message,
    };
    const errors = isError === true ? [] : [violation];
    const { mismatch } = options;
    if (isError !== true && mismatch === 'refuse') {
      const at = violation.pointer === '' ? '' : `\`${violation.pointer}\`: `;
      const text = `The result of \`${tool.name}\` does not match its output schema: ${at}${message}.`;
      return { result: errorResult(text), changed: true, valid: false, errors };
    }
    // The caller removes the structured content.
    return { result: {}, changed: isError === true || mismatch === 'drop', valid: isError === true, errors };
  }
}

/** Returns the value that a client receives, in which NaN is null. A value that cannot be serialized is returned unchanged. */
function asReceived(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return value;
  }
}

/** Throws if the client has cancelled the request. */
function throwIfCancelled(context: unknown): void {
  const { signal, mcpReq } = (context ?? {}) as { signal?: AbortSignal; mcpReq?: { signal?: AbortSignal } };
  (signal ?? mcpReq?.signal)?.throwIfAborted();
}

function invalid(name: string, expected: string, found: unknown): ToolwireError {
  const message = `expected \`${name}\` to be ${expected}, found \`${String(found)}\``;
  return new ToolwireError('invalid-option', `/${name}`, message);
}

/** Returns the result of a failed call. The client shows the text to the model. */
function errorResult(text: string): object {
  return { content: [{ type: 'text', text }], isError: true };
}
