/**
 * Any tool schema, any model. Nothing is lost silently.
 *
 * @packageDocumentation
 */

export {
  type Adapted,
  type AdaptReport,
  adaptRequest,
  type ChoiceChange,
  checkRequest,
  type FormatChange,
  type RequestChange,
} from './adapt.js';
export {
  applyDeferredLoading,
  type Deferred,
  type KeepingOptions,
  type RequestFor,
  stripDeferralBetas,
  type TranslatedRequest,
} from './deferred.js';
export type { DialectFormats } from './dialect-names.js';
export { dialects } from './dialects.js';
export { ToolwireError } from './error.js';
export type { ToolwireErrorCode } from './error-code.js';
export { Exchange } from './exchange.js';
export type {
  AdaptOptions,
  BetaOptions,
  CallRepairOptions,
  CheckOptions,
  CheckRequestOptions,
  CheckToolsOptions,
  DeferralQuery,
  DeferredOptions,
  Dialect,
  DialectQuery,
  EnvelopeOptions,
  ExchangeOptions,
  RepairOptions,
  ResultOptions,
  RewritingOptions,
  SanitizedList,
  SanitizeOptions,
  SearchOptions,
  SentRequest,
  ShareOption,
  ToolFormat,
  ToolsOptions,
  Written,
} from './options.js';
export { repairArguments } from './repair.js';
export type {
  Accepts,
  ArgumentViolation,
  Change,
  ClientTool,
  DeferralChoice,
  DeferredReport,
  DeferredWarning,
  DialectChoice,
  DialectDescription,
  FittedResult,
  Guidance,
  Left,
  Quarantined,
  Repair,
  Repaired,
  RepairedCall,
  RequestViolation,
  ResponseFormat,
  RestorePlan,
  ResultChange,
  Rewritten,
  Severity,
  ToolChange,
  ToolViolation,
  Validation,
  Violation,
} from './report.js';
export {
  type BackendCall,
  CallStream,
  type ClientCall,
  ReplyRestorer,
  Restore,
  type RestoredCall,
  type RestoredClientCall,
  type RestoredContent,
  type RestoredReply,
  type RestoreJson,
} from './restore.js';
export { restoreArguments } from './restore-arguments.js';
export type {
  AnswerChange,
  ChangeRule,
  Constraint,
  DeferredWarningCode,
  LeftReason,
  RepairRule,
  RequestConstraint,
  ResultRule,
} from './rules.js';
export { check, normalizeEnvelope, sanitize } from './sanitize.js';
export type { JsonSchema, ObjectRootDialect, ObjectSchema, SchemaFor } from './schema.js';
export { answerToolSearch, searchTools, ToolIndex, type ToolSearchAnswer } from './search.js';
export { type ReadyTools, ToolSet } from './tool-set.js';
export type {
  AnthropicTool,
  BedrockTool,
  GeminiInteractionsTool,
  GeminiJsonSchemaTools,
  GeminiTools,
  McpTool,
  OpenAIChatTool,
  OpenAIResponsesTool,
  Tool,
  ToolFor,
  ToolsByFormat,
} from './tool-types.js';
export {
  checkTools,
  deferralFor,
  dialectFor,
  type SanitizedTools,
  sanitizeTools,
} from './tools.js';
export { fitResult, validateArguments, validateResult } from './validate.js';
