import { callOnText, callOnValues } from './engine/call.js';
import type { EnvelopeOptions } from './options.js';
import type { Rewritten } from './report.js';
import type { ObjectSchema } from './schema.js';

/**
 * Repairs the envelope of a tool's parameters, an object with `properties`, and nothing else: nested content comes back
 * exactly as it came. The input is not changed.
 *
 * A root `type` that is a list with `"object"` in it is kept as the tool published it; the return type says `"object"`.
 *
 * @example
 * ```ts
 * normalizeEnvelope({ properties: { city: { $ref: '#/$defs/City' } } });
 * // { type: 'object', properties: { city: { $ref: '#/$defs/City' } } }
 * ```
 *
 * @throws {@link ToolwireError} `invalid-value`, `too-deep`.
 */
export function normalizeEnvelope(schema: unknown, options?: EnvelopeOptions): ObjectSchema {
  return callOnValues('normalizeEnvelope', false, [schema], options).value as ObjectSchema;
}

/**
 * {@link normalizeEnvelope}, and what it changed.
 *
 * @example
 * ```ts
 * const { schema, changes } = normalizeEnvelopeWithReport(tool.inputSchema);
 * ```
 */
export function normalizeEnvelopeWithReport(schema: unknown, options?: EnvelopeOptions): Rewritten<ObjectSchema> {
  const { value, report } = callOnValues('normalizeEnvelope', true, [schema], options);
  return { schema: value, ...report } as Rewritten<ObjectSchema>;
}

/**
 * {@link normalizeEnvelope} from JSON text to JSON text; bytes are UTF-8 and give bytes. Text that needs no repair comes
 * back as it is.
 *
 * @example
 * ```ts
 * normalizeEnvelopeJson('{"type":"object"}'); // '{"type":"object","properties":{}}'
 * ```
 *
 * @throws {@link ToolwireError} `invalid-json`, `too-deep`.
 */
export function normalizeEnvelopeJson(schema: string, options?: EnvelopeOptions): string;
export function normalizeEnvelopeJson(schema: Uint8Array, options?: EnvelopeOptions): Uint8Array;
export function normalizeEnvelopeJson(schema: string | Uint8Array, options?: EnvelopeOptions): string | Uint8Array;
export function normalizeEnvelopeJson(schema: string | Uint8Array, options?: EnvelopeOptions): string | Uint8Array {
  return callOnText('normalizeEnvelope', false, schema, options).value;
}

/**
 * {@link normalizeEnvelopeJson}, and what it changed.
 *
 * @example
 * ```ts
 * const { schema, changes } = normalizeEnvelopeJsonWithReport(text);
 * ```
 */
export function normalizeEnvelopeJsonWithReport(schema: string, options?: EnvelopeOptions): Rewritten<string>;
export function normalizeEnvelopeJsonWithReport(schema: Uint8Array, options?: EnvelopeOptions): Rewritten<Uint8Array>;
export function normalizeEnvelopeJsonWithReport(
  schema: string | Uint8Array,
  options?: EnvelopeOptions,
): Rewritten<string | Uint8Array>;
export function normalizeEnvelopeJsonWithReport(
  schema: string | Uint8Array,
  options?: EnvelopeOptions,
): Rewritten<string | Uint8Array> {
  const { value, report } = callOnText('normalizeEnvelope', true, schema, options);
  return { schema: value, ...report } as Rewritten<string | Uint8Array>;
}
