// Programs that tests run and that this repository does not pin. A failed test names the program and its version, because
// an update of the machine may be the cause.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { test } from 'node:test';

class Program {
  /** The reason why the tests cannot run here, for `describe`; `false` if they can. */
  skip;
  path;
  #version;

  /** @param names - Names of the program, or absolute paths. The first program that runs is used. */
  constructor(title, names) {
    for (const path of names.flatMap(paths)) {
      try {
        this.#version = execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' }).trim();
        this.path = path;
        break;
      } catch {
        // Not a program that runs here.
      }
    }
    this.skip = this.path === undefined && `no ${title} on the PATH`;
  }

  /** Runs a function that depends on the program. */
  async run(body) {
    try {
      return await body();
    } catch (cause) {
      throw new Error(`failed with ${this.#version}, a version that this repository does not pin`, { cause });
    }
  }

  /** Same as `test` of Node, for a test that depends on the program. */
  test = (name, body) => test(name, (context) => this.run(() => body(context)));
}

/** Returns the existing files to which a name may refer. */
function paths(name) {
  const folders = isAbsolute(name) ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => (folder === '' ? name : join(folder, name))).filter((path) => existsSync(path));
}

export const chromium = new Program(
  'Chromium',
  [process.env.TOOLWIRE_CHROMIUM, 'chromium', 'google-chrome', 'chromium-browser'].filter(Boolean),
);
