import { callOn, callOnValues, once } from './engine/call.js';
import type { BetaOptions, DeferredOptions, Written } from './options.js';
import type { DeferredReport } from './report.js';
import { Restore, type RestoreJson } from './restore.js';

/** A rewritten request. The report is computed when it is first read, for the request as it was at the time of the call. */
export interface Deferred<T> {
  /** The rewritten request. */
  request: T;
  /** The tools that were loaded and hidden, and warnings. */
  readonly report: DeferredReport;
  /** Turns the backend's calls into the client's: their names, and the kinds of calls. */
  readonly restore: Restore;
}

/** A request in the format that it was translated into. */
export type TranslatedRequest = { [name: string]: unknown };

/** Options that do not change the request's format. */
export type KeepingOptions = DeferredOptions & { target?: null | undefined };

/** A request in the format that the options select. */
export type RequestFor<T, O> = O extends { target: infer F } ? (F extends null | undefined ? T : TranslatedRequest) : T;

/**
 * Makes a request that uses deferred tools work on an API without that feature: hides tools that are not loaded, loads
 * those that the history refers to, and turns `tool_reference` blocks into text. The input is not changed. The report lists the tools
 * that the model sees, those that are hidden, and the bytes that hiding them saved.
 *
 * For JSON text, the result is JSON text of the same type; messages with nothing to rewrite are copied without being parsed.
 *
 * @example
 * ```ts
 * const { request: body, report } = applyDeferredLoading(request);
 * console.log(`${report.hidden.length} tools hidden, ${report.savedBytes} bytes saved`);
 *
 * const { request: translated, restore } = applyDeferredLoading(request, { target: 'openai-responses' });
 * ```
 *
 * @param request A request body, as an object or as JSON text.
 * @throws {@link ToolwireError} `invalid-request`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
 *   `forced-deferred-tool`, `too-deep`.
 */
export function applyDeferredLoading<T, O extends DeferredOptions = KeepingOptions>(
  request: T,
  options?: O,
): Deferred<Written<T, RequestFor<T, O>>> {
  const { value, report } = callOn('applyDeferredLoading', request, options);
  const fullReport = once(() => {
    const result = report() as { report: DeferredReport; restore: RestoreJson };
    return { report: result.report, restore: new Restore(result.restore) };
  });
  return {
    request: value as Written<T, RequestFor<T, O>>,
    get report() {
      return fullReport().report;
    },
    get restore() {
      return fullReport().restore;
    },
  };
}

/**
 * Removes the betas of deferred loading from the value of an `anthropic-beta` header, a comma-separated list, because a backend that
 * does not know a beta refuses the request. Returns `null` if nothing remains or the value was missing: then send no
 * header. (For betas in the body, {@link applyDeferredLoading} does the same; headers are left to the caller.)
 *
 * @example
 * ```ts
 * const left = stripDeferralBetas(headers.get('anthropic-beta'));
 * if (left === null) headers.delete('anthropic-beta');
 * else headers.set('anthropic-beta', left);
 * ```
 *
 * For a backend with its own construct, pass `native`: the betas that the construct supports are kept, and the missing ones of
 * `report.betas` are added.
 *
 * @example
 * ```ts
 * const settled = stripDeferralBetas(headers.get('anthropic-beta'), { native: 'inline', betas: report.betas });
 * ```
 *
 * @throws {@link ToolwireError} `invalid-value` if the value is neither a string nor missing; `unknown-option`, `invalid-option`.
 */
export function stripDeferralBetas(value: string | null | undefined, options?: BetaOptions): string | null {
  return callOnValues('stripDeferralBetas', [value ?? null], options).value as string | null;
}
