import { callOnTwo } from './engine/call.js';
import type { ResultOptions, Written } from './options.js';
import type { FittedResult, Validation } from './report.js';

/**
 * Validates the arguments of a call against the tool's own schema, in any draft from 4 to 2020-12. Arguments must be an object,
 * even if the root of the schema has no `type`. Messages contain no value of the arguments, so errors may be logged and sent to
 * the model.
 *
 * @example
 * ```ts
 * const { valid, errors } = validateArguments(call.input, tool.inputSchema);
 * if (valid === false) for (const { pointer, message } of errors) console.warn(pointer, message);
 * ```
 *
 * @param args The arguments as the model wrote them: a value or JSON text.
 * @param schema The tool's own parameters: a value or JSON text.
 * @throws {@link ToolwireError} `invalid-schema` if the schema is neither an object nor a boolean; `invalid-json`, `invalid-value`, `too-deep`.
 */
export function validateArguments(args: unknown, schema: unknown): Validation {
  return callOnTwo('validateArguments', args, schema, undefined).value as Validation;
}

/**
 * Validates the result of a call against the `outputSchema` of an MCP tool. A tool without one accepts every result, and a result with
 * `isError: true` is not validated. Pointers point into the result and into the tool.
 *
 * @example
 * ```ts
 * const { valid, errors } = validateResult(await client.callTool(call), tool);
 * if (valid === false) console.warn(errors[0].pointer, errors[0].message);
 * ```
 *
 * @param result The `CallToolResult`: a value or JSON text.
 * @param tool The tool as `tools/list` returns it: a value or JSON text.
 * @throws {@link ToolwireError} `invalid-value` if the tool is not an object, `invalid-schema` if its `outputSchema` is neither an object
 * nor a boolean; `invalid-json`, `too-deep`.
 */
export function validateResult(result: unknown, tool: unknown): Validation {
  return callOnTwo('validateResult', result, tool, undefined).value as Validation;
}

/**
 * Fits the result of a call to the `outputSchema` of an MCP tool, so that no client refuses it. Clients of the official SDKs refuse a whole
 * result, with its text, if the structured content does not match or is missing. Structured content of an error is removed if it does not
 * match. Missing structured content is filled from the text if the result has a single text, which is JSON that matches; `mismatch` handles
 * the other cases. Structured content is added as text if the result has no content. Other results, such as a task, are returned unchanged. The
 * input is not changed. JSON text gives JSON text of the same type.
 *
 * @example
 * ```ts
 * const { result, valid, errors } = fitResult(await run(call), tool, { mismatch: 'drop' });
 * if (valid === false) console.warn(tool.name, errors[0]?.message);
 * ```
 *
 * @param result The `CallToolResult`: a value or JSON text.
 * @param tool The tool as `tools/list` returns it: a value or JSON text.
 * @throws {@link ToolwireError} `invalid-value` if the tool is not an object, `invalid-schema` if its `outputSchema` is neither an object
 * nor a boolean; `unknown-option`, `invalid-option`, `invalid-json`, `too-deep`.
 */
export function fitResult<T>(result: T, tool: unknown, options?: ResultOptions): FittedResult<Written<T, T>> {
  const { value, report } = callOnTwo('fitResult', result, tool, options);
  return { result: value, ...report } as FittedResult<Written<T, T>>;
}
