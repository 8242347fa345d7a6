#!/usr/bin/env node
/**
 * The program `toolwire`. The core does the work; this file handles input and output: files, standard input, MCP
 * servers' tools, APIs' answers, terminals, and the exit code.
 */

import { createHash, randomBytes } from 'node:crypto';
import { constants, type Dirent, type Stats, writeSync } from 'node:fs';
import { chmod, lstat, open, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setImmediate } from 'node:timers/promises';
import { answerOf } from './api.js';
import { CommandLine } from './engine.js';
import { listened } from './listen.js';
import { proxied, stopServers } from './proxy.js';
import { relayed, stopRelay } from './relay.js';
import { ServerFailure, stopServer, toolsOf } from './server.js';

const VARIABLES = ['NO_COLOR', 'FORCE_COLOR', 'TERM'];
const UNUSABLE = 2;
/** Maximum size of a file, in bytes. */
const MAX_FILE = 2 ** 31 - 1;
/** Exit codes for signals, as shells report them. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;

/** The first error that occurred when output was written. */
let unwritten: NodeJS.ErrnoException | undefined;

let isSignalled = false;

/** Digests of the files that were read. The keys are their paths, with symbolic links resolved. */
const digests = new Map<string, string>();

function failed(error: NodeJS.ErrnoException): void {
  // `EPIPE` means that the reader, for instance `head`, has stopped reading. That is not an error: neither the exit
  // code nor other output changes.
  if (error.code !== 'EPIPE') unwritten ??= error;
}

/** Exits once all output is written, even if a server's child process keeps the pipes open. */
async function end(): Promise<void> {
  const isWritten = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write('', () => resolve()));
  await Promise.all([process.stdout, process.stderr].map(isWritten));
  // The signal handler exits once all child processes have ended.
  if (isSignalled) return;
  if (unwritten !== undefined) {
    process.exitCode = UNUSABLE;
    const { code, message } = unwritten;
    // Writes to the descriptor, because the stream may be the one that failed.
    try {
      writeSync(2, `toolwire: expected a writable output, found one that fails (${code ?? message})\n`);
    } catch {
      // The exit code reports the failure.
    }
  }
  process.exit();
}

/** Returns today's local date, as 2026-11-23. */
function today(): string {
  const now = new Date();
  const two = (number: number) => String(number).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

function facts(): string {
  return JSON.stringify({
    arguments: process.argv.slice(2),
    stdin: process.stdin.isTTY === true,
    stdout: process.stdout.isTTY === true,
    stderr: process.stderr.isTTY === true,
    columns: process.stdout.columns,
    date: today(),
    environment: Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]])),
    folder: folder(),
    // `npx` is a script, which Windows cannot start without a shell.
    program: [...(process.platform === 'win32' ? ['cmd', '/c'] : []), 'npx', '-y', 'toolwire'],
  });
}

/** Returns the working directory, or undefined if it was deleted. */
function folder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

async function input(): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Returns the names in a folder. Folders are marked with a trailing `/`, links to folders with `//`. */
async function listed(folder: string): Promise<string[]> {
  const entries = await readdir(folder === '' ? '.' : folder, { withFileTypes: true });
  const name = async (entry: Dirent) => {
    if (entry.isDirectory()) return `${entry.name}/`;
    return entry.isSymbolicLink() && (await isFolder(join(folder, entry.name))) ? `${entry.name}//` : entry.name;
  };
  return Promise.all(entries.map(name));
}

/** Prompts the user for a line. Returns an empty string if standard input is not a terminal. */
async function line(question: string): Promise<string> {
  if (process.stdin.isTTY !== true) return '';
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // A dangling link.
    return false;
  }
}

/**
 * Reads a regular file, up to the length that it had when it was opened. Throws for anything without a length, such as
 * a device or a pipe. Files in `/proc` report the length 0, so they are read as empty.
 */
async function regular(path: string): Promise<Uint8Array> {
  // Without `O_NONBLOCK`, opening a pipe would wait for its other end. Windows does not have this flag.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    if (found.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    if (!found.isFile()) throw Object.assign(new Error('not a regular file'), { code: 'ENOTREG' });
    if (found.size > MAX_FILE) throw Object.assign(new Error('too large'), { code: 'EFBIG' });
    const content = Buffer.alloc(found.size);
    let length = 0;
    while (length < content.length) {
      const { bytesRead } = await file.read(content, length, content.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return content.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** Resolves the symbolic links in a path. Returns the path itself if there is no such file. */
function unlinked(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function digestOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Keeps the digest of a file's content, and returns the content. */
async function noted<Content extends Uint8Array | string>(path: string, content: Content): Promise<Content> {
  digests.set(await unlinked(path), digestOf(content));
  return content;
}

/** Provides one of the needs of a command (command/src/need.rs), as bytes. */
async function got([kind, ...words]: string[]): Promise<Uint8Array> {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  switch (kind) {
    case 'server':
      return json({ tools: await toolsOf(JSON.parse(words[0] ?? '')) });
    case 'request':
      return json(await answerOf(JSON.parse(words[0] ?? '')));
    case 'proxy':
      await (isListening(words[0] ?? '') ? listened : proxied)(words[0] ?? '');
      return Buffer.alloc(0);
    case 'line':
      return Buffer.from(await line(words[0] ?? ''));
    case 'relay':
      await relayed(words[0] ?? '');
      return Buffer.alloc(0);
    case 'set':
      return json(words.filter((name) => process.env[name]?.trim()));
    case 'folder':
      return json(await listed(words[0] ?? ''));
    case 'variables':
      return json(Object.fromEntries(words.map((name) => [name, process.env[name]])));
    case 'file':
      return noted(words[0] ?? '', await readFile(words[0] ?? ''));
    case 'regular-file':
      return noted(words[0] ?? '', await regular(words[0] ?? ''));
    default:
      return input();
  }
}

/** Returns true if a proxy with these settings serves HTTP. */
function isListening(settings: string): boolean {
  return (JSON.parse(settings) as { listen: unknown }).listen !== null;
}

/** Like {@link got}, but shows the core's progress while it waits for a server or an API. */
async function watched(command: InstanceType<typeof CommandLine>, need: string[]): Promise<Uint8Array> {
  if (need[0] !== 'server' && need[0] !== 'request') return got(need);
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    process.stderr.write(command.waiting(seconds));
  }, 1000);
  try {
    return await got(need);
  } finally {
    clearInterval(timer);
    if (seconds > 0) process.stderr.write(command.waiting(0));
  }
}

async function main(): Promise<void> {
  const command = new CommandLine(facts());
  for (let need = command.need(); need !== undefined; need = command.need()) {
    try {
      command.give(await watched(command, need));
    } catch (error) {
      if (error instanceof ServerFailure) process.stderr.write(CommandLine.heard(error.log));
      const { code, message } = error as NodeJS.ErrnoException;
      command.fail(code ?? message);
    }
  }
  for (let shown = command.step(); shown !== undefined; shown = command.step()) {
    if (shown !== '') process.stderr.write(shown);
    // Gives the event loop time to handle Ctrl-C.
    await setImmediate();
  }
  const [stdout, stderr, code, ...files] = command.finish();
  process.exitCode = Number(code);
  if (stdout) process.stdout.write(stdout);
  if (stderr) process.stderr.write(stderr);
  // If a backup cannot be written, the file that it is for is left unchanged. Other files are written.
  const withoutBackup = new Set<string>();
  for (let at = 0; at < files.length; at += 4) {
    const [path = '', content = '', confined = '', like = ''] = files.slice(at, at + 4);
    if (withoutBackup.has(path)) continue;
    const isWritten = await written(path, content, confined, like);
    if (!isWritten && like !== path) withoutBackup.add(like);
  }
}

/** The error for a file that has changed since it was read. */
class Changed extends Error {}

/**
 * Writes a file, and reports a failure on standard error. Returns true if the file was written.
 *
 * @param confined - Suffix of the path in which no link is followed.
 * @param like - File whose permissions the written file gets. If it is given, the write fails if that file has changed
 * since it was read.
 */
async function written(path: string, content: string, confined: string, like: string): Promise<boolean> {
  try {
    await refuseLinks(path, confined);
    if (like === '' && (await isInPlace(path))) {
      await overwritten(path, content, confined);
    } else {
      await replaced(confined === '' ? await unlinked(path) : path, content, like).catch((error) => {
        if (like !== '' || !IN_PLACE.includes(error.code)) throw error;
        return overwritten(path, content, confined);
      });
    }
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    process.exitCode = UNUSABLE;
    const where = CommandLine.heard(path).trimEnd();
    const why =
      error instanceof Changed
        ? 'expected an unchanged file, found one that has changed since it was read'
        : like !== '' && IN_PLACE.includes(code ?? '')
          ? `expected a file that can be replaced, found one that cannot (${code})`
          : `expected a writable file, found one that is not (${code ?? message})`;
    process.stderr.write(`toolwire: ${where}: ${why}\n`);
    return false;
  }
}

/** Errors if a file may be writable, but cannot be replaced: its folder is not writable, or it is a mount point in a container. */
const IN_PLACE = ['EACCES', 'EBUSY', 'EPERM'];

async function overwritten(path: string, content: string, confined: string): Promise<void> {
  // Windows does not have this flag.
  const noFollow = confined === '' ? 0 : (constants.O_NOFOLLOW ?? 0);
  await writeFile(path, content, { flag: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | noFollow });
}

/** Returns true for a device or a pipe, and for a link without a target, which a rename would remove. */
async function isInPlace(path: string): Promise<boolean> {
  const target = await statOf(path);
  return target === undefined ? (await statOf(path, lstat)) !== undefined : !target.isFile();
}

/** Returns the metadata of a file; undefined if there is no such file. */
async function statOf(path: string, read: (path: string) => Promise<Stats> = stat): Promise<Stats | undefined> {
  try {
    return await read(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes a temporary file next to the target, which is no link, and renames it. If the program is killed or the disk is
 * full, the target is unchanged.
 */
async function replaced(place: string, content: string, like: string): Promise<void> {
  const mode = like === '' ? (await statOf(place))?.mode : (await stat(like)).mode;
  const beside = `${place}.${randomBytes(8).toString('hex')}.tmp`;
  // Opened before the `try`, so that another program's file with this name is not removed.
  const file = await open(beside, 'wx', mode === undefined ? 0o666 : 0o600);
  try {
    try {
      await file.writeFile(content);
      // Otherwise the name could reach the disk before the content does.
      await file.sync();
    } finally {
      await file.close();
    }
    if (mode !== undefined) await chmod(beside, mode & 0o777);
    // Checked as late as possible, because nothing locks the file. Compares the content, because
    // time and size do not show every change.
    if (like !== '' && digestOf(await regular(like)) !== digests.get(await unlinked(like))) throw new Changed();
    await rename(beside, place);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await noted(place, content);
}

/** Throws if a folder or the file in the suffix is a symbolic link or a junction. */
async function refuseLinks(path: string, confined: string): Promise<void> {
  if (confined === '') return;
  let at = path.slice(0, path.length - confined.length);
  for (const step of confined.split('/')) {
    at += step;
    let isLink = false;
    try {
      isLink = (await lstat(at)).isSymbolicLink();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    if (isLink) throw Object.assign(new Error('a symbolic link'), { code: 'ELOOP' });
    at += '/';
  }
}

process.stdout.on('error', failed);
process.stderr.on('error', failed);
for (const [signal, code] of Object.entries(SIGNALS)) {
  process.once(signal, () => {
    isSignalled = true;
    stopServer();
    Promise.all([stopServers(), stopRelay()]).finally(() => process.exit(code));
  });
}
main()
  .catch((error: Error) => {
    process.exitCode = UNUSABLE;
    const found = CommandLine.heard(error.message).trimEnd();
    process.stderr.write(
      `toolwire: internal: found a defect in toolwire (${found}). Please report it with the command line and an input that shows it at ` +
        'https://github.com/toolwire/toolwire/issues, or privately (see SECURITY.md) if others could make use of it\n',
    );
  })
  .finally(end);
