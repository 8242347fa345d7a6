import { callOnText, callOnValues } from './engine/call.js';
import { isText } from './engine/text.js';
import type { SanitizeOptions, Text } from './options.js';
import type { RestorePlan } from './report.js';

/**
 * Brings the model's arguments back into the shape that the tool's own schema has, where the dialect had to encode
 * something. Takes the `restorePlan` that {@link sanitize} gave. What it does not understand stays as it is.
 *
 * @example
 * ```ts
 * const { schema: parameters, restorePlan } = sanitize(tool.inputSchema, { dialect: 'moonshot' });
 * // … the model answers with a call, maybe in another process …
 * const args = restoreArguments(call.arguments, restorePlan);
 * ```
 *
 * @throws {@link ToolwireError} `invalid-value` if it is no plan, or one of another version; `too-deep`.
 */
export function restoreArguments(args: unknown, plan: RestorePlan): unknown;
/**
 * {@link restoreArguments} for those who hold only the schema: the tool's *original* one, and the options that {@link sanitize}
 * was given. It makes the plan anew on each call; keep the `restorePlan` where there are many calls.
 *
 * @example
 * ```ts
 * const { schema: parameters } = sanitize(tool.inputSchema, { dialect: 'moonshot' });
 * // … the model answers with a call …
 * const args = restoreArguments(call.arguments, tool.inputSchema, { dialect: 'moonshot' });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-dialect`, `invalid-option`, `invalid-value`, `too-deep`.
 */
export function restoreArguments(args: unknown, schema: unknown, options: SanitizeOptions): unknown;
export function restoreArguments(args: unknown, planOrSchema: unknown, options?: SanitizeOptions): unknown {
  return callOnValues('restoreArguments', false, [args, planOrSchema], options).value;
}

/**
 * {@link restoreArguments} from JSON text to JSON text: APIs give the arguments of a call as text. The plan may be the text
 * that was kept of it. If there is nothing to restore, the very same text comes back.
 *
 * @example
 * ```ts
 * const args = restoreArgumentsJson(call.function.arguments, restorePlan);
 * ```
 *
 * @throws {@link ToolwireError} as {@link restoreArguments}, and `invalid-json`.
 */
export function restoreArgumentsJson(args: string, plan: RestorePlan | Text): string;
export function restoreArgumentsJson(args: Uint8Array, plan: RestorePlan | Text): Uint8Array;
/**
 * {@link restoreArgumentsJson} for those who hold only the schema: the text of the tool's *original* one, and the options that
 * {@link sanitize} was given. It makes the plan anew on each call.
 *
 * @example
 * ```ts
 * const args = restoreArgumentsJson(call.function.arguments, schemaText, { dialect: 'moonshot' });
 * ```
 *
 * @throws {@link ToolwireError} as {@link restoreArguments}, and `invalid-json`.
 */
export function restoreArgumentsJson(args: string, schema: Text, options: SanitizeOptions): string;
export function restoreArgumentsJson(args: Uint8Array, schema: Text, options: SanitizeOptions): Uint8Array;
export function restoreArgumentsJson(args: Text, planOrSchema: RestorePlan | Text, options?: SanitizeOptions): Text {
  const second = options || isText(planOrSchema) ? planOrSchema : written(planOrSchema);
  return callOnText('restoreArguments', false, args, options, second as Text).value;
}

/** The text of a plan. */
function written(plan: RestorePlan): string {
  try {
    return JSON.stringify(plan);
  } catch (error) {
    // What JSON cannot say is no plan, and the core tells why.
    callOnValues('restoreArguments', false, [null, plan], undefined);
    throw error;
  }
}
