/**
 * An adapter for MCP servers of the TypeScript SDK, version 1 (`@modelcontextprotocol/sdk`) and version 2
 * (`@modelcontextprotocol/server`). It lists tools in a dialect, and restores the tools' own names and arguments in calls.
 *
 * @packageDocumentation
 */

// The same file that users import, so that the WebAssembly is not loaded twice.
import {
  type McpTool,
  type SanitizedTools,
  sanitizeTools,
  type ToolsOptions,
  ToolwireError,
  validateResult,
} from './index.js';
import type { RepairedCall, Validation } from './report.js';
import type { RestoredCall } from './restore.js';

/** Options of the core that the adapter sets itself. */
const OWN_OPTIONS = ['duplicateNames', 'format', 'outputSchemas', 'prefix', 'share'] as const;

/** Options of {@link toolwireServer} and {@link toolwireHandlers}. */
export interface ServerOptions extends Omit<ToolsOptions, (typeof OWN_OPTIONS)[number]> {
  /**
   * Handling of a result that does not match the `outputSchema` of its tool. Default `"pass"`: the client receives it.
   * `"refuse"`: the client receives a result with `isError` that names the violation.
   */
  results?: 'pass' | 'refuse' | undefined;
  /** Called once for each list that is rewritten, before the client receives it. */
  onReport?: ((list: SanitizedTools<McpTool[]>) => void) | undefined;
  /** With `repair`: called with the repair result of each call. */
  onRepair?: ((call: Omit<RepairedCall, 'id'>) => void) | undefined;
  /** Called with each result that does not match the `outputSchema` of its tool. Messages contain no value of the result. */
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
interface OwnTool {
  name: string;
  outputSchema?: object;
}

/** A request of MCP, as the SDK passes it to a handler. */
interface Request {
  method: string;
  params?: { name?: string; arguments?: object | undefined; cursor?: string; _meta?: unknown } | undefined;
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
  const low = ((server as { server?: unknown }).server ?? server) as LowServer;
  const handlers = low._requestHandlers;
  if (typeof low.setRequestHandler !== 'function' || !(handlers instanceof Map)) {
    const message = 'expected a `McpServer` or a `Server` of the MCP SDK for TypeScript, found another object';
    throw new ToolwireError('invalid-value', '', message);
  }
  const adapter = new ServerAdapter(options);
  const own: { [method: string]: RequestHandler } = {};
  const list: RequestHandler = (request, context) => (own[LIST] ?? NO_TOOLS)(request, context);
  const adapted: { [method: string]: RequestHandler } = {
    [LIST]: (request, context) => adapter.list(list, request, context),
    [CALL]: (request, context) => adapter.call(list, own[CALL] as RequestHandler, request, context),
  };
  const adopt = (method: string, handler: RequestHandler): RequestHandler => {
    own[method] = handler;
    return adapted[method] as RequestHandler;
  };
  for (const method of [LIST, CALL]) {
    const handler = handlers.get(method);
    if (handler !== undefined) handlers.set(method, adopt(method, handler));
  }
  const set = low.setRequestHandler;
  low.setRequestHandler = (given: unknown, ...rest: unknown[]) => {
    const method = methodOf(given);
    const handler = rest.pop() as RequestHandler;
    if (method === undefined || typeof handler !== 'function') return set.call(low, given, ...rest, handler);
    if (rest.length === 0) return set.call(low, given, adopt(method, handler));
    // With schemas of its own, a handler receives only `params`.
    const whole = adopt(method, ({ params }, context) => handler(params, context));
    return set.call(low, given, ...rest, (params: unknown, context: unknown) => whole({ method, params }, context));
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
): ToolHandlers<Answer<L>, Answer<C>> {
  const { list, call } = handlers;
  const adapter = new ServerAdapter(options);
  return {
    list: ((request, context) => adapter.list(list, request, context)) as Answer<L>,
    call: ((request, context) => adapter.call(list, call, request, context)) as Answer<C>,
  };
}

/** A handler with the parameters of another, which answers asynchronously. */
type Answer<H extends RequestHandler> = (
  request: Parameters<H>[0],
  context: Parameters<H>[1],
) => Promise<Awaited<ReturnType<H>>>;

const LIST = 'tools/list';
const CALL = 'tools/call';
const NO_TOOLS: RequestHandler = () => ({ tools: [] });

/** Maximum number of lists that are kept. There are several if the list depends on the session. */
const MAX_LISTS = 16;

/** Maximum number of pages of a list. */
const MAX_PAGES = 10_000;

/** The members that this module reads of a server. The map is private, but equal in both versions of the SDK. */
interface LowServer {
  setRequestHandler(method: unknown, ...rest: unknown[]): unknown;
  _requestHandlers: Map<string, RequestHandler>;
}

/** Reads the method of a handler: a name, or in version 1 of the SDK a schema of the requests. */
function methodOf(given: unknown): string | undefined {
  const { safeParse } = (given ?? {}) as { safeParse?: (request: unknown) => { success: boolean } };
  return [LIST, CALL].find((method) =>
    typeof safeParse === 'function'
      ? safeParse.call(given, { method, params: { name: 'a' } }).success
      : given === method,
  );
}

/** A list as the client receives it, and the original definitions of its tools. */
interface Listed {
  sanitized: SanitizedTools<McpTool[]>;
  own: Map<string, OwnTool>;
}

class ServerAdapter {
  readonly #options: Omit<ToolsOptions, (typeof OWN_OPTIONS)[number]>;
  readonly #handlers: Pick<ServerOptions, 'results' | 'onReport' | 'onRepair' | 'onResult'>;
  /** The lists that were rewritten, by their JSON text; the most recently used is last. */
  readonly #lists = new Map<string, Listed>();

  constructor({ results, onReport, onRepair, onResult, ...options }: ServerOptions) {
    for (const name of OWN_OPTIONS)
      if ((options as { [option: string]: unknown })[name] !== undefined)
        throw new ToolwireError('unknown-option', `/${name}`, `expected no \`${name}\`, which the adapter sets itself`);
    for (const [name, found] of Object.entries({ onReport, onRepair, onResult }))
      if (found !== undefined && typeof found !== 'function') throw invalid(name, 'a function', found);
    if (results !== undefined && results !== 'pass' && results !== 'refuse')
      throw invalid('results', '`"pass"` or `"refuse"`', results);
    sanitizeTools([], { ...options, format: 'mcp' });
    this.#options = options;
    this.#handlers = { results, onReport, onRepair, onResult };
  }

  /** Answers `tools/list` with all pages of the list, because names have to be unique in the whole list. */
  async list(handler: RequestHandler, request: Request, context: unknown): Promise<object> {
    const { first, listed } = await this.#listed(handler, request, context);
    const { nextCursor: _, ...members } = first;
    return { ...members, tools: listed.sanitized.tools };
  }

  async call(list: RequestHandler, handler: RequestHandler, request: Request, context: unknown): Promise<object> {
    const { name = '', arguments: args } = request.params ?? {};
    // The client may have received the list from another process.
    const { sanitized, own } = (await this.#listed(list, request, context)).listed;
    const call: RestoredCall<object> = sanitized.restore.call(name, args ?? {});
    const { valid, repairs = [], left = [], retryMessage = null } = call;
    if (valid !== undefined) this.#handlers.onRepair?.({ name: call.name, valid, repairs, left, retryMessage });
    if (valid === false) return failed(retryMessage ?? '');
    const isEmpty = args === undefined && Object.keys(call.arguments).length === 0;
    const params = { ...request.params, name: call.name, arguments: isEmpty ? undefined : call.arguments };
    const result = await handler({ ...request, params }, context);
    return this.#checked(result, own.get(call.name));
  }

  #checked(result: object & { content?: unknown }, tool: OwnTool | undefined): object {
    const { results, onResult } = this.#handlers;
    // Other results, such as a task or a request for input, have no content.
    if (tool?.outputSchema === undefined || !Array.isArray(result.content)) return result;
    if (results !== 'refuse' && onResult === undefined) return result;
    const { valid, errors } = validateResult(result, tool);
    if (valid !== false) return result;
    onResult?.({ tool: tool.name, errors });
    if (results !== 'refuse') return result;
    const [{ pointer, message } = { pointer: '', message: '' }] = errors;
    return failed(`The result of \`${tool.name}\` does not match its output schema: \`${pointer}\`: ${message}.`);
  }

  async #listed(handler: RequestHandler, { params, ...request }: Request, context: unknown) {
    const meta = params?._meta === undefined ? {} : { _meta: params._meta };
    const ask = async (cursor: object): Promise<Page> =>
      handler({ ...request, method: LIST, params: { ...meta, ...cursor } }, context);
    const first = await ask({});
    const tools = [...first.tools];
    let { nextCursor } = first;
    for (let pages = 1; nextCursor !== undefined; pages += 1) {
      if (pages === MAX_PAGES) throw new Error(`toolwire: expected at most ${MAX_PAGES} pages of tools, found more`);
      const page = await ask({ cursor: nextCursor });
      tools.push(...page.tools);
      nextCursor = page.nextCursor;
    }
    return { first, listed: this.#adapted(tools) };
  }

  /** Adapts a list, or returns the result for an equal list that was adapted before. */
  #adapted(tools: OwnTool[]): Listed {
    const key = JSON.stringify(tools);
    const listed = this.#lists.get(key) ?? this.#sanitized(key);
    this.#lists.delete(key);
    for (const oldest of this.#lists.keys()) if (this.#lists.size < MAX_LISTS || !this.#lists.delete(oldest)) break;
    this.#lists.set(key, listed);
    return listed;
  }

  #sanitized(text: string): Listed {
    const tools: OwnTool[] = JSON.parse(text);
    const sanitized = sanitizeTools(tools, { ...this.#options, format: 'mcp' });
    this.#handlers.onReport?.(sanitized);
    // If two tools have the same name, the first one is listed.
    const own = new Map(tools.reverse().map((tool) => [tool.name, tool]));
    return { sanitized, own };
  }
}

/** A page of `tools/list`. */
interface Page {
  tools: OwnTool[];
  nextCursor?: string | undefined;
}

function invalid(name: string, expected: string, found: unknown): ToolwireError {
  const message = `expected \`${name}\` to be ${expected}, found \`${String(found)}\``;
  return new ToolwireError('invalid-option', `/${name}`, message);
}

/** Returns the result of a call that failed, whose text the client shows the model. */
function failed(text: string): object {
  return { content: [{ type: 'text', text }], isError: true };
}
