import type { Dialect } from './dialect-names.js';
import type { Quarantined } from './report.js';
import type { RepairRule } from './rules.js';

export type { Dialect };

/** Options of every function that rewrites or checks schemas. */
export interface RewritingOptions {
  /** Dialect to write. Required: no schema is right for every API. */
  dialect: Dialect;
  /**
   * Handling of `$ref`. `"inline"` replaces references with their targets; `"keep"` keeps them if the dialect supports them. The default
   * depends on the dialect.
   */
  refs?: 'inline' | 'keep' | undefined;
  /** Handling of a schema whose type cannot be inferred. The default depends on the dialect. */
  untyped?: 'keep' | 'any' | 'string' | undefined;
  /**
   * Handling of constraints that the dialect cannot express. `"describe"` adds them to the description. The default depends on the dialect.
   */
  hints?: 'describe' | 'drop' | undefined;
  /**
   * Maximum loss that is accepted; a greater loss is the error `too-lossy`. `"same"`: the set of
   * accepted arguments must not change. `"encoded"`: in addition, arguments may be encoded.
   * `"closed"`: in addition, objects that do not state whether they are open may be closed.
   * `"wider"`: in addition, more arguments may be accepted. Default `"any"`.
   */
  allow?: 'same' | 'encoded' | 'closed' | 'wider' | 'any' | undefined;
  /** Size in bytes above which the dialect compacts the schema; `null` disables compaction. The default depends on the dialect. */
  maxBytes?: number | null | undefined;
  /** Maximum number of nodes that inlining may produce. Default 10,000. */
  maxNodes?: number | undefined;
  /** Chat template of the server: the name of its file, or of a model. A template may refuse schemas that the server accepts. */
  template?: string | undefined;
  /**
   * Maximum work of one call, in steps: visits, copies and comparisons of nodes. A call that exceeds it fails with `budget-exceeded`, at
   * the same step on every machine. Default 3,000,000, plus 100 for each value read, but at most 4,000,000.
   */
  maxSteps?: number | undefined;
}

/** Options of `check`, and those of `sanitize` that affect what is accepted. */
export interface CheckOptions extends RewritingOptions {
  /**
   * Purpose of the schema: arguments of a tool, response format, or result of a tool. `"response"`: a response format, to which APIs apply
   * different rules. `"output"`: the `outputSchema` of an MCP tool, for the dialects of clients that read it. Default `"tool"`.
   */
  use?: 'tool' | 'response' | 'output' | undefined;
  /**
   * Name of the property that holds the answer if the API requires an object and the schema describes something else. Default `"response"`.
   */
  wrapper?: string | undefined;
}

/** Options of `sanitize`. */
export interface SanitizeOptions extends CheckOptions, ShareOption {}

/** Format of the tools of an API, or of MCP. */
export type ToolFormat =
  /** MCP `tools/list`: `{ name, description, inputSchema }`. */
  | 'mcp'
  /** Anthropic Messages: `{ name, description, input_schema }`. */
  | 'anthropic'
  /** OpenAI Chat Completions: `{ type: 'function', function: { name, description, parameters } }`. */
  | 'openai-chat'
  /** OpenAI Responses: `{ type: 'function', name, description, parameters }`. */
  | 'openai-responses'
  /** Gemini: `{ name, description, parameters }`, all in one `functionDeclarations`. */
  | 'gemini'
  /** Gemini: `{ name, description, parametersJsonSchema }`, all in one `functionDeclarations`. */
  | 'gemini-json-schema'
  /** Gemini Interactions: `{ type: 'function', name, description, parameters }`. */
  | 'gemini-interactions'
  /** Bedrock Converse: `{ toolSpec: { name, description, inputSchema: { json } } }`. */
  | 'bedrock';

/** Options of `sanitizeTools`: those of `sanitize` for every schema, and those of the list. */
export interface ToolsOptions extends RewritingOptions, ShareOption {
  /** Format of the tools. Default: the format of the dialect's API. */
  format?: ToolFormat | undefined;
  /**
   * Dialect for tools that the first dialect cannot express, or only with more loss than `allow` permits. Default: the dialect for tools
   * that are not strict, if a list may contain strict and other tools (`anthropic-strict`, `openai-strict`, `azure-strict`).
   */
  fallback?: Dialect | undefined;
  /** Maximum number of tools to rewrite; further tools are set aside. `null`: only the API's limit applies. Default 10,000. */
  maxTools?: number | null | undefined;
  /**
   * Options with which `restore` repairs the arguments of calls to fit the tool's own schema, as
   * `repairArguments` does. `true` uses the defaults of these options. Default `false`.
   */
  repair?: CallRepairOptions | boolean | undefined;
  /**
   * If true, schemas also accept text for numbers and booleans, and null for optional properties, and `restore` repairs such calls: for
   * APIs that refuse a call of their own model before the client sees it (Groq). Default `false`.
   */
  lenientTypes?: boolean | undefined;
  /**
   * Naming of tools in a list from several servers. Default `"auto"`: `server__tool` if several
   * servers of the list use the name, and the tool's own name otherwise. `"always"`:
   * `server__tool`, so that no name depends on which other servers are in the list. `"never"`: a
   * name that several servers use gets a digest of the server and the name as a suffix.
   */
  prefix?: 'auto' | 'always' | 'never' | undefined;
  /**
   * Handling of the `outputSchema` of MCP tools that are sent to an API. Default `"drop"`: the
   * schema is removed. `"send"`: the schema becomes `output_schema` of the functions of OpenAI
   * Responses.
   */
  outputSchemas?: 'drop' | 'send' | undefined;
  /**
   * Handling of tools with the same name but different definitions in one list. Default `"quarantine"`: the first tool is sent, and the
   * others are set aside. `"rename"`: each tool gets a distinct name, and a restored call has `index`, the tool's index in the list. Use
   * `"rename"` only if your code reads `index`: the `name` of such calls is the same.
   */
  duplicateNames?: 'quarantine' | 'rename' | undefined;
  /**
   * Handling of a list if some of its tools have to be set aside. Default `"warn"`: unless `quarantined` is read in the same turn of the
   * event loop, `console.warn` reports the tools, the dialect, the reasons and the remedies, once for each list. `"error"`: the call fails.
   * A function is called with the tools instead of the warning, every time; an empty function suppresses it.
   */
  onSetAside?: 'warn' | 'error' | ((tools: Quarantined[], list: SanitizedList) => void) | undefined;
}

/** A sanitized list. */
export interface SanitizedList {
  /** Dialect of the list. */
  dialect: Dialect;
}

/** Options of `adaptRequest`: those of `sanitize` for every schema, those of lists, and those of the request. */
export interface AdaptOptions extends Omit<ToolsOptions, 'format' | 'duplicateNames' | 'onSetAside'> {
  /** Format of the request, if its content does not determine it. */
  format?: 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini' | 'gemini-interactions' | 'bedrock' | undefined;
  /**
   * Handling of deferred tools. Default: as by `applyDeferredLoading` with its default options. `false` leaves deferred tools unchanged,
   * for an API that supports deferred loading.
   */
  deferred?: DeferredOptions | boolean | undefined;
  /**
   * Form in which the schema of a response format is sent. Default `"native"`: as the API's own response format. `"tool"`: as the
   * parameters of a function that the model is forced to call; `restore` returns the call as the text of the answer. `"prompt"`: in the
   * instructions, with the API's JSON mode if it has one; nothing enforces the schema. `"ladder"`: the first of the other forms that the
   * API supports in this request.
   */
  formats?: 'native' | 'tool' | 'prompt' | 'ladder' | undefined;
  /**
   * Name of the property that holds the answer if the API requires an object and the schema describes something else. Default `"response"`.
   */
  wrapper?: string | undefined;
  /**
   * Betas in the header `anthropic-beta`, in addition to those in the body. Some APIs accept a member or a construct only with a beta, and
   * refuse betas that they do not know; `betas` of the report lists the betas that the header has to name. Default: the header is not
   * known; for `Exchange`, `[]`. `toolwireFetch` adds the betas of the request's header.
   */
  betas?: readonly string[] | undefined;
  /** Host of the API, or a URL on it: some facts apply only to some hosts. */
  host?: string | undefined;
  /** Model, if the URL names it instead of the request (Gemini, Bedrock): some facts apply only to some models. */
  model?: string | undefined;
  /**
   * Handling of call arguments in the history that are not JSON objects: they make APIs refuse this
   * and every later request. Default `"repair"`: the arguments are parsed tolerantly, and replaced
   * by `{}` if that fails. `"keep"`: the arguments are left unchanged.
   */
  historyArguments?: 'repair' | 'keep' | undefined;
  /**
   * Handling of calls in the history without a result and results without a call: they make APIs
   * refuse this and every later request. `"complete"`: a call without a result gets a result that
   * states this, results in other messages are moved directly after their calls, and a result without a
   * call is removed; Gemini Interactions ignores this value. `"keep"`: such calls and results are left
   * unchanged. Default `"auto"`: `"complete"` for an API that is known to refuse them, `"keep"` for others.
   */
  historyPairs?: 'auto' | 'keep' | 'complete' | undefined;
  /**
   * Handling of a request that has more tools than the API accepts. Default `"quarantine"`: the tools beyond the maximum are set aside.
   * `"defer"`: these tools are deferred behind a search, and the system prompt lists their names.
   */
  overflow?: 'quarantine' | 'defer' | undefined;
}

/** Options of `checkTools`. */
export interface CheckToolsOptions {
  /** Dialects against which the tools are checked. */
  dialects: readonly Dialect[];
}

/** Options of `checkRequest`. */
export interface CheckRequestOptions {
  /** Dialect of the API that the request is for. */
  dialect: Dialect;
  /** Betas in the header `anthropic-beta`, in addition to those in the body. Default: the header is not known. */
  betas?: readonly string[] | undefined;
  /** Host of the API, or a URL on it: some facts apply only to some hosts. */
  host?: string | undefined;
  /** Model, if the URL names it instead of the request (Gemini, Bedrock): some facts apply only to some models. */
  model?: string | undefined;
}

/** Facts about the API that receives the tools: at least one of `api`, `model` and `host`. */
export interface DialectQuery {
  /** API protocol. */
  api?:
    | 'openai-chat'
    | 'openai-responses'
    | 'anthropic'
    | 'gemini'
    | 'gemini-json-schema'
    | 'gemini-interactions'
    | 'bedrock'
    | 'llama-cpp'
    | undefined;
  /** Model, as named in the request. */
  model?: string | undefined;
  /** Host, or a URL on it. */
  host?: string | undefined;
  /** True if the tools are sent with `strict: true`. Default `false`. */
  strict?: boolean | undefined;
  /** If true, an unknown API is an error. Otherwise, the result is `portable`. Default `false`. */
  exact?: boolean | undefined;
}

/** Options of {@link stripDeferralBetas}. */
export interface BetaOptions {
  /** Native construct for deferred tools that the backend supports, as in {@link DeferredOptions}. Default `"none"`. */
  native?: DeferredOptions['native'] | null;
  /** Betas that the request needs: `betas` of its report. Default `[]`. */
  betas?: readonly string[] | null | undefined;
}

/** Facts about a backend: at least one of `host` and `model`; most constructs depend on both. */
export interface DeferralQuery {
  /** Protocol of the requests, if only one is possible: constructs of other protocols are then excluded. */
  api?: DialectQuery['api'];
  /** Model, as named in the request. */
  model?: string | undefined;
  /** Host, or a URL on it. */
  host?: string | undefined;
}

/** Options of `repairArguments`. */
export interface RepairOptions {
  /** Minimum confidence of a repair. Default `"likely"`. */
  confidence?: 'exact' | 'likely' | undefined;
  /** Repair rules to disable. Default `[]`. */
  disable?: readonly RepairRule[] | undefined;
  /** If true, a required member that is missing, null or blank gets the `default` of its schema. Default `false`. */
  useDefaults?: boolean | undefined;
  /** If true, undeclared members of closed objects are removed. Default `false`. */
  removeAdditional?: boolean | undefined;
  /** Handling of truncated text: an error, or adding the missing brackets. Default `"refuse"`. */
  truncated?: 'refuse' | 'close' | undefined;
  /** Name of the tool: arguments wrapped in a call are not unwrapped if the call names another tool. */
  name?: string | undefined;
}

/** Options for repairing the arguments of restored calls: those of `repairArguments`, without `name`. */
export type CallRepairOptions = Omit<RepairOptions, 'name'>;

/** Options of `fitResult`. */
export interface ResultOptions {
  /** Handling of structured content that is missing or does not match, in a result that is not an error. Default `"pass"`. */
  mismatch?: 'pass' | 'refuse' | 'drop' | undefined;
  /** Results whose structured content is also added as text. Default `"empty"`. */
  structuredText?: 'empty' | 'missing' | 'never' | undefined;
}

/** Options of `normalizeEnvelope`. */
export interface EnvelopeOptions extends ShareOption {}

/** Options of `applyDeferredLoading`. */
export interface DeferredOptions extends ShareOption {
  /**
   * Client that sends the request; it determines `format`, `announce` and `searchTools`, unless they are given. Default: an unknown
   * client.
   */
  client?: 'claude-code' | 'codex' | 'kimi' | undefined;
  /** Announcement of hidden tools by name in the system prompt. Default `"none"`. */
  announce?: 'none' | 'names' | undefined;
  /** Format to translate the request into. Default, and `null` (which `deferralFor` may return): the request keeps its format. */
  target?:
    | 'anthropic'
    | 'openai-responses'
    | 'openai-chat'
    | 'gemini-interactions'
    | 'bedrock'
    | 'gemini'
    | null
    | undefined;
  /**
   * Native construct for deferred tools that the backend supports, regardless of the client that sent the request. Anthropic has
   * `"references"`, `"changes"` and `"inline"`, OpenAI Responses `"additional-tools"` and `"tool-search"`, the Chat Completions of Kimi K3
   * `"kimi"`, Gemini Interactions `"interactions"`, Bedrock Converse `"converse"`. Default `"none"`: deferred tools are emulated.
   */
  native?:
    | 'none'
    | 'references'
    | 'changes'
    | 'inline'
    | 'additional-tools'
    | 'tool-search'
    | 'kimi'
    | 'interactions'
    | 'converse'
    | undefined;
  /** Names of your own functions that search for tools. Default `["ToolSearch"]`. */
  searchTools?: readonly string[] | undefined;
  /**
   * Handling of OpenAI's `custom` tools, whose input is text: `"function"` makes them functions with one argument, `input`. Default: the
   * tools are kept if the request stays in the format of OpenAI Responses, and otherwise become functions.
   */
  customTools?: 'function' | 'keep' | undefined;
  /**
   * Handling of a tool that the history removes, if the backend does not support removals: `"withdraw"` removes every definition,
   * `"notice"` only announces the removal and keeps the prefix of the prompt cache valid. Default `"withdraw"`.
   */
  removals?: 'withdraw' | 'notice' | undefined;
  /** Handling of calls to tools that are not sent: some APIs refuse calls to undeclared tools. Default `"keep"`. */
  unavailableCalls?: 'keep' | 'text' | undefined;
  /**
   * Handling of the model's reasoning when the format changes: `"content"` writes `reasoning_content`. Default:
   * `"content"` in a request to an API that is known to read it, and otherwise `"drop"`.
   */
  reasoning?: 'drop' | 'content' | undefined;
  /**
   * Maximum number of tokens of an answer, if the target requires a maximum and the request has none. Default: 32,000,
   * or the maximum of a model that is known to accept fewer.
   */
  maxTokens?: number | undefined;
  /** Visibility of deferred tools: hidden until loaded, or all sent to keep the prompt cache valid. Default `"filter"`. */
  mode?: 'filter' | 'load-all' | undefined;
  /** Position of loaded tools: their original one, or last to keep the prefix of the prompt cache valid. Default `"catalog"`. */
  order?: 'catalog' | 'append' | undefined;
  /** Replacement of a reference to an unknown tool. Default `"notice"`. */
  unknownReference?: 'notice' | 'unavailable' | 'drop' | undefined;
  /** Handling of a `tool_choice` that forces a tool that is not loaded. Default `"load"`. */
  forcedTool?: 'load' | 'auto' | 'error' | undefined;
  /** Handling of a hosted tool search, which the backend does not have. Default `"load-all"`. */
  serverToolSearch?: 'load-all' | 'drop' | 'emulate' | undefined;
  /** Handling of hosted searches in the history. Default `"drop"`. */
  serverHistory?: 'drop' | 'split' | undefined;
  /** Tools that are treated as loaded regardless of the history, for use after compaction. Default `[]`. */
  loadedTools?: readonly string[] | undefined;
  /** If true, a call in the history is treated as loading its tool. Default `false`. */
  loadUsedTools?: boolean | undefined;
  /**
   * Name of the function that replaces a hosted tool search. If a tool already has the name, the function gets another name, which the
   * report contains. Default `"tool_search"`.
   */
  toolSearchName?: string | undefined;
  /**
   * Handling of changes to the tools in the history: `tool_addition` and `tool_removal` in system messages, and items of OpenAI Responses
   * that contain definitions. `"ignore"` is for a history that you do not fully control. Default `"apply"`.
   */
  toolChanges?: 'apply' | 'ignore' | undefined;
  /**
   * Maximum total size in bytes of notices that repeat earlier ones; beyond it, only the first sentence of a notice is
   * repeated. Default: the total size of the first notices, but at least 64 KiB.
   */
  maxRepeatedBytes?: number | undefined;
  /** Format of the request, if its content does not determine it. */
  format?: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini-interactions' | 'bedrock' | 'gemini' | undefined;
}

/** Options of `searchTools` and `answerToolSearch`. */
export interface SearchOptions {
  /**
   * Interpretation of the query. Default `"bm25"`: as words, by which tools are ranked. `"regex"`: as a regular expression of at most 200
   * characters in the syntax of Python's `re.search`, which must match the name or description of a tool.
   */
  mode?: 'bm25' | 'regex' | undefined;
  /** Maximum number of tools to return. Default 5. */
  limit?: number | undefined;
  /** Name of the function that replaces a hosted tool search. The search never returns this function. Default `"tool_search"`. */
  toolSearchName?: string | undefined;
}

/** Options of `Exchange`, and of `toolwire/fetch`. */
export interface ExchangeOptions extends Omit<AdaptOptions, 'dialect' | 'deferred' | 'share'> {
  /** Dialect of the backend. Default: determined by the host, the path and the model. */
  dialect?: Dialect | undefined;
  /**
   * Handling of deferred tools; `false` leaves them unchanged, for a backend that supports deferred loading. Default: toolwire runs
   * the searches that Anthropic's servers would run (`serverToolSearch: "emulate"`); if the format cannot express such searches, all
   * tools are loaded (`"load-all"`). `native` is `"auto"` by default: the construct of the backend is looked up by its URL and the
   * model, as `deferralFor` does. For a backend without a known construct, deferral is emulated, as with `"none"`.
   */
  deferred?:
    | (Omit<DeferredOptions, 'share' | 'native'> & { native?: DeferredOptions['native'] | 'auto' })
    | boolean
    | undefined;
  /** Options of searches. */
  search?: Omit<SearchOptions, 'toolSearchName'> | undefined;
  /**
   * Maximum number of times that the model is asked again, within one request, after it searched for tools. Default 10. After that, the
   * client receives the stop reason `pause_turn`, as from Anthropic, and continues by sending the reply back.
   */
  maxRounds?: number | undefined;
  /**
   * Number of rewritten tool lists to cache: a request that repeats a list byte for byte reuses the result. The least recently used list is
   * removed first. All lists together have at most 8 MiB of text, and 32 MiB with the data that restores calls. Default 16; 0 disables the
   * cache.
   */
  toolListCache?: number | undefined;
  /**
   * Handling of a request if some of its tools have to be set aside. Default `"warn"`: the request is sent without them, and `console.warn`
   * reports the tools, the dialect, the reasons and the remedies, once for each list. `"error"`: the request is not sent. A function is
   * called with the tools instead of `console.warn`, every time.
   */
  onSetAside?: 'warn' | 'error' | ((tools: Quarantined[], request: SentRequest) => void) | undefined;
}

/** A request in the form in which it is sent. */
export interface SentRequest {
  /** URL to which the request is sent. */
  url: string;
  /** Dialect of the request. */
  dialect: Dialect;
  /** Body as JSON text. */
  body: string;
}

/** Option that determines whether the result may share objects with the input. */
export interface ShareOption {
  /**
   * Return unchanged parts as your own objects instead of copies, and the input itself if nothing changes. This is faster, but changing the
   * result then changes the input. Default `false`: the result shares no object with the input.
   */
  share?: boolean | undefined;
}

/** JSON text. Functions that accept it return text of the same type. */
export type Text = string | Uint8Array;

/** Result for an input: text of the same type if the input is JSON text, and otherwise a value. */
export type Written<T, V> = 0 extends 1 & T ? V : T extends string ? string : T extends Uint8Array ? Uint8Array : V;
