/** Log and report of long-running commands. */

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Maximum size of the log that has not been read yet, in bytes: the lines behind it are left out. */
export const MOST_LOG = 1 << 20;

/** The log. */
export class Log {
  /** Warns that the report lacks lines. */
  readonly reportFailed = (code: string) => {
    this.write(
      `toolwire: the report has lines missing: expected a file that can be written, found one that cannot (${code})`,
    );
  };

  /** Lines that were left out. */
  #leftOut = 0;

  /** Writes a line, if somebody reads. */
  write(line: string): void {
    if (process.stderr.writableLength > MOST_LOG) {
      this.#leftOut += 1;
      return;
    }
    if (this.#leftOut > 0) process.stderr.write(`toolwire: ${this.#leftOut} lines of the log are left out\n`);
    this.#leftOut = 0;
    process.stderr.write(`${line}\n`);
  }
}

/** The report, if one is wanted: a regular file that is no link, to which lines are added. */
export class ReportFile {
  readonly #file: number | undefined;
  #hasFailed = false;

  /** @param failed - Is told once if a line cannot be written, for instance because the disk is full. */
  constructor(
    path: string | null,
    readonly failed: (code: string) => void,
  ) {
    if (path === null) return;
    const { O_WRONLY, O_CREAT, O_APPEND } = constants;
    // Not on Windows, which has none of them.
    const safe = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    this.#file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | safe, 0o666);
    if (fstatSync(this.#file).isFile()) return;
    closeSync(this.#file);
    throw Object.assign(new Error('no regular file'), { code: 'ENOTREG' });
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
