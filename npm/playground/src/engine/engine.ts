/**
 * Runs toolwire in this thread: the library, and the command-line engine, which the page hosts as the native program does. The engine parses
 * inputs and checks tool lists, so the page implements neither.
 */

import { CommandLine, initSync } from 'toolwire/command';
import type { Change } from 'toolwire/slim';
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

/** The effects of a change. */
export type Effects = Pick<Change, 'rule' | 'accepts' | 'guidance' | 'encoded'>;

/** Starts both engines. Call it before any other function. */
export function begin({ library, command }: Modules): void {
  init(library);
  initSync({ module: command });
}

/** Describes text as the command line reads it. */
export function readingOf(text: string): Reading | Refused {
  return JSON.parse(CommandLine.reading(encoded(text)));
}

/** Returns the outcome of a change in the words of `toolwire matrix`. */
export function outcomeOfChange({ rule, accepts, guidance, encoded }: Effects): string {
  return CommandLine.outcome(JSON.stringify({ rule, accepts, guidance, encoded })) ?? 'refused';
}

/** Runs a command on text. The command receives only the text: every file is missing, and nothing else is available. */
export function run(words: readonly string[], text: string): Printed {
  const command = new CommandLine(JSON.stringify({ arguments: words }));
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
