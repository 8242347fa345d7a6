import { callOnText, callOnValues } from './engine/call.js';
import type { BetaOptions, DeferredOptions } from './options.js';
import type { Deferred, DeferredReport } from './report.js';
import { Restore, type RestoreJson } from './restore.js';

/** A request in the format it is translated into. */
export type TranslatedRequest = { [name: string]: unknown };

/** Options that translate the request. */
export type TranslatingOptions = DeferredOptions & { target: NonNullable<DeferredOptions['target']> };

/** Options that leave the request in its format. */
export type KeepingOptions = DeferredOptions & { target?: null | undefined };

/**
 * Makes a request that uses deferred tools work on an API without that feature: hides tools that are not loaded, loads
 * those that the history refers to, and turns `tool_reference` blocks into text. The input is not changed.
 *
 * @example
 * ```ts
 * const body = applyDeferredLoading(request);
 * const translated = applyDeferredLoading(request, { target: 'openai-responses' });
 * ```
 *
 * @param request A request body, as an object.
 * @throws {@link ToolwireError} `invalid-request`, `invalid-option`, `invalid-value`, `forced-deferred-tool`, `too-deep`.
 */
export function applyDeferredLoading(request: unknown, options: TranslatingOptions): TranslatedRequest;
export function applyDeferredLoading<T>(request: T, options?: KeepingOptions): T;
export function applyDeferredLoading(request: unknown, options?: DeferredOptions): unknown;
export function applyDeferredLoading(request: unknown, options?: DeferredOptions): unknown {
  return callOnValues('applyDeferredLoading', false, [request], options).value;
}

/**
 * {@link applyDeferredLoading}, and what it decided: which tools the model sees, which not, and what that saved.
 *
 * @example
 * ```ts
 * const { request: body, report } = applyDeferredLoadingWithReport(request);
 * console.log(`${report.hidden.length} tools hidden, ${report.savedBytes} bytes saved`);
 * ```
 */
export function applyDeferredLoadingWithReport(
  request: unknown,
  options: TranslatingOptions,
): Deferred<TranslatedRequest>;
export function applyDeferredLoadingWithReport<T>(request: T, options?: KeepingOptions): Deferred<T>;
export function applyDeferredLoadingWithReport(request: unknown, options?: DeferredOptions): Deferred<unknown>;
export function applyDeferredLoadingWithReport(request: unknown, options?: DeferredOptions): Deferred<unknown> {
  const { value, report } = callOnValues('applyDeferredLoading', true, [request], options);
  return deferred(value, report);
}

/**
 * {@link applyDeferredLoading} from JSON text to JSON text: messages that hold nothing to rewrite are copied, not parsed.
 * Bytes are UTF-8 and give bytes.
 *
 * @example
 * ```ts
 * const body = applyDeferredLoadingJson(await incoming.text());
 * ```
 *
 * @throws {@link ToolwireError} as {@link applyDeferredLoading}, and `invalid-json`.
 */
export function applyDeferredLoadingJson(request: string, options?: DeferredOptions): string;
export function applyDeferredLoadingJson(request: Uint8Array, options?: DeferredOptions): Uint8Array;
export function applyDeferredLoadingJson(request: string | Uint8Array, options?: DeferredOptions): string | Uint8Array;
export function applyDeferredLoadingJson(request: string | Uint8Array, options?: DeferredOptions): string | Uint8Array {
  return callOnText('applyDeferredLoading', false, request, options).value;
}

/**
 * {@link applyDeferredLoadingJson}, and what it decided.
 *
 * @example
 * ```ts
 * const { request: body, report } = applyDeferredLoadingJsonWithReport(text);
 * ```
 */
export function applyDeferredLoadingJsonWithReport(request: string, options?: DeferredOptions): Deferred<string>;
export function applyDeferredLoadingJsonWithReport(
  request: Uint8Array,
  options?: DeferredOptions,
): Deferred<Uint8Array>;
export function applyDeferredLoadingJsonWithReport(
  request: string | Uint8Array,
  options?: DeferredOptions,
): Deferred<string | Uint8Array>;
export function applyDeferredLoadingJsonWithReport(
  request: string | Uint8Array,
  options?: DeferredOptions,
): Deferred<string | Uint8Array> {
  const { value, report } = callOnText('applyDeferredLoading', true, request, options);
  return deferred(value, report);
}

function deferred<T>(request: T, described: object | undefined): Deferred<T> {
  const { report, restore } = described as { report: DeferredReport; restore: RestoreJson };
  return { request, report, restore: new Restore(restore) };
}

/**
 * Takes the betas of deferred loading out of the value of an `anthropic-beta` header, a list with commas: a backend that
 * does not know a beta refuses the request. `null`: nothing is left, or nothing was there, so there is to be no header. (In
 * a request {@link applyDeferredLoading} does the same; headers are the caller's.)
 *
 * @example
 * ```ts
 * const left = stripDeferralBetas(headers.get('anthropic-beta'));
 * if (left === null) headers.delete('anthropic-beta');
 * else headers.set('anthropic-beta', left);
 * ```
 *
 * For a backend with a construct of its own, say which: the betas that it has stay, and those of `report.betas` are added.
 *
 * @example
 * ```ts
 * const settled = stripDeferralBetas(headers.get('anthropic-beta'), { native: 'inline', betas: report.betas });
 * ```
 *
 * @throws {@link ToolwireError} `invalid-value` if it is neither a string nor missing; `unknown-option`, `invalid-option`.
 */
export function stripDeferralBetas(value: string | null | undefined, options?: BetaOptions): string | null {
  return callOnValues('stripDeferralBetas', false, [value ?? null], options ?? null).value as string | null;
}
