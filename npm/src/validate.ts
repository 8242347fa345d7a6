import { callOnText, callOnValues } from './engine/call.js';
import type { Text } from './options.js';
import type { Validation } from './report.js';

/**
 * What the tool's own schema says against the arguments of a call, in any draft from 4 to 2020-12. Arguments are an object,
 * also where the root of the schema has no `type`. Nothing of a value is in a message, so errors may be logged and handed to
 * the model.
 *
 * @example
 * ```ts
 * const { valid, errors } = validateArguments(call.input, tool.inputSchema);
 * if (valid === false) for (const { pointer, message } of errors) console.warn(pointer, message);
 * ```
 *
 * @param args The arguments as the model answered them, parsed.
 * @param schema The tool's own parameters.
 * @throws {@link ToolwireError} `invalid-schema` if the schema is neither an object nor a boolean; `invalid-value`, `too-deep`.
 */
export function validateArguments(args: unknown, schema: unknown): Validation {
  return callOnValues('validateArguments', false, [args, schema], undefined).value as Validation;
}

/**
 * {@link validateArguments} of JSON text: APIs give the arguments of a call as text.
 *
 * @example
 * ```ts
 * const accepted = validateArgumentsJson(call.function.arguments, schemaText).valid !== false;
 * ```
 *
 * @throws {@link ToolwireError} as {@link validateArguments}, and `invalid-json`.
 */
export function validateArgumentsJson(args: Text, schema: Text): Validation {
  const { value } = callOnText('validateArguments', false, args, undefined, schema);
  return JSON.parse(typeof value === 'string' ? value : new TextDecoder().decode(value)) as Validation;
}
