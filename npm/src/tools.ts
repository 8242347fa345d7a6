import { callForValue, callOn, callOnValues } from './engine/call.js';
import { handlerOf, type SetAsideWarning, warnUnlessRead, withoutHandler } from './engine/set-aside.js';
import type { CheckToolsOptions, DeferralQuery, DialectQuery, ToolsOptions, Written } from './options.js';
import type { DeferralChoice, DialectChoice, Quarantined, ToolChange, ToolViolation } from './report.js';
import { Restore, type RestoreJson } from './restore.js';
import type { ToolFor } from './tool-types.js';

/**
 * A tool list that an API accepts. The changes are computed when they are first read, for the list as it was at the time of the call.
 */
export interface SanitizedTools<T> {
  /** The tools, in the format of the API. */
  tools: T;
  /** The tools that could not be made acceptable. They are not in the list. */
  quarantined: Quarantined[];
  /** Every change, tool by tool. The conversion to another tool format is not a change. */
  readonly changes: ToolChange[];
  /** True if the same arguments are accepted, no guidance is lost, and no tool is missing. */
  lossless: boolean;
  /** Restores the model's calls for the tools' own servers. */
  restore: Restore;
}

/**
 * Rewrites a tool list for one API: each schema in its dialect, each name legal, each tool in the API's own format. A tool
 * that cannot be made acceptable is set aside and does not affect the others. The input is not changed.
 *
 * If tools were set aside and the caller does not read `quarantined` before the current turn ends, `console.warn` names them, once for
 * each list. The option `onSetAside` changes that.
 *
 * @example
 * ```ts
 * const { tools, quarantined, restore } = sanitizeTools(await client.listTools(), { dialect: 'moonshot' });
 * // … the model calls one of them …
 * const { name, arguments: args } = restore.call(call.function.name, call.function.arguments);
 * ```
 *
 * Tools of several servers go into one list as `[{ server, tools }, …]`. Tools with the same name stay callable, and `restore.call`
 * returns `{ server, name, arguments }`.
 *
 * @param tools - A tool list in the format of MCP's `tools/list`, Anthropic, OpenAI, Gemini or Bedrock, or an object with such a list
 *   in `tools`; or its JSON text, for which the result is text of the same type. A tool that the API runs itself (such as a hosted
 *   search) is passed on unchanged.
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`,
 *   `invalid-request` if it is not a tool list, `not-representable` if tools have to be set aside and `onSetAside` is `"error"`.
 */
export function sanitizeTools<T, O extends ToolsOptions>(
  tools: T,
  options: O,
): SanitizedTools<Written<T, ToolFor<O>[]>> {
  const { value, members, report } = callOn('sanitizeTools', tools, withoutHandler(options));
  const { quarantined, lossless, restore, warning } = members as ToolsMembers;
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

/** The core's results other than the tools. */
interface ToolsMembers {
  quarantined: Quarantined[];
  lossless: boolean;
  restore: RestoreJson;
  warning?: SetAsideWarning;
}

/**
 * Finds what the APIs behind some dialects would refuse, reinterpret or ignore in a tool list, dialect by dialect. An empty result means
 * that all of them accept the list.
 *
 * @example
 * ```ts
 * for (const { dialect, tool, message } of checkTools(tools, { dialects: ['moonshot', 'anthropic'] })) {
 *   console.warn(dialect, tool, message);
 * }
 * ```
 *
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`,
 *   `invalid-request` if it is not a tool list.
 */
export function checkTools(tools: unknown, options: CheckToolsOptions): ToolViolation[] {
  return callForValue('checkTools', tools, options) as ToolViolation[];
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
 * @throws {@link ToolwireError} `unknown-dialect` for a retired host, and with `exact` for an unknown API; `unknown-option`;
 *   `invalid-option`, including for a query without `api`, `model` and `host`.
 */
export function dialectFor(query: DialectQuery): DialectChoice {
  return callOnValues('dialectFor', [], query).value as DialectChoice;
}

/**
 * Returns the options `target` and `native` of {@link applyDeferredLoading} for a backend, according to the construct that it has for
 * deferred tools. For an unknown backend, and for one without a construct, `native` is `"none"`, `target` is `null`, and deferred tools
 * are emulated.
 *
 * @example
 * ```ts
 * const { target, native } = deferralFor({ host: 'api.moonshot.ai', model: 'kimi-k3' }); // 'openai-chat', 'kimi'
 * const { request: body } = applyDeferredLoading(request, { target, native });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`; `invalid-option`, including for a query with neither a host nor a model.
 */
export function deferralFor(query: DeferralQuery): DeferralChoice {
  return callOnValues('deferralFor', [], query).value as DeferralChoice;
}
