import { callOnText, callOnValues } from './engine/call.js';
import { isText } from './engine/text.js';
import type { CheckOptions, Dialect, SanitizeOptions, Text } from './options.js';
import type { RestorePlan, Rewritten, Violation } from './report.js';
import type { SchemaFor } from './schema.js';

/**
 * Rewrites a tool's parameter schema into one dialect, with the least loss of meaning. The input is not changed.
 *
 * @example
 * ```ts
 * const parameters = sanitize(tool.inputSchema, { dialect: 'codex' });
 * ```
 *
 * @param schema The schema as the tool's server published it.
 * @throws {@link ToolwireError} `unknown-dialect`, `invalid-option`, `invalid-value`, `too-deep`, `not-representable`,
 *   `too-lossy`, and what else the dialect names.
 */
export function sanitize<D extends Dialect>(schema: unknown, options: SanitizeOptions & { dialect: D }): SchemaFor<D> {
  return callOnValues('sanitize', false, [schema], options).value as SchemaFor<D>;
}

/**
 * {@link sanitize}, what it changed (where, by which rule, to what effect, and why), and the plan that brings the model's
 * arguments back.
 *
 * @example
 * ```ts
 * const { schema, changes, lossless } = sanitizeWithReport(tool.inputSchema, { dialect: 'codex-wire' });
 * if (!lossless) for (const { pointer, message } of changes) console.warn(tool.name, pointer, message);
 * ```
 */
export function sanitizeWithReport<D extends Dialect>(
  schema: unknown,
  options: SanitizeOptions & { dialect: D },
): Rewritten<SchemaFor<D>> {
  const { value, report } = callOnValues('sanitize', true, [schema], options);
  return { schema: value, ...report } as Rewritten<SchemaFor<D>>;
}

/**
 * {@link sanitize} from JSON text to JSON text: the fast way for those who hold text anyway, and the one that keeps number
 * spelling (`1.0`, 2^70) and escapes of what no rule touches. Bytes are UTF-8 and give bytes. Text that needs no change
 * comes back as it is.
 *
 * @example
 * ```ts
 * const text = sanitizeJson('{"properties":{"unit":{"const":"celsius"}}}', { dialect: 'codex' });
 * ```
 *
 * @throws {@link ToolwireError} as {@link sanitize}, and `invalid-json`.
 */
export function sanitizeJson(schema: string, options: SanitizeOptions): string;
export function sanitizeJson(schema: Uint8Array, options: SanitizeOptions): Uint8Array;
export function sanitizeJson(schema: string | Uint8Array, options: SanitizeOptions): string | Uint8Array;
export function sanitizeJson(schema: string | Uint8Array, options: SanitizeOptions): string | Uint8Array {
  return callOnText('sanitize', false, schema, options).value;
}

/**
 * {@link sanitizeJson}, what it changed, and the plan that brings the model's arguments back.
 *
 * @example
 * ```ts
 * const { schema, changes } = sanitizeJsonWithReport(text, { dialect: 'codex-wire' });
 * ```
 */
export function sanitizeJsonWithReport(schema: string, options: SanitizeOptions): Rewritten<string>;
export function sanitizeJsonWithReport(schema: Uint8Array, options: SanitizeOptions): Rewritten<Uint8Array>;
export function sanitizeJsonWithReport(
  schema: string | Uint8Array,
  options: SanitizeOptions,
): Rewritten<string | Uint8Array>;
export function sanitizeJsonWithReport(
  schema: string | Uint8Array,
  options: SanitizeOptions,
): Rewritten<string | Uint8Array> {
  const { value, report } = callOnText('sanitize', true, schema, options);
  return { schema: value, ...report } as Rewritten<string | Uint8Array>;
}

/**
 * What a dialect would reject about a schema as it is. Empty means accepted.
 *
 * @example
 * ```ts
 * for (const { pointer, message } of check(tool.inputSchema, { dialect: 'codex-wire' })) console.warn(pointer, message);
 * ```
 */
export function check(schema: unknown, options: CheckOptions): Violation[] {
  return callOnValues('check', false, [schema], options).value as Violation[];
}

/**
 * {@link check} of JSON text.
 *
 * @example
 * ```ts
 * const accepted = checkJson(text, { dialect: 'codex-wire' }).length === 0;
 * ```
 */
export function checkJson(schema: string | Uint8Array, options: CheckOptions): Violation[] {
  const { value } = callOnText('check', false, schema, options);
  return JSON.parse(typeof value === 'string' ? value : new TextDecoder().decode(value)) as Violation[];
}

/**
 * Brings the model's arguments back into the shape that the tool's own schema has, where the dialect had to encode
 * something. Takes the `restorePlan` that {@link sanitizeWithReport} gave. What it does not understand stays as it is.
 *
 * @example
 * ```ts
 * const { schema: parameters, restorePlan } = sanitizeWithReport(tool.inputSchema, { dialect: 'moonshot' });
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
 * const parameters = sanitize(tool.inputSchema, { dialect: 'moonshot' });
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
