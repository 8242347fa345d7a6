/**
 * Toolwire in this thread: the library, and the engine of the command line, for which the page is a host like Node and Python. The engine
 * reads inputs and judges lists, so the page has no reader and no verdicts of its own.
 */

import { newGlue } from 'toolwire/command-glue';
import { init } from 'toolwire/slim';

import type { Reading, Refused } from '../document/document.js';

/** The compiled WebAssembly. Threads share it. */
export interface Modules {
  library: WebAssembly.Module;
  command: WebAssembly.Module;
}

/** The output of a command. */
export interface Printed {
  stdout: string;
  stderr: string;
  code: number;
}

const glue = newGlue();

/** Starts both engines. Call it before any other function. */
export function begin({ library, command }: Modules): void {
  init(library);
  glue.initSync({ module: command });
}

/** Describes text as the command line reads it. */
export function readingOf(text: string): Reading | Refused {
  return JSON.parse(glue.CommandLine.reading(encoded(text)));
}

/** Runs a command on text. The command receives only the text: every file is missing, and nothing else is available. */
export function run(words: readonly string[], text: string): Printed {
  const command = new glue.CommandLine(JSON.stringify({ arguments: words }));
  for (let need = command.need(); need !== undefined; need = command.need()) {
    if (need[0] === 'input') command.give(encoded(text));
    else command.fail('ENOENT');
  }
  while (command.step() !== undefined);
  const [stdout = '', stderr = '', code] = command.finish();
  return { stdout, stderr, code: Number(code) };
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
