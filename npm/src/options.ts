/** The names of the dialects: what one surface of one model API accepts. `dialects()` describes them. */
export type Dialect =
  /** OpenAI Codex, its schema sanitizer alone: unknown keywords are kept. */
  | 'codex'
  /** OpenAI Codex, everything it does before a request leaves. */
  | 'codex-wire'
  /** Moonshot AI (Kimi), Chat Completions tools: Moonshot-flavored JSON Schema. */
  | 'moonshot';

/** Options of `check`, and of `sanitize` where they matter for what is accepted. */
export interface CheckOptions {
  /** The dialect to write. Required: no schema is right for every API. */
  dialect: Dialect;
  /** What becomes of `$ref`. The default is the dialect's. */
  refs?: 'inline' | 'keep' | undefined;
  /** What becomes of a schema from which no type can be inferred. The default is the dialect's. */
  untyped?: 'keep' | 'any' | 'string' | undefined;
  /** What becomes of constraints that the dialect cannot say. The default is the dialect's. */
  hints?: 'describe' | 'drop' | undefined;
  /** The most loss that is accepted; beyond it the error is `too-lossy`. Default `"any"`. */
  allow?: 'same' | 'encoded' | 'wider' | 'any' | undefined;
  /** Size in bytes above which the dialect compacts; `null` turns that off. The default is the dialect's. */
  maxBytes?: number | null | undefined;
  /** The most nodes that inlining may produce. Default 10,000. */
  maxNodes?: number | undefined;
}

/** Options of `sanitize`. */
export interface SanitizeOptions extends CheckOptions, ShareOption {}

/** Options of `normalizeEnvelope`. */
export interface EnvelopeOptions extends ShareOption {}

/** Options of `applyDeferredLoading`. */
export interface DeferredOptions extends ShareOption {
  /** Whether hidden tools are announced by name in the system prompt. Default `"none"`. */
  announce?: 'none' | 'names' | undefined;
  /** The request format to translate an Anthropic request into. Default: the format stays. */
  target?: 'openai-responses' | 'openai-chat' | undefined;
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
  /** The name of the function that stands for a tool search. Default `"tool_search"`. */
  toolSearchName?: string | undefined;
  /** The role of system messages whose directives became text. Default `"keep"`. */
  systemMessages?: 'keep' | 'user' | undefined;
  /** The request's format, where its shape does not tell. */
  format?: 'anthropic' | 'openai-responses' | 'openai-chat' | undefined;
}

/** Options of `searchTools` and `answerToolSearch`. */
export interface SearchOptions {
  /**
   * How a query is read. Default `"bm25"`: as words, by which tools are ranked. `"regex"`: as a regular expression of at most
   * 200 characters, which a name or description has to match; in the entry `toolwire/search/regex` only, elsewhere it is an
   * `invalid-option`.
   */
  mode?: 'bm25' | 'regex' | undefined;
  /** The most tools that are found. Default 5. */
  limit?: number | undefined;
  /** The name of the function that stands for a tool search. It never finds itself. Default `"tool_search"`. */
  toolSearchName?: string | undefined;
}

/** The option that decides whether the result may hold parts of the input. */
export interface ShareOption {
  /**
   * Return unchanged parts as your own objects, and the input itself if nothing changes: faster, but whoever changes the
   * result changes the input. Default `false`: the result shares no object with the input.
   */
  share?: boolean | undefined;
}
