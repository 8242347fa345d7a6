import type { Dialect } from './dialect-names.js';
import type { ToolwireErrorCode } from './error-code.js';
import type {
  ChangeRule,
  Constraint,
  DeferredWarningCode,
  LeftReason,
  RepairRule,
  RequestConstraint,
  ResultRule,
} from './rules.js';

/** The effect of a change on the set of accepted arguments. */
export type Accepts =
  /** Exactly the same arguments are accepted. */
  | 'same'
  /**
   * No new argument is accepted. Every argument that is no longer accepted has, in some object, a property that the schema
   * neither names nor explicitly allows.
   */
  | 'closed'
  /** Every argument that was accepted still is, and more arguments are accepted. */
  | 'wider'
  /** No new argument is accepted, and some arguments are no longer accepted. */
  | 'narrower'
  /** Some arguments are newly accepted and others no longer accepted, or neither can be excluded. */
  | 'mixed';

/** The effect of a change on the text that the model reads: descriptions, defaults, examples, constraints. */
export type Guidance =
  /** The model reads the same information. */
  | 'same'
  /** The model reads the information elsewhere, for instance in a description. */
  | 'moved'
  /** The model no longer reads the information. */
  | 'lost';

/** One change: its location, its rule, its effect and the reason. */
export interface Change {
  /** JSON Pointer into the input: the cause of the change. */
  pointer: string;
  /** JSON Pointer into the output: the location of the effect; `null` if it no longer exists. */
  outputPointer: string | null;
  /** The rule's kebab-case name. */
  rule: ChangeRule;
  /** The effect on accepted arguments. If `encoded` is true, the effect after restoring. */
  accepts: Accepts;
  /** The effect on the text that the model reads. */
  guidance: Guidance;
  /** True if the model writes the arguments in another form, which restoring undoes. */
  encoded: boolean;
  /** The provider fact behind the rule, with its confidence, and the error text that the rule prevents. */
  reason: string;
  /** Human-readable: the schema part and the change. */
  message: string;
}

/** A rewritten schema. The report is computed when it is first read, for the schema as it was at the time of the call. */
export interface Rewritten<T> {
  /** The rewritten schema. */
  schema: T;
  /** Every change, in document order of the input. */
  readonly changes: Change[];
  /** True if the same arguments are accepted and no guidance is lost. */
  readonly lossless: boolean;
  /** The plan with which {@link restoreArguments} restores the model's arguments. */
  readonly restorePlan: RestorePlan;
}

/**
 * A plan of the encodings to undo in a tool's arguments after its schema was sanitized. It contains
 * nothing else of the schema.
 *
 * The plan is JSON; keep it until the model answers. If arguments need no restoring, `version` is
 * its only member.
 */
export interface RestorePlan {
  /** Version of this form, the same as that of a {@link RestoreJson}. */
  version: number;
  /** Values that a strict mode cannot express. This member and the next two are private to toolwire. */
  encoded?: unknown;
  /** Values that are sent as JSON in strings. */
  json?: unknown;
  /** Renamed properties. */
  names?: unknown;
}

/**
 * The reaction of an API to a schema or request that violates one of its constraints. `refused`: it answers with an error, or the
 * client drops the tool. `reinterpreted`: it accepts the schema but holds the model to other arguments than the schema describes.
 * `ignored`: it accepts the schema, and the part in question has no effect.
 */
export type Severity = 'refused' | 'reinterpreted' | 'ignored';

/** A part of a schema that a dialect refuses, reinterprets or ignores. */
export interface Violation {
  /** Kebab-case name of the violated constraint. */
  constraint: Constraint;
  /** The reaction of the API to the violation. */
  severity: Severity;
  /** JSON Pointer to the violation. */
  pointer: string;
  /** Human-readable: what was expected, then what was found. */
  message: string;
  /**
   * Number of further violations of the constraint at this location that are not listed. At most 100 are listed, and only the last of them has
   * this member. The location is the last keyword of `pointer`.
   */
  more?: number;
}

/** The result of validating arguments against the tool's schema. */
export interface Validation {
  /** True if the schema accepts the arguments; `null` if that cannot be decided. */
  valid: boolean | null;
  /** The violations, at most 100; empty unless `valid` is `false`. */
  errors: ArgumentViolation[];
}

/** One violation of a schema by arguments. */
export interface ArgumentViolation {
  /** JSON Pointer into the arguments: the invalid value. A missing member is reported at the object that lacks it. */
  pointer: string;
  /** JSON Pointer into the schema: the violated keyword, at its own location even if a reference points to it. */
  schemaPointer: string;
  /** The keyword's name; `false` for the schema `false`. */
  keyword: string;
  /** For people and models: what was expected, then the kind of value that was found. It contains no value of the arguments. */
  message: string;
}

/** The result of a call, fitted or unchanged, and a report about it. */
export interface FittedResult<T> {
  /** The result. */
  result: T;
  /** True if anything was changed. */
  changed: boolean;
  /**
   * False if the structured content violates the `outputSchema` or is missing, and cannot be filled from the text; `null` if that cannot
   * be decided.
   */
  valid: boolean | null;
  /** Every change, in the order in which the changes were made. */
  changes: ResultChange[];
  /** The violations in the original result, at most 100, even if `mismatch` removed or replaced their cause. Empty if `valid` is `null`. */
  errors: ArgumentViolation[];
}

/** One change of a result. It holds pointers, names and kinds, but no value of the result. */
export interface ResultChange {
  /** JSON Pointer into the given result: the cause. */
  pointer: string;
  /** JSON Pointer into the new result; `null` if the value was removed. */
  outputPointer: string | null;
  /** The rule of the change. */
  rule: ResultRule;
  /** Human-readable: what was changed. */
  message: string;
}

/** The result of restoring and repairing the arguments of one call. */
export interface RepairedCall {
  /** The call's id; null if the API gave it none. */
  id: string | null;
  /** The tool's name at its server. */
  name: string;
  /** True if the tool's schema accepts the arguments now; null if that cannot be decided. */
  valid: boolean | null;
  /** Every repair, in the order in which the repairs were made. */
  repairs: Repair[];
  /**
   * The remaining violations, at most 100; empty unless `valid` is false. Text that cannot be read is returned unchanged and is one
   * violation.
   */
  left: Left[];
  /** Text that lists the remaining violations, to be sent to the model as the result of its call; null if nothing is violated. */
  retryMessage: string | null;
}

/** Arguments, repaired or unchanged, and a report about them. */
export interface Repaired<T> {
  /** The arguments. */
  arguments: T;
  /** True if anything was repaired, or text was parsed. */
  changed: boolean;
  /** True if the schema accepts the arguments now; `null` if that cannot be decided. */
  valid: boolean | null;
  /** Every repair, in the order in which the repairs were made. */
  repairs: Repair[];
  /** The remaining violations, at most 100; empty unless `valid` is `false`. */
  left: Left[];
  /** Text that lists the remaining violations, to be sent to the model as the result of its call; `null` if nothing is violated. */
  retryMessage: string | null;
}

/** One repair of arguments. It holds pointers, names, kinds and offsets, but no value of the arguments. */
export interface Repair {
  /** JSON Pointer into the arguments as the model wrote them. For anything inside a text, the pointer to that text. */
  pointer: string;
  /** JSON Pointer into the result; `null` if the value no longer exists. */
  outputPointer: string | null;
  /** The repair rule. */
  rule: RepairRule;
  /** `exact`: the same value in another notation. `likely`: a guess with exactly one valid outcome. */
  confidence: 'exact' | 'likely';
  /**
   * The kind of value that the model wrote; for `property-name`, the name. `text` is text that was not JSON, `nothing` a missing
   * value.
   */
  from: string;
  /** The kind of value in the result, or the name; `nothing` if the value was removed. */
  to: string;
  /** Human-readable: what was found, then what it became. */
  message: string;
}

/** A violation that remains after repairing. */
export interface Left {
  /** JSON Pointer into the result. */
  pointer: string;
  /** The violated keyword; `false` for the schema `false`. */
  keyword: string;
  /** The reason why it was not repaired. */
  reason: LeftReason;
  /** For people and models: what was expected, then the kind of value that was found. */
  message: string;
}

/**
 * A change of a tool. `pointer` points into the given list, `outputPointer` into the rewritten one.
 */
export interface ToolChange extends Change {
  /** The tool's name at its server. */
  tool: string;
  /** The tool's server; absent unless the list combines several servers. */
  server?: string;
  /** The dialect that the tool is written in. */
  dialect: Dialect;
}

/** A tool that was set aside, and the reason. */
export interface Quarantined {
  /** The tool's name; `null` if it has none. */
  name: string | null;
  /** The tool's server; absent unless the list combines several servers. */
  server?: string;
  /** JSON Pointer into the list: the part that cannot be accepted. */
  pointer: string;
  /** The reason in kebab-case: the code of an error of `sanitize`, or the name of a constraint on tools. */
  rule: ToolwireErrorCode | Constraint | 'tool-kind';
  /** Human-readable: what was expected, then what was found. */
  message: string;
}

/** A part of a tool list that the API behind a dialect refuses, reinterprets or ignores. */
export interface ToolViolation extends Violation {
  /** The tool's name at its server; `null` if it has none. */
  tool: string | null;
  /** The tool's server; absent unless the list combines several servers. */
  server?: string;
  /** The dialect whose constraint is violated. */
  dialect: Dialect;
  /** Confidence of the fact: `A` official or proved, `B` one live report, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** Source of the fact behind the constraint. */
  source: string;
}

/** A part of a request, outside its tools, that the API of a dialect refuses. */
export interface RequestViolation {
  /** Kebab-case name of the violated constraint. */
  constraint: RequestConstraint;
  /** The reaction of the API to the violation. */
  severity: Severity;
  /** JSON Pointer into the request: the violation. */
  pointer: string;
  /** Human-readable: what was expected, then what was found. It contains no value of the request. */
  message: string;
  /** Confidence of the fact: `A` official or proved, `B` one live report, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** The API's answer, and the source in which it was found. */
  source: string;
  /**
   * Number of further violations of the constraint at this location that are not listed. At most 100 are listed, and only the last of them has
   * this member. The location is the last keyword of `pointer`.
   */
  more?: number;
}

/** A tool as the client knows it. */
export interface ClientTool {
  /**
   * The tool's namespace (OpenAI Responses), if it has one. A tool that was added by a search or by `additional_tools` is in a
   * namespace of the same name.
   */
  namespace?: string;
  /** The tool's name in that namespace. */
  name: string;
  /** The kind of its calls: of a function, of a `custom` tool, or a tool search that the client runs. */
  kind: 'function' | 'custom' | 'search';
}

/** The decisions of deferred loading about a request. Names are listed in the order in which they first appear. */
export interface DeferredReport {
  /** Deferred tools that are sent. */
  loaded: string[];
  /** Deferred tools that are not sent. */
  hidden: string[];
  /** Irregularities of the request that did not stop the call. */
  warnings: DeferredWarning[];
  /**
   * The client's tool for each name that the model calls, which {@link Restore.clientCall} uses. A tool that is not listed is a function
   * of the same name without a namespace; absent if it would be empty.
   */
  nameMap?: { [name: string]: ClientTool };
  /** The betas that the `anthropic-beta` header has to name for this request; absent if there are none. */
  betas?: string[];
  /**
   * The name of the function that replaces a tool search, if there is one: the option `toolSearchName`, unless a tool already has that
   * name. Pass it to `answerToolSearch` as `toolSearchName`.
   */
  toolSearchName?: string;
  /** True if tools are hidden, no search tool is visible and nothing announces them, so the model cannot reach them. */
  unreachable: boolean;
  /** Size of the hidden tools, in bytes of compact JSON. */
  savedBytes: number;
}

/** An irregularity of a request that did not stop the call. */
export interface DeferredWarning {
  /** Kebab-case code of the warning. */
  code: DeferredWarningCode;
  /** The tool or key that the warning is about, if there is one. */
  name?: string;
  /**
   * The JSON Pointer of the part of the given request that the warning is about, if there is one. A warning about every
   * use of a name points to the first one.
   */
  pointer?: string;
}

/** A dialect and the reason for choosing it. */
export interface DialectChoice {
  /** The name that `sanitize` accepts. */
  dialect: Dialect;
  /** Confidence of the choice: `A` documented or proved, `B` one live report, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** The reason, in one sentence. */
  because: string;
}

/** The options of deferred loading that fit a backend, and the reason. */
export interface DeferralChoice {
  /** The request format of the construct; `null` if the backend has no construct. */
  target: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini-interactions' | 'bedrock' | null;
  /** The backend's own construct for deferred tools. */
  native:
    | 'none'
    | 'references'
    | 'changes'
    | 'inline'
    | 'additional-tools'
    | 'tool-search'
    | 'kimi'
    | 'interactions'
    | 'converse';
  /** Confidence of the choice: `A` documented or recorded, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** The reason, in one sentence. */
  because: string;
  /** The day on which the fact was looked up or recorded (ISO 8601). */
  checked: string;
}

/** The known facts about one dialect. */
export interface DialectDescription {
  /** The name that `sanitize` accepts. */
  name: Dialect;
  /** The API surface, as text. */
  surface: string;
  /** URL of the surface's documentation. */
  documentation: string;
  /** The day on which the facts were last checked (ISO 8601). */
  asOf: string;
  /** Revision number, raised whenever a change to the dialect alters outputs. */
  revision: number;
  /** The options of `sanitize` that this dialect supports, in addition to `dialect`, `allow` and `share`. */
  options: string[];
  /** The ways in which arguments may be encoded; empty if they never are. */
  encodes: string[];
  /** Size limits by name. */
  limits: { [name: string]: number };
  /**
   * The known facts, each with its confidence (`A` official or proved, `B` one live report, `C` inferred), its source, and the
   * constraints of `check` and `checkTools` that rest on it.
   */
  facts: {
    statement: string;
    confidence: 'A' | 'B' | 'C';
    source: string;
    rules: Constraint[];
    severity: Severity;
    /** The day on which the fact was last checked (ISO 8601). */
    checked: string;
  }[];
  /** The known facts about requests as a whole, each with the constraint of `checkRequest` that rests on it. */
  requests: {
    statement: string;
    confidence: 'A' | 'B' | 'C';
    source: string;
    rule: RequestConstraint;
    severity: Severity;
    /** The day on which the fact was last checked (ISO 8601). */
    checked: string;
  }[];
  /** The known facts about the API's response formats that differ from those about its tools; null if it has no response formats. */
  response: ResponseFormat | null;
  /** Open questions: claims that are unverified or contradicted by reports. `check` accepts the input in question. */
  unverified: string[];
}

/** The known facts about the response formats of an API. */
export interface ResponseFormat {
  /** The location of the answer's schema in a request, as text. */
  surface: string;
  /** URL of its documentation. */
  documentation: string;
  /** The day on which the facts were last checked (ISO 8601). */
  asOf: string;
  /** Same as {@link DialectDescription.facts}. */
  facts: DialectDescription['facts'];
}
