import { callForValue, callOn, type LazyOutcome } from './engine/call.js';
import type { CheckOptions, Dialect, EnvelopeOptions, SanitizeOptions, Written } from './options.js';
import type { Rewritten, Violation } from './report.js';
import type { ObjectSchema, SchemaFor } from './schema.js';

/**
 * Rewrites a tool's parameter schema into one dialect, with the least loss of meaning. The input is not changed.
 *
 * A string or `Uint8Array` is JSON text, for which the result is text of the same type. Text preserves number spelling (`1.0`, 2^70) and
 * escapes wherever no rule applies, and is returned unchanged if nothing has to change. Anything else is a value.
 *
 * @example
 * ```ts
 * const { schema: parameters } = sanitize(tool.inputSchema, { dialect: 'codex' });
 *
 * const { schema, changes, lossless } = sanitize(tool.inputSchema, { dialect: 'codex-wire' });
 * if (!lossless) for (const { pointer, message } of changes) console.warn(tool.name, pointer, message);
 * ```
 *
 * @param schema The schema as the tool's server published it.
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`, `too-deep`,
 *   `not-representable`, `too-lossy`, and further codes that the dialect documents.
 */
export function sanitize<T, D extends Dialect>(
  schema: T,
  options: SanitizeOptions & { dialect: D },
): Rewritten<Written<T, SchemaFor<D>>> {
  return fromOutcome(callOn('sanitize', schema, options));
}

/**
 * Repairs only the envelope of a tool's parameters, which must be an object with `properties`. Nested content is returned
 * unchanged. The input is not changed. For JSON text, the result is JSON text, as in {@link sanitize}.
 *
 * A root `type` that is a list containing `"object"` is kept as the tool published it, although the return type is `"object"`.
 *
 * @example
 * ```ts
 * normalizeEnvelope({ properties: { city: { $ref: '#/$defs/City' } } }).schema;
 * // { type: 'object', properties: { city: { $ref: '#/$defs/City' } } }
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`, `too-deep`.
 */
export function normalizeEnvelope<T>(schema: T, options?: EnvelopeOptions): Rewritten<Written<T, ObjectSchema>> {
  return fromOutcome(callOn('normalizeEnvelope', schema, options));
}

function fromOutcome<T>({ value, report }: LazyOutcome): Rewritten<T> {
  const fullReport = report as () => Rewritten<T>;
  return {
    schema: value as T,
    get changes() {
      return fullReport().changes;
    },
    get lossless() {
      return fullReport().lossless;
    },
    get restorePlan() {
      return fullReport().restorePlan;
    },
  };
}

/**
 * Finds what a dialect would refuse, reinterpret or ignore in a schema. An empty result means that the schema is accepted. The schema is
 * a value or JSON text.
 *
 * @example
 * ```ts
 * for (const { pointer, message } of check(tool.inputSchema, { dialect: 'codex-wire' })) console.warn(pointer, message);
 * ```
 *
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`, `too-deep`.
 */
export function check(schema: unknown, options: CheckOptions): Violation[] {
  return callForValue('check', schema, options) as Violation[];
}
