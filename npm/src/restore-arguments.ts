import { callOnTwo } from './engine/call.js';
import type { Text, Written } from './options.js';
import type { RestorePlan } from './report.js';

/**
 * Brings the model's arguments back into the shape that the tool's own schema has, if the dialect had to encode something. Takes the
 * `restorePlan` of {@link sanitize}, or its JSON text. What it does not understand stays as it is. JSON text gives JSON text, and the
 * very same text if there is nothing to restore.
 *
 * @example
 * ```ts
 * const { schema: parameters, restorePlan } = sanitize(tool.inputSchema, { dialect: 'moonshot' });
 * // … the model answers with a call, maybe in another process …
 * const args = restoreArguments(call.arguments, restorePlan);
 * ```
 *
 * @throws {@link ToolwireError} `invalid-value` if it is no plan, or one of another version; `invalid-json`, `too-deep`.
 */
export function restoreArguments<T>(args: T, plan: RestorePlan | Text): Written<T, unknown> {
  return callOnTwo('restoreArguments', args, plan, undefined).value as Written<T, unknown>;
}
