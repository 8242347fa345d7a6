import type { Change } from './report.js';

/** What can go wrong, as a closed list. */
export type ToolwireErrorCode =
  /** The text is not JSON; the message has line and column. */
  | 'invalid-json'
  /** A value that JSON cannot say: NaN, a BigInt, a cycle, a `Map`. */
  | 'invalid-value'
  /** More than 512 levels of nesting. */
  | 'too-deep'
  /** Not a JSON Schema where one is needed. */
  | 'invalid-schema'
  /** Not a request of a known format. */
  | 'invalid-request'
  /** No dialect of that name; the message lists the known ones. */
  | 'unknown-dialect'
  /** No option of that name; the message lists the known ones. */
  | 'unknown-option'
  /** An option's value is of the wrong kind, or this dialect does not have the option. */
  | 'invalid-option'
  /** The dialect cannot say this schema at all. */
  | 'not-representable'
  /** The result loses more than `allow` permits; `changes` says what. */
  | 'too-lossy'
  /** More nodes would be produced than `maxNodes` permits. */
  | 'budget-exceeded'
  /** A size limit of the dialect, or of this library, cannot be met. */
  | 'limit-exceeded'
  /** `tool_choice` forces a deferred tool, and `forcedTool` is `"error"`. */
  | 'forced-deferred-tool'
  /** A tool search without a query. */
  | 'empty-query'
  /** A tool search whose pattern is no regular expression. */
  | 'invalid-pattern'
  /** A tool search whose pattern is longer than the hosted search takes. */
  | 'pattern-too-long'
  /** The host compiles no WebAssembly: a page's Content-Security-Policy lacks `script-src 'wasm-unsafe-eval'`. In JavaScript only. */
  | 'no-webassembly'
  /** A defect of toolwire, never the caller's doing: please report it. */
  | 'internal';

/** The same symbol in every copy of this module. */
const MARK = Symbol.for('toolwire.ToolwireError');

/** An error as the core describes it. */
export interface Description {
  code: ToolwireErrorCode;
  pointer: string;
  message: string;
  changes?: Change[];
}

/**
 * The one error that toolwire throws for what it was given. (What your own getters and `toJSON` methods throw comes
 * through as it is.)
 *
 * @example
 * ```ts
 * import { sanitize, ToolwireError } from 'toolwire';
 *
 * try {
 *   sanitize(schema, { dialect: 'codex-wire' });
 * } catch (error) {
 *   if (!(error instanceof ToolwireError)) throw error;
 *   console.warn(error.message); // too-lossy at `/properties/a`: expected …
 *   if (error.code === 'too-lossy') console.table(error.changes);
 * }
 * ```
 */
export class ToolwireError extends Error {
  /** What went wrong: part of the API, unlike the message. */
  readonly code: ToolwireErrorCode;
  /** Where in the input, as a JSON Pointer (RFC 6901); `""` is the whole input. For options: where in the options. */
  readonly pointer: string;
  /** What was expected, then what was found: `message` without code and pointer. */
  declare readonly detail: string;
  /** With `too-lossy`: every change that was needed. */
  declare readonly changes?: readonly Change[];

  constructor(
    code: ToolwireErrorCode,
    pointer: string,
    detail: string,
    changes?: readonly Change[],
    options?: { cause?: unknown },
  ) {
    // A log mostly has the message and nothing else of an error.
    super(`${code}${pointer === '' ? '' : ` at \`${pointer}\``}: ${detail}`, options);
    this.code = code;
    this.pointer = pointer;
    // Whoever prints the error has read it in the message.
    Object.defineProperty(this, 'detail', { value: detail });
    if (changes !== undefined) this.changes = changes;
  }

  static {
    // Every entry is a file of its own and has a class of its own, and so has each module system. `instanceof` goes by this
    // mark, so that an error of one is an error of all; of subclasses, which users make, there is only the one.
    Object.defineProperty(ToolwireError.prototype, MARK, { value: true });
    Object.defineProperty(ToolwireError, Symbol.hasInstance, {
      value(this: unknown, value: unknown): boolean {
        if (this !== ToolwireError)
          return Function.prototype[Symbol.hasInstance].call(this as typeof ToolwireError, value);
        return typeof value === 'object' && value !== null && MARK in value;
      },
    });
    // Bundlers give classes other names, and this one is printed.
    Object.defineProperty(ToolwireError, 'name', { value: 'ToolwireError', configurable: true });
    // On the prototype, like the names of the built-in errors.
    Object.defineProperty(ToolwireError.prototype, 'name', {
      value: 'ToolwireError',
      configurable: true,
      writable: true,
    });
  }
}

/**
 * The error of a defect of ours: a trap of the WebAssembly, or an exhausted stack. core/src/error.rs has the same words.
 *
 * @param found - What was thrown, or what is known of it.
 * @param next - What the caller can do.
 */
export function internal(found: unknown, next: string): ToolwireError {
  const known = found instanceof Error ? `${found.name}: ${found.message}` : String(found);
  const message =
    `expected every call to end with a result or an error, found a defect of toolwire (${known}); ${next}. ` +
    'Please report it with the name of the function, its options, an input that shows it and the version, at ' +
    'https://github.com/toolwire/toolwire/issues, or as SECURITY.md says if others could make use of it';
  return new ToolwireError('internal', '', message, undefined, { cause: found });
}
