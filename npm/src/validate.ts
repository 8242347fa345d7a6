import { callOnTwo } from './engine/call.js';
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
 * @param args The arguments as the model answered them: a value or JSON text.
 * @param schema The tool's own parameters: a value or JSON text.
 * @throws {@link ToolwireError} `invalid-schema` if the schema is neither an object nor a boolean; `invalid-json`, `invalid-value`, `too-deep`.
 */
export function validateArguments(args: unknown, schema: unknown): Validation {
  return callOnTwo('validateArguments', args, schema, undefined).value as Validation;
}
