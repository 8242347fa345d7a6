import { callForValue, callOn, once } from './engine/call.js';
import type { AdaptOptions, CheckRequestOptions, Dialect, Written } from './options.js';
import type { Change, DeferredReport, Quarantined, RequestViolation, ToolChange } from './report.js';
import { Restore, type RestoreJson } from './restore.js';
import type { RequestConstraint } from './rules.js';

/** A request that an API accepts, and a report about it. */
export interface Adapted<T> {
  /** The rewritten request. */
  request: T;
  /** The decisions and changes. */
  readonly report: AdaptReport;
  /** Restores the reply's calls for the tools' own servers. */
  restore: Restore;
}

/** The decisions about a request and the changes to it. */
export interface AdaptReport {
  /** The dialect that the request is written in. */
  dialect: Dialect;
  /** The decisions of deferred loading; `null` if it did not run. */
  deferred: DeferredReport | null;
  /** The tools that could not be made acceptable. They are not in the request. */
  quarantined: Quarantined[];
  /** Every change of a tool, in the order of the tools. */
  changes: ToolChange[];
  /** Tools that `tool_choice` named and that were set aside. The choice that is sent no longer names them. */
  unforced: string[];
  /** The replacement of a `tool_choice` that the API refuses in this request; `null` if the choice is unchanged. */
  choice: ChoiceChange | null;
  /** Every change outside the tools that a constraint of the API requires, in document order. */
  requestChanges: RequestChange[];
  /** Every change of a response format, in document order. */
  formatChanges: FormatChange[];
  /**
   * The betas that the header `anthropic-beta` has to name; absent if they equal the option `betas`. Empty: the header must not be
   * sent.
   */
  betas?: string[];
}

/**
 * A change of a response format. `pointer` points into the given request, `outputPointer` into the
 * rewritten one.
 */
export interface FormatChange extends Change {
  /** The dialect that the format is written in. */
  dialect: Dialect;
}

/** A change of a request outside its tools. */
export interface RequestChange {
  /** JSON Pointer into the input. */
  pointer: string;
  /** The constraint that the change satisfies. */
  rule: RequestConstraint;
  /** Human-readable: the change. It contains no value of the request. */
  message: string;
  /** The fact behind the change, with its confidence and its source. */
  reason: string;
}

/** A choice of tools that the API refuses in this request, and its replacement. */
export interface ChoiceChange {
  /** The original choice, as JSON. */
  found: string;
  /** The choice that is sent, as JSON; `null` if the request is sent without a choice. */
  sent: string;
  /** The API's answer to the original choice, with its source. */
  because: string;
}

/**
 * Makes a whole request acceptable to Anthropic Messages, OpenAI Chat Completions and Responses, or
 * Gemini. Applies deferred loading ({@link applyDeferredLoading}), then rewrites every tool
 * ({@link sanitizeTools}), then the names of tools in `tool_choice` and in the history. The input
 * is not changed. For JSON text, the result is JSON text of the same type; messages with nothing to
 * rewrite are copied unchanged.
 *
 * @example
 * ```ts
 * const { request, report, restore } = adaptRequest(body, { dialect: dialectFor({ host, model }).dialect });
 * const { reply } = restore.reply(await send(request));
 * ```
 *
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-request`, `invalid-json`,
 *   `invalid-value`, `forced-deferred-tool`, `too-deep`.
 */
export function adaptRequest<T>(request: T, options: AdaptOptions): Adapted<Written<T, T>> {
  const { value, members } = callOn('adaptRequest', request, options);
  const { report, restore } = members as { report: AdaptReport | string; restore: RestoreJson };
  const readReport = once(() => (typeof report === 'string' ? (JSON.parse(report) as AdaptReport) : report));
  return {
    request: value as Written<T, T>,
    get report() {
      return readReport();
    },
    restore: new Restore(restore),
  };
}

/**
 * Finds what an API refuses about a request as a whole: a tool choice combined with thinking or without tools, tools that the model does
 * not accept, arguments in the history that are not JSON objects. {@link checkTools} checks the tools. An empty result means that no
 * constraint is violated.
 *
 * @example
 * ```ts
 * for (const { constraint, pointer, message } of checkRequest(body, { dialect: 'anthropic' })) {
 *   console.warn(constraint, pointer, message);
 * }
 * ```
 *
 * @param request - A request of Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini: a value or JSON text.
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-request`, `invalid-json`,
 *   `invalid-value`, `too-deep`.
 */
export function checkRequest(request: unknown, options: CheckRequestOptions): RequestViolation[] {
  return callForValue('checkRequest', request, options) as RequestViolation[];
}
