import type { ToolwireErrorCode } from './error-code.js';
import type { Change } from './report.js';

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
 * The only error class that toolwire throws for invalid input. (Errors that your own getters and `toJSON` methods throw are passed
 * through unchanged.)
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
  /** The code, which is part of the API, unlike the message. */
  readonly code: ToolwireErrorCode;
  /** JSON Pointer (RFC 6901) into the input, or into the options for errors about options; `""` is the whole input. */
  readonly pointer: string;
  /** The message without code and pointer: what was expected, then what was found. */
  declare readonly detail: string;
  /** With `too-lossy`: every change that would have been made. */
  declare readonly changes?: readonly Change[];

  constructor(
    code: ToolwireErrorCode,
    pointer: string,
    detail: string,
    changes?: readonly Change[],
    options?: { cause?: unknown },
  ) {
    // Logs often contain only an error's message.
    super(`${code}${pointer === '' ? '' : ` at \`${pointer}\``}: ${detail}`, options);
    this.code = code;
    this.pointer = pointer;
    // Not enumerable, because printing the error already prints the message, which contains it.
    Object.defineProperty(this, 'detail', { value: detail });
    if (changes !== undefined) this.changes = changes;
  }

  static {
    // Each entry point and each module system has its own copy of this class. `instanceof` uses this mark, so that it recognizes errors
    // of every copy. Subclasses, which users write, exist once, so they use the ordinary `instanceof`.
    Object.defineProperty(ToolwireError.prototype, MARK, { value: true });
    Object.defineProperty(ToolwireError, Symbol.hasInstance, {
      value(this: unknown, value: unknown): boolean {
        if (this !== ToolwireError)
          return Function.prototype[Symbol.hasInstance].call(this as typeof ToolwireError, value);
        return typeof value === 'object' && value !== null && MARK in value;
      },
    });
    // Bundlers rename classes, and this name is printed.
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
 * Returns the error for a defect in toolwire: a trap of the WebAssembly, or a stack overflow.
 * core/src/error.rs has the same text.
 *
 * @param found - The thrown value, or a description.
 * @param next - Advice to the caller.
 */
export function internal(found: unknown, next: string): ToolwireError {
  const known = found instanceof Error ? `${found.name}: ${found.message}` : String(found);
  const message =
    `expected every call to end with a result or an error, found a defect in toolwire (${known}); ${next}. ` +
    'Please report it with the name of the function, its options, an input that shows it and the version, at ' +
    'https://github.com/toolwire/toolwire/issues, or privately (see SECURITY.md) if others could make use of it';
  return new ToolwireError('internal', '', message, undefined, { cause: found });
}
