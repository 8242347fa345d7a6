/** Log and report of long-running commands. */

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Maximum size of the unread log, in bytes. Further lines are left out. */
export const MAX_LOG = 1 << 20;

/** The log, on standard error. */
export class Log {
  /** Warns that lines are missing from the report. */
  readonly reportFailed = (code: string) => {
    this.write(`toolwire: the report has lines missing: expected a writable file, found a write error (${code})`);
  };

  /** Number of lines left out since the last line that was written. */
  #leftOut = 0;

  /** Writes a line, or leaves it out if too much of the log is unread. */
  write(line: string): void {
    if (process.stderr.writableLength > MAX_LOG) {
      this.#leftOut += 1;
      return;
    }
    if (this.#leftOut > 0) process.stderr.write(`toolwire: ${this.#leftOut} lines of the log are left out\n`);
    this.#leftOut = 0;
    process.stderr.write(`${line}\n`);
  }
}

/** The report, if one is wanted. Its lines are appended to a regular file, which must not be a link. */
export class ReportFile {
  readonly #file: number | undefined;
  #hasFailed = false;

  /** @param failed - Called for the first line that cannot be written, for instance because the disk is full. */
  constructor(
    path: string | null,
    readonly failed: (code: string) => void,
  ) {
    if (path === null) return;
    const { O_WRONLY, O_CREAT, O_APPEND } = constants;
    // Windows does not have these flags.
    const safe = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    this.#file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | safe, 0o666);
    if (fstatSync(this.#file).isFile()) return;
    closeSync(this.#file);
    throw Object.assign(new Error('not a regular file'), { code: 'ENOTREG' });
  }

  write(line: string): void {
    if (this.#file === undefined) return;
    try {
      writeSync(this.#file, `${line}\n`);
    } catch (error) {
      if (!this.#hasFailed) this.failed((error as NodeJS.ErrnoException).code ?? 'unknown');
      this.#hasFailed = true;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}
