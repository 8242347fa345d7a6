import type { Dialect } from './dialect-names.js';
import type { ToolwireErrorCode } from './error.js';
import type { Restore } from './restore.js';
import type {
  ChangeRule,
  Constraint,
  DeferredWarningCode,
  LeftReason,
  RepairRule,
  RequestConstraint,
} from './rules.js';

/** What a change does to the set of accepted arguments. */
export type Accepts =
  /** Exactly the same arguments are accepted. */
  | 'same'
  /**
   * No new argument is accepted. Those that no longer are have, in some object, a property that the schema does not name, and it never
   * said that others are wanted.
   */
  | 'closed'
  /** Every argument accepted before still is; some more are. */
  | 'wider'
  /** No new argument is accepted; some legal ones no longer are. */
  | 'narrower'
  /** Some are gained and some lost, or it cannot be proved which. */
  | 'mixed';

/** What a change does to what the model reads: descriptions, defaults, examples, constraints. */
export type Guidance =
  /** The model reads the same. */
  | 'same'
  /** Said elsewhere, for instance in a description. */
  | 'moved'
  /** No longer said. */
  | 'lost';

/** One change: where, by which rule, with what effect, and why. */
export interface Change {
  /** JSON Pointer into the input: where the cause stands. */
  pointer: string;
  /** JSON Pointer into the output: where the effect stands; `null` if nothing is left. */
  outputPointer: string | null;
  /** The rule's kebab-case name. */
  rule: ChangeRule;
  /** The effect on accepted arguments. With `encoded`, it is the effect after restoring. */
  accepts: Accepts;
  /** The effect on what the model reads. */
  guidance: Guidance;
  /** Arguments look different now, and can be restored. */
  encoded: boolean;
  /** The provider fact the rule serves, with its confidence, and the error text it prevents. */
  reason: string;
  /** For people: what was done to what. */
  message: string;
}

/** A rewritten schema. What was changed is determined when it is first read, for the schema as it was at the time of the call. */
export interface Rewritten<T> {
  /** The schema. */
  schema: T;
  /** Every change, in the order of the input. */
  readonly changes: Change[];
  /** Whether the same arguments are accepted and no guidance is lost. */
  readonly lossless: boolean;
  /** Brings the model's arguments back: {@link restoreArguments} takes it. */
  readonly restorePlan: RestorePlan;
}

/**
 * What sanitizing a schema leaves for the arguments of its tool: what has to be undone in them, and nothing else of the schema.
 * It is JSON, to be kept until the model answers. Nothing but `version` is in it where arguments come back as they are.
 */
export interface RestorePlan {
  /** The version of this form, which is that of a {@link RestoreJson}, too. */
  version: number;
  /** What a strict mode cannot say. What is in these three is nobody's business but toolwire's. */
  encoded?: unknown;
  /** JSON in strings. */
  json?: unknown;
  /** Property names. */
  names?: unknown;
}

/**
 * What an API does with what goes against one of its facts. `refused`: it answers with an error, or the client drops the
 * tool. `reinterpreted`: it answers, and holds the model to other arguments than the schema says. `ignored`: it answers,
 * and what is written has no effect.
 */
export type Severity = 'refused' | 'reinterpreted' | 'ignored';

/** Something that a dialect does not take as it is meant. */
export interface Violation {
  /** The kebab-case name of the API's constraint. */
  constraint: Constraint;
  /** What the API does with it. */
  severity: Severity;
  /** JSON Pointer to what is at fault. */
  pointer: string;
  /** For people: what was expected, then what was found. */
  message: string;
}

/** Whether arguments are valid, and what the tool's own schema says against them. */
export interface Validation {
  /** Whether the schema takes them; `null` where that cannot be told. */
  valid: boolean | null;
  /** What it says against them, at most 100; empty unless `valid` is `false`. */
  errors: ArgumentViolation[];
}

/** One thing that a schema says against arguments. */
export interface ArgumentViolation {
  /** JSON Pointer into the arguments: what is wrong. What is missing is wrong with the object that lacks it. */
  pointer: string;
  /** JSON Pointer into the schema: the keyword that says so, behind a reference where it stands. */
  schemaPointer: string;
  /** The keyword's name; `false` for a schema that is `false`. */
  keyword: string;
  /** For people and models: what was expected, then what kind of value was found; no value of the arguments. */
  message: string;
}

/** What became of the arguments of one call when it was restored. */
export interface RepairedCall {
  /** The call's id; null if the API gave none. */
  id: string | null;
  /** The tool's own name. */
  name: string;
  /** Whether the tool's own schema takes the arguments now; null where that cannot be told. */
  valid: boolean | null;
  /** Every repair, in the order in which they were made. */
  repairs: Repair[];
  /**
   * What is still wrong, at most 100; empty unless `valid` is false. Text that cannot be read stays as it was answered, and is wrong
   * as a whole.
   */
  left: Left[];
  /** What is still wrong as one text, to be sent back to the model as the result of its call; null if nothing is. */
  retryMessage: string | null;
}

/** Arguments, repaired or as they were, and what is said of them. */
export interface Repaired<T> {
  /** The arguments. */
  arguments: T;
  /** Whether anything was repaired, or a text was read. */
  changed: boolean;
  /** Whether the schema takes them now; `null` where that cannot be told. */
  valid: boolean | null;
  /** Every repair, in the order in which they were made. */
  repairs: Repair[];
  /** What is still wrong, at most 100; empty unless `valid` is `false`. */
  left: Left[];
  /** What is still wrong as one text, to be sent back to the model as the result of its call; `null` if nothing is. */
  retryMessage: string | null;
}

/** One repair of arguments. It has places, names, kinds and offsets, and nothing of a value. */
export interface Repair {
  /** JSON Pointer into the arguments as answered. What stands inside a text has the place of that text. */
  pointer: string;
  /** JSON Pointer into the result; `null` if nothing is left. */
  outputPointer: string | null;
  /** The rule. */
  rule: RepairRule;
  /** `exact`: the same value in another notation. `likely`: a guess that has one valid outcome. */
  confidence: 'exact' | 'likely';
  /**
   * The kind of value that was answered; for `property-name` the name. `text` is text that was not JSON, `nothing` what was
   * missing.
   */
  from: string;
  /** The kind of value that it is now, or the name; `nothing` if it was left out. */
  to: string;
  /** For people: what was found and what became of it. */
  message: string;
}

/** What is still wrong after repairing. */
export interface Left {
  /** JSON Pointer into the result. */
  pointer: string;
  /** The keyword that refuses it; `false` for a schema that is `false`. */
  keyword: string;
  /** Why it was not repaired. */
  reason: LeftReason;
  /** For people and models: what was expected and what kind of value was found. */
  message: string;
}

/** A change, and which tool it is about. Its pointers are pointers into the lists. */
export interface ToolChange extends Change {
  /** The name that the tool's server knows. */
  tool: string;
  /** Its server; absent unless the list was one of several servers. */
  server?: string;
  /** The dialect the tool is written in. */
  dialect: Dialect;
}

/** A tool that was set aside, and why. */
export interface Quarantined {
  /** Its name, if it has one. */
  name: string | null;
  /** Its server; absent unless the list was one of several servers. */
  server?: string;
  /** JSON Pointer into the list: what cannot be accepted. */
  pointer: string;
  /** Why, in kebab-case: the code of an error of `sanitize`, or a rule about tools. */
  rule: ToolwireErrorCode | Constraint | 'tool-kind';
  /** For people: what was expected, then what was found. */
  message: string;
}

/** Something about a tool list that the API behind a dialect does not take as it is meant. */
export interface ToolViolation extends Violation {
  /** The tool's name at its server; `null` if it has none. */
  tool: string | null;
  /** Its server; absent unless the list was one of several servers. */
  server?: string;
  /** The dialect whose API does so. */
  dialect: Dialect;
  /** How sure we are: `A` official or proved, `B` one live report, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** Where the fact behind the rule was read. */
  source: string;
}

/** Something about a request as a whole that the API of a dialect refuses. */
export interface RequestViolation {
  /** The kebab-case name of the API's constraint. */
  constraint: RequestConstraint;
  /** What the API does with it. */
  severity: Severity;
  /** JSON Pointer into the request: what is at fault. */
  pointer: string;
  /** For people: what was expected, then what was found. It has no values of the request. */
  message: string;
  /** How sure we are: `A` official or proved, `B` one live report, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** The API's answer, and where it was read. */
  source: string;
}

/** A rewritten request. What was decided is determined when it is first read, for the request as it was at the time of the call. */
export interface Deferred<T> {
  /** The request. */
  request: T;
  /** Which tools were loaded and hidden, and what was odd. */
  readonly report: DeferredReport;
  /** Turns the backend's calls into the client's own: their names, and what kinds of calls they are. */
  readonly restore: Restore;
}

/** A tool as the client knows it. */
export interface ClientTool {
  /**
   * Its namespace (OpenAI Responses), if it stands in one. A tool that a search or `additional_tools` has brought stands in one of its
   * own name.
   */
  namespace?: string;
  /** Its name there. */
  name: string;
  /** What a call of it is: of a function, of a `custom` tool, or a search for tools that the client runs. */
  kind: 'function' | 'custom' | 'search';
}

/** What was decided about a request. Names stand in the order in which they first appear. */
export interface DeferredReport {
  /** Deferred tools that are in the request now. */
  loaded: string[];
  /** Deferred tools that are not. */
  hidden: string[];
  /** What was odd about the request. */
  warnings: DeferredWarning[];
  /**
   * What a call comes back as, by the name that the model calls ({@link Restore.clientCall} does it). A tool that is not in here is a function
   * of that name, in no namespace; absent if there are none.
   */
  nameMap?: { [name: string]: ClientTool };
  /** The betas that the `anthropic-beta` header has to name for what the request holds; absent if there are none. */
  betas?: string[];
  /**
   * The name of the function that replaces a tool search, if one does: the option `toolSearchName`, unless a tool is called so. It is
   * the `toolSearchName` for `answerToolSearch`.
   */
  toolSearchName?: string;
  /** Tools are hidden, no search tool is visible, and nothing announces them: the model cannot reach them. */
  unreachable: boolean;
  /** What the hidden tools would have cost, in bytes of compact JSON. */
  savedBytes: number;
}

/** Something odd about a request that did not stop it. */
export interface DeferredWarning {
  /** Its kebab-case code. */
  code: DeferredWarningCode;
  /** The tool or key it is about, where there is one. */
  name?: string;
}

/** A dialect, and why it is that one. */
export interface DialectChoice {
  /** The name that `sanitize` takes. */
  dialect: Dialect;
  /** How sure that is: `A` documented or proved, `B` one live report, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** What it rests on, in a sentence. */
  because: string;
}

/** The options of deferred loading that fit a backend, and what that rests on. */
export interface DeferralChoice {
  /** The format that the construct belongs to; `null` where there is none. */
  target: 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini-interactions' | 'bedrock' | null;
  /** Which construct of its own for deferred tools the backend has. */
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
  /** How sure that is: `A` documented or recorded, `C` inferred. */
  confidence: 'A' | 'B' | 'C';
  /** What that rests on, in a sentence. */
  because: string;
  /** The day on which it was looked up or recorded (ISO 8601). */
  checked: string;
}

/** What is known about one dialect. */
export interface DialectDescription {
  /** The name that `sanitize` takes. */
  name: Dialect;
  /** The API surface, in words. */
  surface: string;
  /** Where that surface is documented. */
  documentation: string;
  /** The day on which the facts were last checked (ISO 8601). */
  asOf: string;
  /** Raised whenever a change to the dialect alters outputs. */
  revision: number;
  /** The options of `sanitize` that this dialect has, beyond `dialect`, `allow` and `share`. */
  options: string[];
  /** How arguments may be encoded; empty where they never are. */
  encodes: string[];
  /** Size limits by name. */
  limits: { [name: string]: number };
  /**
   * What is known, with confidence (`A` official or proved, `B` one live report, `C` inferred), source, and the rules of
   * `check` and `checkTools` that rest on it.
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
  /** What is known about requests as a whole, with the rules of `checkRequest` that rest on it. */
  requests: {
    statement: string;
    confidence: 'A' | 'B' | 'C';
    source: string;
    rule: RequestConstraint;
    severity: Severity;
    /** The day on which the fact was last checked (ISO 8601). */
    checked: string;
  }[];
  /** What is known about the API's response formats beyond what is known about its tools; null if it has none. */
  response: ResponseFormat | null;
  /** What nobody has verified, or what reports contradict each other about: the table lets it through. */
  unverified: string[];
}

/** What is known about the response formats of an API. */
export interface ResponseFormat {
  /** Where the schema of the answer stands, in words. */
  surface: string;
  /** Where that is documented. */
  documentation: string;
  /** The day on which the facts were last checked (ISO 8601). */
  asOf: string;
  /** As {@link DialectDescription.facts}. */
  facts: DialectDescription['facts'];
}
