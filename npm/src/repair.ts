import { callOnTwo } from './engine/call.js';
import type { RepairOptions, Written } from './options.js';
import type { Repaired } from './report.js';

/**
 * Repairs arguments that a model wrote incorrectly, to fit the tool's own schema: a list in a string, a number in quotes, null for an
 * optional member, a name in another spelling, text that is almost JSON. Values that the schema accepts are never changed, and values
 * are never invented; what cannot be repaired stays unchanged. The input is not changed. The result also lists every repair and the
 * remaining violations, and reports whether the schema accepts the arguments now.
 *
 * A string or `Uint8Array` is the text that the model wrote, which need not be JSON; the result is then JSON text of the same type. Text
 * that needs no repair is returned unchanged. `null` means no arguments.
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
 * @param args The arguments as the model wrote them.
 * @param schema The tool's own parameters: a value or JSON text.
 * @throws {@link ToolwireError} `invalid-json` for text that cannot be read, with the reason and the byte offset; `invalid-schema`,
 * `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.
 */
export function repairArguments<T>(args: T, schema: unknown, options?: RepairOptions): Repaired<Written<T, unknown>> {
  const { value, report } = callOnTwo('repairArguments', args, schema, options);
  return { arguments: value, ...report } as Repaired<Written<T, unknown>>;
}
