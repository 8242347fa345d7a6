import { callOnTwo } from './engine/call.js';
import type { Text, Written } from './options.js';
import type { RestorePlan } from './report.js';

/**
 * Restores the model's arguments to the form that the tool's own schema describes, if the dialect had to encode something. Accepts the
 * `restorePlan` of {@link sanitize}, or its JSON text. Values that it cannot interpret stay unchanged. For JSON text, the result is JSON
 * text, and the same text if there is nothing to restore.
 *
 * @example
 * ```ts
 * const { schema: parameters, restorePlan } = sanitize(tool.inputSchema, { dialect: 'moonshot' });
 * // … the model answers with a call, maybe in another process …
 * const args = restoreArguments(call.arguments, restorePlan);
 * ```
 *
 * @throws {@link ToolwireError} `invalid-value` if it is not a plan, or a plan of another version; `invalid-json`, `too-deep`.
 */
export function restoreArguments<T>(args: T, plan: RestorePlan | Text): Written<T, unknown> {
  return callOnTwo('restoreArguments', args, plan, undefined).value as Written<T, unknown>;
}
