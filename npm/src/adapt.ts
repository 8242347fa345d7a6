import { ask, callOn, once } from './engine/call.js';
import type { AdaptOptions, CheckRequestOptions, Dialect, Written } from './options.js';
import type { Change, DeferredReport, Quarantined, RequestViolation, ToolChange } from './report.js';
import { Restore, type RestoreJson } from './restore.js';
import type { RequestConstraint } from './rules.js';

/** A request that an API accepts, and what was done for that. */
export interface Adapted<T> {
  /** The request. */
  request: T;
  /** What was decided and changed. */
  readonly report: AdaptReport;
  /** Brings the reply's calls back to what the tools' own servers expect. */
  restore: Restore;
}

/** What was decided and changed about a request. */
export interface AdaptReport {
  /** The dialect that the request is written in. */
  dialect: Dialect;
  /** What deferred loading decided; `null` if it was not asked. */
  deferred: DeferredReport | null;
  /** The tools that could not be made acceptable: they are not in the request. */
  quarantined: Quarantined[];
  /** Every change of a tool, in their order. */
  changes: ToolChange[];
  /** The tools that `tool_choice` allowed, among others, and that were set aside: it does not allow them now. */
  unforced: string[];
  /** What became of a `tool_choice` that the API refuses in this request; `null`: it stayed. */
  choice: ChoiceChange | null;
  /** Every change of the request outside its tools that a rule of the API demands, in their order. */
  requestChanges: RequestChange[];
  /** Every change of a response format, in their order. */
  formatChanges: FormatChange[];
}

/** A change of a response format. Its places are in the requests. */
export interface FormatChange extends Change {
  /** The dialect that the format is written in. */
  dialect: Dialect;
}

/** A change of a request outside its tools. */
export interface RequestChange {
  /** The place in the input. */
  pointer: string;
  /** The rule: the constraint that the change meets. */
  rule: RequestConstraint;
  /** For people: what was done. It has no values of the request. */
  message: string;
  /** Why: the fact that the change serves, with its confidence and its source. */
  reason: string;
}

/** A choice of tools that the API refuses in this request, and what is sent for it. */
export interface ChoiceChange {
  /** The choice as it was, as JSON. */
  found: string;
  /** The choice as it is sent, as JSON: `null` if none is. */
  sent: string;
  /** Why: the API's answer, with its source. */
  because: string;
}

/**
 * Makes a whole request acceptable, for Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini: deferred
 * loading first ({@link applyDeferredLoading}), then every tool ({@link sanitizeTools}), then what speaks of tools by their
 * names, in `tool_choice` and in the history. The input is not changed. JSON text gives JSON text of its type: messages that hold nothing
 * to rewrite are copied as they are.
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
  const read = once(() => (typeof report === 'string' ? (JSON.parse(report) as AdaptReport) : report));
  return {
    request: value as Written<T, T>,
    get report() {
      return read();
    },
    restore: new Restore(restore),
  };
}

/**
 * Finds what an API refuses about a request as a whole: a choice of tools beside thinking or without tools, tools that the model does not
 * take, arguments in the history that are not JSON objects. {@link checkTools} judges its tools. An empty list means that no rule is broken.
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
  return ask('checkRequest', request, options) as RequestViolation[];
}
