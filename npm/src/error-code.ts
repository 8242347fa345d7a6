/** The codes of all errors, as a closed list. */
export type ToolwireErrorCode =
  /** The text is not JSON; the message gives line and column. */
  | 'invalid-json'
  /** A value that JSON cannot express: NaN, a BigInt, a cycle, a `Map`. */
  | 'invalid-value'
  /** More than 512 levels of nesting. */
  | 'too-deep'
  /** A value that is not a JSON Schema, where one is required. */
  | 'invalid-schema'
  /** A value that is not a request of a known format. */
  | 'invalid-request'
  /** The dialect does not exist; the message lists the known ones. */
  | 'unknown-dialect'
  /** The option does not exist; the message lists the known ones. */
  | 'unknown-option'
  /** An option's value is of the wrong kind, or the dialect does not support the option. */
  | 'invalid-option'
  /** The dialect cannot express this schema at all. */
  | 'not-representable'
  /** The result loses more than `allow` permits; `changes` lists the changes. */
  | 'too-lossy'
  /** The result would have more nodes than `maxNodes` permits. */
  | 'budget-exceeded'
  /** A size limit of the dialect, or of this library, cannot be met. */
  | 'limit-exceeded'
  /** `tool_choice` forces a deferred tool, and `forcedTool` is `"error"`. */
  | 'forced-deferred-tool'
  /** A tool search without a query. */
  | 'empty-query'
  /** A tool search whose pattern is not a valid regular expression. */
  | 'invalid-pattern'
  /** A tool search whose pattern is longer than the hosted search accepts. */
  | 'pattern-too-long'
  /** The host does not compile WebAssembly: a page's Content-Security-Policy lacks `script-src 'wasm-unsafe-eval'`. In JavaScript only. */
  | 'no-webassembly'
  /** A defect in toolwire, never the caller's fault: please report it. */
  | 'internal';
