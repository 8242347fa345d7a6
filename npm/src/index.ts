/**
 * Any tool schema, any model, nothing lost on the way without saying so.
 *
 * @packageDocumentation
 */

export {
  applyDeferredLoading,
  applyDeferredLoadingJson,
  applyDeferredLoadingJsonWithReport,
  applyDeferredLoadingWithReport,
  type KeepingOptions,
  stripDeferralBetas,
  type TranslatedRequest,
  type TranslatingOptions,
} from './deferred.js';
export { dialects } from './dialects.js';
export {
  normalizeEnvelope,
  normalizeEnvelopeJson,
  normalizeEnvelopeJsonWithReport,
  normalizeEnvelopeWithReport,
} from './envelope.js';
export { ToolwireError, type ToolwireErrorCode } from './error.js';
export type {
  CheckOptions,
  DeferredOptions,
  Dialect,
  EnvelopeOptions,
  SanitizeOptions,
  ShareOption,
} from './options.js';
export type {
  Accepts,
  Change,
  Deferred,
  DeferredReport,
  DeferredWarning,
  DialectDescription,
  Guidance,
  Rewritten,
  Violation,
} from './report.js';
export {
  check,
  checkJson,
  restoreArguments,
  restoreArgumentsJson,
  sanitize,
  sanitizeJson,
  sanitizeJsonWithReport,
  sanitizeWithReport,
} from './sanitize.js';
export type { JsonSchema, ObjectRootDialect, ObjectSchema, SchemaFor } from './schema.js';
