import { callOnTwo } from './engine/call.js';
import type { RepairOptions, Written } from './options.js';
import type { Repaired } from './report.js';

/**
 * Repairs arguments that a model answered wrongly, by the tool's own schema: a list in a string, a number in quotes, null for an
 * optional member, a name in another spelling, text that is almost JSON. What the schema takes is never touched, and nothing is
 * invented; what cannot be repaired stays as it is. The input is not changed. Beside the arguments the result has every repair, what is
 * still wrong, and whether the schema takes the arguments now.
 *
 * A string or `Uint8Array` is the text that the model answered, which need not be JSON, and gives JSON text of its type; text that
 * needs no repair comes back as it is. `null` is no arguments.
 *
 * @example
 * ```ts
 * const schema = { properties: { ids: { type: 'array', items: { type: 'integer' } }, limit: { type: 'integer' } } };
 * repairArguments({ ids: '[1, 2]', limit: '10' }, schema).arguments; // { ids: [1, 2], limit: 10 }
 *
 * const { arguments: text, valid, retryMessage } = repairArguments(call.function.arguments, schema);
 * if (valid === false) answer(call.id, retryMessage);
 * ```
 *
 * @param args The arguments as the model answered them.
 * @param schema The tool's own parameters: a value or JSON text.
 * @throws {@link ToolwireError} `invalid-json` for text that cannot be read, with the reason and the byte; `invalid-schema`,
 * `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.
 */
export function repairArguments<T>(args: T, schema: unknown, options?: RepairOptions): Repaired<Written<T, unknown>> {
  const { value, report } = callOnTwo('repairArguments', args, schema, options);
  return { arguments: value, ...report } as Repaired<Written<T, unknown>>;
}
