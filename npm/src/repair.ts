import { callOnText, callOnValues } from './engine/call.js';
import type { RepairOptions, Text } from './options.js';
import type { Repaired } from './report.js';

/**
 * Repairs arguments that a model answered wrongly, by the tool's own schema: a list in a string, a number in quotes, null for an
 * optional member, a name in another spelling, text that is almost JSON. What the schema takes is never touched, and nothing is
 * invented; what cannot be repaired stays as it is. A string is the text of the arguments, null is no arguments. The input is not
 * changed.
 *
 * @example
 * ```ts
 * const schema = { properties: { ids: { type: 'array', items: { type: 'integer' } }, limit: { type: 'integer' } } };
 * repairArguments({ ids: '[1, 2]', limit: '10' }, schema); // { ids: [1, 2], limit: 10 }
 * ```
 *
 * @param args The arguments as the model answered them.
 * @param schema The tool's own parameters.
 * @throws {@link ToolwireError} `invalid-json` for a string that cannot be read; `invalid-schema`, `unknown-option`,
 * `invalid-option`, `invalid-value`, `too-deep`.
 */
export function repairArguments(args: unknown, schema: unknown, options?: RepairOptions): unknown {
  return callOnValues('repairArguments', false, [args, schema], options).value;
}

/**
 * {@link repairArguments}, with every repair, what is still wrong, and whether the schema takes the arguments now.
 *
 * @example
 * ```ts
 * const { arguments: repaired, valid, left } = repairArgumentsWithReport(call.input, tool.inputSchema);
 * if (valid === false) throw new Error(left.map(({ pointer, message }) => `${pointer}: ${message}`).join('\n'));
 * ```
 */
export function repairArgumentsWithReport(args: unknown, schema: unknown, options?: RepairOptions): Repaired<unknown> {
  const { value, report } = callOnValues('repairArguments', true, [args, schema], options);
  return { arguments: value, ...report } as Repaired<unknown>;
}

/**
 * {@link repairArguments} from the text that the model answered to JSON text; bytes are UTF-8 and give bytes. Text that needs no
 * repair comes back as it is.
 *
 * @example
 * ```ts
 * repairArgumentsJson("{'path': 'a.txt',}", '{"properties":{"path":{"type":"string"}}}'); // '{"path":"a.txt"}'
 * ```
 *
 * @throws {@link ToolwireError} as {@link repairArguments}; the message of `invalid-json` names the reason and the byte.
 */
export function repairArgumentsJson<T extends Text>(args: T, schema: Text, options?: RepairOptions): Written<T> {
  return callOnText<Text>('repairArguments', false, args, options, schema).value as Written<T>;
}

/**
 * {@link repairArgumentsJson}, with the report of {@link repairArgumentsWithReport}.
 *
 * @example
 * ```ts
 * const { arguments: text, repairs } = repairArgumentsJsonWithReport(call.function.arguments, schemaText);
 * ```
 */
export function repairArgumentsJsonWithReport<T extends Text>(
  args: T,
  schema: Text,
  options?: RepairOptions,
): Repaired<Written<T>> {
  const { value, report } = callOnText<Text>('repairArguments', true, args, options, schema);
  return { arguments: value, ...report } as Repaired<Written<T>>;
}

/** A string for a string, bytes for bytes. */
type Written<T extends Text> = T extends string ? string : Uint8Array;
