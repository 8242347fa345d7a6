#!/usr/bin/env node
/**
 * The program `toolwire`. What it does is in the core; here is input and output: files, standard input, an MCP server's tools,
 * what is a terminal, and the exit code.
 */

import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { CommandLine } from './engine.js';
import { ServerFailure, stopServer, toolsOf } from './server.js';

const VARIABLES = ['NO_COLOR', 'FORCE_COLOR', 'TERM'];
const UNUSABLE = 2;
/** As shells give it for programs that a signal ended. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** The output cannot be written. */
function unwritten(error: NodeJS.ErrnoException): void {
  // Whoever reads it has had enough, `head` for instance: that is no error, and there is nobody to tell.
  if (error.code === 'EPIPE') process.exit();
  // Not through the stream, which may be the one that failed.
  try {
    writeSync(
      2,
      `toolwire: expected an output that can be written, found one that cannot (${error.code ?? error.message})\n`,
    );
  } catch {
    // The exit code says it.
  }
  process.exit(UNUSABLE);
}

function facts(): string {
  return JSON.stringify({
    arguments: process.argv.slice(2),
    stdin: process.stdin.isTTY === true,
    stdout: process.stdout.isTTY === true,
    stderr: process.stderr.isTTY === true,
    columns: process.stdout.columns,
    environment: Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]])),
  });
}

async function input(): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** What is needed, as bytes. */
async function got([kind, ...words]: string[]): Promise<Uint8Array> {
  if (kind === 'server') {
    const names = Number(words[0]);
    const tools = await toolsOf(words.slice(1 + names), words.slice(1, 1 + names));
    return Buffer.from(JSON.stringify({ tools }));
  }
  return kind === 'file' ? readFile(words[0] ?? '') : input();
}

async function main(): Promise<void> {
  const command = new CommandLine(facts());
  for (let need = command.need(); need !== undefined; need = command.need()) {
    try {
      command.give(await got(need));
    } catch (error) {
      if (error instanceof ServerFailure) process.stderr.write(CommandLine.heard(error.log));
      const { code, message } = error as NodeJS.ErrnoException;
      command.fail(code ?? message);
    }
  }
  for (let shown = command.step(); shown !== undefined; shown = command.step()) {
    if (shown !== '') process.stderr.write(shown);
    // Between two steps there is time for Ctrl-C.
    await setImmediate();
  }
  const [stdout, stderr, code] = command.finish();
  // Not `process.exit`: what is written to a pipe has to arrive.
  process.exitCode = Number(code);
  if (stdout) process.stdout.write(stdout);
  if (stderr) process.stderr.write(stderr);
}

process.stdout.on('error', unwritten);
process.stderr.on('error', unwritten);
for (const [signal, code] of Object.entries(SIGNALS)) {
  process.once(signal, () => {
    stopServer();
    process.exit(code);
  });
}
main().catch((error: Error) => {
  process.exitCode = UNUSABLE;
  const found = CommandLine.heard(error.message).trimEnd();
  process.stderr.write(
    `toolwire: internal: found a defect of toolwire (${found}). Please report it with the command line and an input that shows it at ` +
      'https://github.com/toolwire/toolwire/issues, or as SECURITY.md says if others could make use of it\n',
  );
});
