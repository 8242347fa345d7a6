import { ask, callOn, callOnValues } from './engine/call.js';
import { handlerOf, type SetAsideWarning, warnUnlessRead, withoutHandler } from './engine/set-aside.js';
import type { CheckToolsOptions, DeferralQuery, DialectQuery, ToolsOptions, Written } from './options.js';
import type { DeferralChoice, DialectChoice, Quarantined, ToolChange, ToolViolation } from './report.js';
import { Restore, type RestoreJson } from './restore.js';
import type { ToolFor } from './tool-types.js';

/**
 * A tool list that an API accepts. What was changed for that is determined when it is first read, for the list as it was at the time
 * of the call.
 */
export interface SanitizedTools<T> {
  /** The tools, in the API's own shape. */
  tools: T;
  /** The tools that could not be made acceptable: they are not in the list. */
  quarantined: Quarantined[];
  /** Every change, tool by tool. That a tool has another shape is none. */
  readonly changes: ToolChange[];
  /** Whether the same arguments are accepted, no guidance is lost, and no tool is missing. */
  lossless: boolean;
  /** Brings the model's calls back to what the tools' own servers expect. */
  restore: Restore;
}

/**
 * Rewrites a tool list for one API: each schema in its dialect, each name legal, each tool in the API's own shape. A tool
 * that cannot be made acceptable is set aside, and never costs the others. The input is not changed.
 *
 * If tools were set aside and the caller does not read `quarantined` before the current turn ends, `console.warn` names them, once for
 * each list; `onSetAside` changes that.
 *
 * @example
 * ```ts
 * const { tools, quarantined, restore } = sanitizeTools(await client.listTools(), { dialect: 'moonshot' });
 * // … the model calls one of them …
 * const { name, arguments: args } = restore.call(call.function.name, call.function.arguments);
 * ```
 *
 * Tools of several servers go into one list as `[{ server, tools }, …]`: tools of one name stay callable, and `restore.call` gives
 * `{ server, name, arguments }`.
 *
 * @param tools - A list of tools as MCP's `tools/list`, Anthropic, OpenAI, Gemini or Bedrock have them, or an object that
 *   has one in `tools`; or its JSON text, which gives text of its type. What the API runs itself (a hosted search, say) is passed on as
 *   it is.
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`,
 *   `invalid-request` if it is no list of tools, `not-representable` if tools have to be set aside and `onSetAside` is `"error"`.
 */
export function sanitizeTools<T, O extends ToolsOptions>(
  tools: T,
  options: O,
): SanitizedTools<Written<T, ToolFor<O>[]>> {
  const { value, members, report } = callOn('sanitizeTools', tools, withoutHandler(options));
  const { quarantined, lossless, restore, warning } = members as Reported;
  const result: SanitizedTools<Written<T, ToolFor<O>[]>> = {
    tools: value as Written<T, ToolFor<O>[]>,
    quarantined,
    get changes() {
      return (report() as { changes: ToolChange[] }).changes;
    },
    lossless,
    restore: new Restore(restore),
  };
  if (warning === undefined) return result;
  const handler = handlerOf(options.onSetAside);
  if (handler === undefined) warnUnlessRead(result, warning);
  else handler(quarantined, { dialect: options.dialect });
  return result;
}

/** What the core returns beside the tools. */
interface Reported {
  quarantined: Quarantined[];
  lossless: boolean;
  restore: RestoreJson;
  warning?: SetAsideWarning;
}

/**
 * What the APIs behind some dialects would reject about a tool list as it is, dialect by dialect. Empty means accepted.
 *
 * @example
 * ```ts
 * for (const { dialect, tool, message } of checkTools(tools, { dialects: ['moonshot', 'anthropic'] })) {
 *   console.warn(dialect, tool, message);
 * }
 * ```
 *
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`,
 *   `invalid-request` if it is no list of tools.
 */
export function checkTools(tools: unknown, options: CheckToolsOptions): ToolViolation[] {
  return ask('checkTools', tools, options) as ToolViolation[];
}

/**
 * Returns the dialect of an API by its host, its protocol and the model, with the confidence and the reason. An unknown API is
 * `portable`, unless `exact` is `true`.
 *
 * @example
 * ```ts
 * const { dialect } = dialectFor({ host: 'openrouter.ai', model: 'anthropic/claude-sonnet-4.5' }); // 'anthropic'
 *
 * const { dialect, confidence, because } = dialectFor({ host: 'llm.example' });
 * if (confidence === 'C') console.warn(dialect, because); // portable, unknown host `llm.example`; …
 * ```
 *
 * @throws {@link ToolwireError} `unknown-dialect` for a host that is retired, and with `exact` for an unknown API; `unknown-option`;
 *   `invalid-option`, also if there is nothing to go by.
 */
export function dialectFor(query: DialectQuery): DialectChoice {
  return callOnValues('dialectFor', [], query).value as DialectChoice;
}

/**
 * The options `target` and `native` of {@link applyDeferredLoading} for what is known of a backend: which construct of its own for
 * deferred tools it has. A backend that nobody knows to have one is no error: its `native` is `"none"`, its `target` is `null`, and
 * deferred tools are emulated.
 *
 * @example
 * ```ts
 * const { target, native } = deferralFor({ host: 'api.moonshot.ai', model: 'kimi-k3' }); // 'openai-chat', 'kimi'
 * const { request: body } = applyDeferredLoading(request, { target, native });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`; `invalid-option`, also if neither a host nor a model is given.
 */
export function deferralFor(query: DeferralQuery): DeferralChoice {
  return callOnValues('deferralFor', [], query).value as DeferralChoice;
}
