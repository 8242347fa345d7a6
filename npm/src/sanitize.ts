import { ask, type Called, callOn } from './engine/call.js';
import type { CheckOptions, Dialect, EnvelopeOptions, SanitizeOptions, Written } from './options.js';
import type { Rewritten, Violation } from './report.js';
import type { ObjectSchema, SchemaFor } from './schema.js';

/**
 * Rewrites a tool's parameter schema into one dialect, with the least loss of meaning. The input is not changed.
 *
 * A string or `Uint8Array` is JSON text and gives text of its type: that keeps number spelling (`1.0`, 2^70) and escapes of what no
 * rule touches, and text that needs no change comes back as it is. Anything else is a value.
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
 *   `not-representable`, `too-lossy`, and what else the dialect names.
 */
export function sanitize<T, D extends Dialect>(
  schema: T,
  options: SanitizeOptions & { dialect: D },
): Rewritten<Written<T, SchemaFor<D>>> {
  return rewritten(callOn('sanitize', schema, options));
}

/**
 * Repairs the envelope of a tool's parameters, an object with `properties`, and nothing else: nested content comes back
 * exactly as it came. The input is not changed. JSON text gives JSON text, as {@link sanitize} does it.
 *
 * A root `type` that is a list with `"object"` in it is kept as the tool published it; the return type says `"object"`.
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
  return rewritten(callOn('normalizeEnvelope', schema, options));
}

function rewritten<T>({ value, report }: Called): Rewritten<T> {
  const whole = report as () => Rewritten<T>;
  return {
    schema: value as T,
    get changes() {
      return whole().changes;
    },
    get lossless() {
      return whole().lossless;
    },
    get restorePlan() {
      return whole().restorePlan;
    },
  };
}

/**
 * What a dialect would reject about a schema as it is. Empty means accepted. The schema is a value or JSON text.
 *
 * @example
 * ```ts
 * for (const { pointer, message } of check(tool.inputSchema, { dialect: 'codex-wire' })) console.warn(pointer, message);
 * ```
 *
 * @throws {@link ToolwireError} `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`, `too-deep`.
 */
export function check(schema: unknown, options: CheckOptions): Violation[] {
  return ask('check', schema, options) as Violation[];
}
