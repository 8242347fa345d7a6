#!/usr/bin/env node
// Starts the program of this platform, which npm installs as an optional dependency. With `process.execve`, the program replaces Node;
// otherwise Node waits for it, forwards signals, and exits with its status.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';

import { PLATFORMS, packageOf } from '../scripts/platforms.js';

/** Exit code of a program that could not be started. */
const UNSTARTED = 2;

const isWindows = process.platform === 'win32';
const platform = { name: `${process.platform}-${process.arch}` };
const name = packageOf(platform);
/** The command that starts the program again, which `--install` writes. `npx` is a script, which Windows cannot start without a shell. */
const TOOLWIRE_PROGRAM = JSON.stringify([...(isWindows ? ['cmd', '/c'] : []), 'npx', '-y', 'toolwire']);
const env = { ...process.env, TOOLWIRE_PROGRAM };
const args = process.argv.slice(2);

const path = findProgram();
if (path === undefined) {
  const advice = PLATFORMS.some((known) => known.name === platform.name)
    ? 'install toolwire again, with optional dependencies'
    : 'this platform has none: `cargo install toolwire-cli` compiles the program';
  console.error(`toolwire: expected the package ${name}, found none: ${advice}`);
  process.exitCode = UNSTARTED;
} else if (typeof process.execve === 'function' && !isWindows) {
  process.execve(path, [path, ...args], env);
} else {
  runAndWait(() => spawn(path, args, { env, stdio: 'inherit' }));
}

/** Returns the path of the program, or undefined if its package is not installed. */
function findProgram() {
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/toolwire${isWindows ? '.exe' : ''}`);
  } catch {
    return undefined;
  }
}

function runAndWait(start) {
  let child;
  // A signal may arrive as soon as the program runs, so the handlers are installed before. A terminal sends a signal to both processes, so
  // the program receives it twice; it acts on the first. On Windows, the console does the same, and `kill` would end the program without
  // its servers.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'])
    if (signal in constants.signals) process.on(signal, () => isWindows || child.kill(signal));
  child = start();
  child.on('error', ({ message }) => {
    console.error(`toolwire: could not start the program: ${message}`);
    process.exitCode = UNSTARTED;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
    } else {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
  });
}
