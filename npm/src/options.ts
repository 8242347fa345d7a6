import type { Dialect } from './dialect-names.js';
import type { Quarantined } from './report.js';
import type { RepairRule } from './rules.js';

export type { Dialect };

/** Options of every function that rewrites schemas or checks them. */
export interface RewritingOptions {
  /** The dialect to write. Required: no schema is right for every API. */
  dialect: Dialect;
  /** What becomes of `$ref`. The default is the dialect's. */
  refs?: 'inline' | 'keep' | undefined;
  /** What becomes of a schema from which no type can be inferred. The default is the dialect's. */
  untyped?: 'keep' | 'any' | 'string' | undefined;
  /** What becomes of constraints that the dialect cannot say. The default is the dialect's. */
  hints?: 'describe' | 'drop' | undefined;
  /**
   * The most loss that is accepted; beyond it the error is `too-lossy`. `"same"` accepts no change of the accepted arguments, `"encoded"`
   * besides that they are encoded, `"closed"` that objects are closed which never said whether they are open, `"wider"` that more
   * arguments are accepted. Default `"any"`.
   */
  allow?: 'same' | 'encoded' | 'closed' | 'wider' | 'any' | undefined;
  /** Size in bytes above which the dialect compacts; `null` turns that off. The default is the dialect's. */
  maxBytes?: number | null | undefined;
  /** The most nodes that inlining may produce. Default 10,000. */
  maxNodes?: number | undefined;
  /**
   * The chat template that the server runs: the name of its file, or of a model. Templates refuse schemas that the server accepts.
   */
  template?: string | undefined;
  /**
   * The most work of one call, in steps: visits, copies and comparisons of nodes. Beyond it the error is `budget-exceeded`, on every
   * machine at the same step. Default 3,000,000, and 100 for each value read, 4,000,000 in all.
   */
  maxSteps?: number | undefined;
}

/** Options of `check`, and of `sanitize` where they matter for what is accepted. */
export interface CheckOptions extends RewritingOptions {
  /**
   * What the schema describes. `"response"`: the answer itself, for which APIs have other rules. `"output"`: the result of a tool (the
   * `outputSchema` of MCP), for the dialects of clients that read it. Default `"tool"`.
   */
  use?: 'tool' | 'response' | 'output' | undefined;
  /**
   * The name of the property that holds the answer if the API wants an object and the schema describes something else. Default
   * `"response"`.
   */
  wrapper?: string | undefined;
}

/** Options of `sanitize`. */
export interface SanitizeOptions extends CheckOptions, ShareOption {}

/** The shape of a tool in a list: which API's. */
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

/** Options of `sanitizeTools`: those of `sanitize` for every schema, and some more. */
export interface ToolsOptions extends RewritingOptions, ShareOption {
  /** The shape of the tools. Default: the one of the dialect's API. */
  format?: ToolFormat | undefined;
  /**
   * Another dialect, for tools that the first one cannot say, or only with more loss than `allow` permits. Default: the one
   * for tools that are not strict, where a list may hold both kinds (`anthropic-strict`, `openai-strict`, `azure-strict`).
   */
  fallback?: Dialect | undefined;
  /** Maximum number of tools that are rewritten: those after them are set aside. `null` is no limit but the API's. Default 10,000. */
  maxTools?: number | null | undefined;
  /**
   * Whether and how `restore` repairs the arguments of calls by the tool's own schema, as `repairArguments` does. Default `false`.
   */
  repair?: CallRepairOptions | boolean | undefined;
  /**
   * How tools of a list of several servers are called. Default `"auto"`: `server__tool` if several servers of the list have the name, and
   * the tool's own name otherwise. `"always"`: `server__tool`, so that no name depends on which servers there are. `"never"`: a name that
   * several servers have gets a digest of the server and the name.
   */
  prefix?: 'auto' | 'always' | 'never' | undefined;
  /**
   * What becomes of the `outputSchema` of MCP tools in the format of an API. Default `"drop"`. `"send"`: it is `output_schema` of the
   * functions of OpenAI Responses.
   */
  outputSchemas?: 'drop' | 'send' | undefined;
  /**
   * What becomes of tools of one name in a list that has several definitions for it. Default `"quarantine"`: the first one is sent.
   * `"rename"`: each gets a name of its own, and a restored call has `index`, the tool's index in the list. Set it only if your
   * code reads `index`: the `name` of such calls is the same.
   */
  duplicateNames?: 'quarantine' | 'rename' | undefined;
  /**
   * What becomes of a list of which tools have to be set aside. Default `"warn"`: unless `quarantined` is read before the current turn
   * ends, `console.warn` says which, for which dialect, why, and what to do, once for each list. `"error"`: the call fails. A function
   * is called in place of the warning, with the tools, every time; one that does nothing silences it.
   */
  onSetAside?: 'warn' | 'error' | ((tools: Quarantined[], list: SanitizedList) => void) | undefined;
}

/** A list that was sanitized. */
export interface SanitizedList {
  /** For which dialect. */
  dialect: Dialect;
}

/** Options of `adaptRequest`: those of `sanitize` for every schema, and some more. */
export interface AdaptOptions extends Omit<ToolsOptions, 'format' | 'duplicateNames' | 'onSetAside'> {
  /** The request's format, where its shape does not tell. */
  format?: 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini' | 'gemini-interactions' | 'bedrock' | undefined;
  /**
   * How tools are loaded that are deferred. Default: as `applyDeferredLoading` does. `false` leaves them as they are, for an
   * API that has the feature.
   */
  deferred?: DeferredOptions | boolean | undefined;
  /**
   * How the schema of a response format is sent. Default `"native"`: as the API's own response format. `"tool"`: as the arguments of a
   * function that the model is forced to call; `restore` returns the call as the text of the answer. `"prompt"`: in the instructions,
   * with the API's JSON mode if it has one; nothing enforces the schema. `"ladder"`: the first of the others that the API
   * takes in this request.
   */
  formats?: 'native' | 'tool' | 'prompt' | 'ladder' | undefined;
  /**
   * The name of the property that holds the answer if the API wants an object and the schema describes something else. Default
   * `"response"`.
   */
  wrapper?: string | undefined;
  /** The model, if the request does not name it because its URL does (Gemini, Bedrock): some facts hold for some models alone. */
  model?: string | undefined;
  /**
   * What becomes of the arguments of calls in the history that are not JSON objects, for which APIs refuse the request and every
   * later one. Default `"repair"`: they are read tolerantly, and become `{}` if that fails. `"keep"`: they stay.
   */
  historyArguments?: 'repair' | 'keep' | undefined;
  /**
   * What becomes of calls in the history without a result, and of results without a call, for which APIs refuse the request and every
   * later one. Default `"keep"`: they stay. `"complete"`: a call without a result gets one that says so, results in other messages are moved
   * behind their calls, and a result without a call is removed. Gemini Interactions ignores it.
   */
  historyPairs?: 'keep' | 'complete' | undefined;
  /**
   * What becomes of the tools of a request that has more than the API takes. Default `"quarantine"`: those past the maximum are set
   * aside. `"defer"`: they are deferred behind a search, and their names are in the system prompt.
   */
  overflow?: 'quarantine' | 'defer' | undefined;
}

/** Options of `checkTools`. */
export interface CheckToolsOptions {
  /** The dialects to ask about. */
  dialects: readonly Dialect[];
}

/** Options of `checkRequest`. */
export interface CheckRequestOptions {
  /** The dialect of the API that the request is for. */
  dialect: Dialect;
  /** The model, if the request does not name it because its URL does (Gemini, Bedrock): some facts hold for some models alone. */
  model?: string | undefined;
}

/** What is known about where tools are sent: at least one of `api`, `model` and `host`. */
export interface DialectQuery {
  /** The protocol. */
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
  /** The model, as the request names it. */
  model?: string | undefined;
  /** The host, or a URL on it. */
  host?: string | undefined;
  /** Whether the tools are sent with `strict: true`. Default `false`. */
  strict?: boolean | undefined;
  /** Whether an unknown API is an error. Otherwise the answer is `portable`. Default `false`. */
  exact?: boolean | undefined;
}

/** Options of {@link stripDeferralBetas}. */
export interface BetaOptions {
  /** Which construct of its own for deferred tools the backend has, as in {@link DeferredOptions}. Default `"none"`. */
  native?: DeferredOptions['native'] | null;
  /** The betas that the request needs: `betas` of its report. Default `[]`. */
  betas?: readonly string[] | null | undefined;
}

/** What is known about a backend: at least one of `host` and `model`; most constructs depend on both. */
export interface DeferralQuery {
  /** The protocol that the backend is asked in, if only one comes into question: a construct of another does not fit then. */
  api?: DialectQuery['api'];
  /** The model, as the request names it. */
  model?: string | undefined;
  /** The host, or a URL on it. */
  host?: string | undefined;
}

/** Options of `repairArguments`. */
export interface RepairOptions {
  /** The least confidence that a repair may have. Default `"likely"`. */
  confidence?: 'exact' | 'likely' | undefined;
  /** Rules that are not applied. Default `[]`. */
  disable?: readonly RepairRule[] | undefined;
  /** Whether a required member that is missing, null or blank gets the schema's own `default`. Default `false`. */
  useDefaults?: boolean | undefined;
  /** Whether undeclared members of closed objects are left out. Default `false`. */
  removeAdditional?: boolean | undefined;
  /** What becomes of text that breaks off: an error, or the brackets that lack are added. Default `"refuse"`. */
  truncated?: 'refuse' | 'close' | undefined;
  /** The tool's name: a whole call of another tool is no wrapper around the arguments. */
  name?: string | undefined;
}

/** How arguments of calls are repaired when they are restored: the tool's name is known there. */
export type CallRepairOptions = Omit<RepairOptions, 'name'>;

/** Options of `normalizeEnvelope`. */
export interface EnvelopeOptions extends ShareOption {}

/** Options of `applyDeferredLoading`. */
export interface DeferredOptions extends ShareOption {
  /**
   * The client that the request comes from: sets `format`, `announce` and `searchTools` as they fit it, unless they are given. Default:
   * the client is not known.
   */
  client?: 'claude-code' | 'codex' | 'kimi' | undefined;
  /** Whether hidden tools are announced by name in the system prompt. Default `"none"`. */
  announce?: 'none' | 'names' | undefined;
  /** The format to translate the request into. Default, and `null` as `deferralFor` may give it: the format stays. */
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
   * Which construct of its own for deferred tools the backend understands; it says nothing about where the request comes from.
   * Anthropic has `"references"`, `"changes"` and `"inline"`, OpenAI Responses `"additional-tools"` and `"tool-search"`, the Chat
   * Completions of Kimi K3 `"kimi"`, Gemini Interactions `"interactions"`, Bedrock Converse `"converse"`. Default `"none"`: deferred tools are emulated.
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
  /** Your own functions that search for tools, by name. Default `["ToolSearch"]`. */
  searchTools?: readonly string[] | undefined;
  /**
   * What happens to OpenAI's `custom` tools, which take a text: `"function"` makes them functions with one argument, `input`. Default:
   * they stay where OpenAI Responses stays, and become functions elsewhere.
   */
  customTools?: 'function' | 'keep' | undefined;
  /**
   * What happens to a tool that the history takes away, where the backend has no removals: `"withdraw"` leaves no definition anywhere,
   * `"notice"` only says so and keeps the prefix for a prompt cache. Default `"withdraw"`.
   */
  removals?: 'withdraw' | 'notice' | undefined;
  /** What happens to calls of tools that are not sent: some APIs refuse undeclared ones. Default `"keep"`. */
  unavailableCalls?: 'keep' | 'text' | undefined;
  /** What happens to the model's reasoning in another format: `"content"` writes `reasoning_content`. Default `"drop"`. */
  reasoning?: 'drop' | 'content' | undefined;
  /** The most tokens of an answer, if the target wants a number and the request has none. Default 32000. */
  maxTokens?: number | undefined;
  /** Whether deferred tools are hidden until loaded, or all sent to keep a prompt cache whole. Default `"filter"`. */
  mode?: 'filter' | 'load-all' | undefined;
  /** Where loaded tools stand: in their old places, or last to keep the prefix for a prompt cache. Default `"catalog"`. */
  order?: 'catalog' | 'append' | undefined;
  /** What a reference to an unknown tool becomes. Default `"notice"`. */
  unknownReference?: 'notice' | 'unavailable' | 'drop' | undefined;
  /** What happens if `tool_choice` forces a tool that is not loaded. Default `"load"`. */
  forcedTool?: 'load' | 'auto' | 'error' | undefined;
  /** What becomes of the hosted tool search, which the backend does not have. Default `"load-all"`. */
  serverToolSearch?: 'load-all' | 'drop' | 'emulate' | undefined;
  /** What becomes of hosted searches in the history. Default `"drop"`. */
  serverHistory?: 'drop' | 'split' | undefined;
  /** What is sent if no tool is visible: `tools: []`, or neither `tools` nor `tool_choice`. Default `"keep"`. */
  emptyTools?: 'keep' | 'omit' | undefined;
  /** Tools that count as loaded whatever the history says, for use after compaction. Default `[]`. */
  loadedTools?: readonly string[] | undefined;
  /** Whether a call of a tool in the history counts as a load of it. Default `false`. */
  loadUsedTools?: boolean | undefined;
  /**
   * The name of the function that replaces a tool search. If a tool has that name, the function gets another; the report says which.
   * Default `"tool_search"`.
   */
  toolSearchName?: string | undefined;
  /**
   * Whether the history may change the tools that there are: by `tool_addition` and `tool_removal` in system messages, and by items
   * of OpenAI Responses that hold definitions. `"ignore"` is for a history that is not all your own. Default `"apply"`.
   */
  toolChanges?: 'apply' | 'ignore' | undefined;
  /**
   * Bytes of notices that may repeat earlier ones; beyond them a tool is announced again by the first sentence alone. Default: as many
   * as the notices that do not repeat, and 64 KiB at least.
   */
  maxRepeatedBytes?: number | undefined;
  /** The role of system messages whose directives became text. Default `"keep"`. */
  systemMessages?: 'keep' | 'user' | undefined;
  /** The request's format, where its shape does not tell. */
  format?: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini-interactions' | 'bedrock' | 'gemini' | undefined;
}

/** Options of `searchTools` and `answerToolSearch`. */
export interface SearchOptions {
  /**
   * How a query is read. Default `"bm25"`: as words, by which tools are ranked. `"regex"`: as a regular expression of at most
   * 200 characters in the spelling of Python's `re.search`, which a name or description has to match.
   */
  mode?: 'bm25' | 'regex' | undefined;
  /** Maximum number of tools that are found. Default 5. */
  limit?: number | undefined;
  /** The name of the function that replaces a tool search. It never finds itself. Default `"tool_search"`. */
  toolSearchName?: string | undefined;
}

/** Options of `Exchange`, and of `toolwire/fetch`. */
export interface ExchangeOptions extends Omit<AdaptOptions, 'dialect' | 'deferred' | 'share'> {
  /** The dialect of the backend. Default: the one that the host, the path and the model tell. */
  dialect?: Dialect | undefined;
  /**
   * How tools are loaded that are deferred; `false` leaves them as they are, for a backend that has the feature. Default:
   * searches that Anthropic's servers would run are run here (`serverToolSearch: "emulate"`); where the format has no words for
   * that, everything is loaded (`"load-all"`). With `native: "auto"`, the construct of the backend is looked up by its URL and the
   * model, as `deferralFor` does.
   */
  deferred?:
    | (Omit<DeferredOptions, 'share' | 'native'> & { native?: DeferredOptions['native'] | 'auto' })
    | boolean
    | undefined;
  /** How searches are run. */
  search?: Omit<SearchOptions, 'toolSearchName'> | undefined;
  /**
   * How often the model is asked again, for one request, after searches that it made. Default 10. After that the client is told
   * `pause_turn`, as by Anthropic, and goes on if it sends the reply back.
   */
  maxRounds?: number | undefined;
  /**
   * How many tool lists are kept with what became of them, for requests that repeat a list: it is found by its bytes, and not
   * rewritten again. The list used longest ago goes first; together they take at most 8 MiB of text, and 32 MiB with
   * what restores calls. Default 16; 0: none.
   */
  toolListCache?: number | undefined;
  /**
   * What becomes of a request of which tools have to be set aside. Default `"warn"`: it is sent without them, and `console.warn`
   * says which, for which dialect, why, and what to do, once for each list. `"error"`: it is not sent. A function is called instead
   * of `console.warn`, with the tools, every time.
   */
  onSetAside?: 'warn' | 'error' | ((tools: Quarantined[], request: SentRequest) => void) | undefined;
}

/** A request as it is sent. */
export interface SentRequest {
  /** Where it goes. */
  url: string;
  /** The dialect that it is written in. */
  dialect: Dialect;
  /** JSON text. */
  body: string;
}

/** The option that decides whether the result may hold parts of the input. */
export interface ShareOption {
  /**
   * Return unchanged parts as your own objects instead of copies, and the input itself if nothing changes: faster, but whoever changes
   * the result changes the input. Default `false`: the result shares no object with the input.
   */
  share?: boolean | undefined;
}

/** JSON text as callers hold it; what takes it gives the same kind back. */
export type Text = string | Uint8Array;

/** What a function returns for its input: text of the input's type if that is JSON text, else a value. */
export type Written<T, V> = 0 extends 1 & T ? V : T extends string ? string : T extends Uint8Array ? Uint8Array : V;
