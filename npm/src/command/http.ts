/** What the servers of HTTP share: `toolwire relay`, and `toolwire proxy --listen`. */

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import * as zlib from 'node:zlib';

/** How long the rest of a request is drained after an early answer, in milliseconds. */
const LINGER = 10_000;
/** Maximum size of the head of a request or a reply, in bytes. */
export const MOST_HEAD = 1 << 16;
/** Maximum request number; numbering then restarts at 1. */
const LAST = 0xffff_ffff;
const SILENT = 'expected the whole request in time, found a part of it';

/** Headers, each a name and a value. */
export type Pairs = [string, string][];

/** Where a program listens, and the variable of the environment with the token that clients send. */
export interface Listening {
  listen: { host: string; port: number };
  token: string | null;
}

/** A body that cannot be read, and the status that says so. */
export class Unreadable extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function tokenOf({ token }: Listening): string | undefined {
  if (token === null) return undefined;
  const found = process.env[token]?.trim();
  if (found) return found;
  throw new Error(`expected a token in the variable ${token} of the environment, found none`);
}

/** Begins to listen; gives `HOST:PORT`. */
export async function listening(server: Server, { host, port }: Listening['listen']): Promise<string> {
  const where = host.includes(':') ? `[${host}]` : host;
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`expected an address at which it can listen, found ${where}:${port} (${code})`);
  }
  return `${where}:${(server.address() as AddressInfo).port}`;
}

/** The number of the next request. */
export function following(number: number): number {
  return number === LAST ? 1 : number + 1;
}

/** Headers as pairs. */
export function pairs(raw: string[]): Pairs {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? '']);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Whether the client has not sent its whole request. */
export function isEarly(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete;
}

/** Calls `over` once, when a response is complete or its connection has ended. Returns a function that prevents it. */
export function onceOver({ socket }: IncomingMessage, response: ServerResponse, over: () => void): () => void {
  const stop = () => {
    response.off('close', done);
    socket.off('close', done);
  };
  const done = () => {
    stop();
    over();
  };
  response.once('close', done);
  // Each request of a connection may wait here.
  socket.setMaxListeners(0);
  // A response that waits for the one before it on its connection is not closed with the connection.
  socket.once('close', done);
  return stop;
}

/** A bound for bodies that are being read at once, in bytes. */
export class Room {
  #taken = 0;

  constructor(readonly most: number) {}

  take(length: number): void {
    if (this.#taken + length > this.most) throw new Unreadable(503, 'expected fewer large bodies at once, found more');
    this.#taken += length;
  }

  free(length: number): void {
    this.#taken -= length;
  }
}

/** How long a body may take, in seconds (0: for ever), and the room for it and others. */
export interface Limits {
  /** For each piece. */
  piece?: number;
  whole?: number;
  room?: Room;
}

/** Ends a reply. The client may read it only after it has sent everything, so the rest of its request is drained first. */
export async function ended(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (isEarly(request) && !response.destroyed) {
    const drained = new Promise<void>((resolve) => {
      request.once('end', resolve).once('close', resolve).resume();
    });
    const limit = new AbortController();
    await Promise.race([drained, after(LINGER, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
  }
  response.end();
}

/** A whole body, without its content encoding. */
export async function wholeOf(
  stream: Readable,
  most: number,
  encoding: string | null,
  { piece = 0, whole = 0, room }: Limits,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  // The connection is not ended: the client is to read an answer.
  const iterator = unpacked(stream, encoding).iterator({ destroyOnReturn: false });
  let timer: NodeJS.Timeout | undefined;
  let held = 0;
  const silence = new Promise<never>((_, reject) => {
    const patience = piece || whole;
    if (patience > 0) timer = setTimeout(() => reject(new Unreadable(408, SILENT)), patience * 1000);
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), silence]);
      if (done) break;
      if (piece > 0) timer?.refresh();
      length += (value as Buffer).length;
      if (length > most) throw new Unreadable(413, `expected a body of at most ${most} bytes, found a larger one`);
      room?.take((value as Buffer).length);
      held = length;
      pieces.push(value as Buffer);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (encoding === null || !/^(Z_|ERR_|ZSTD_)/.test(code ?? '')) throw error;
    throw new Unreadable(400, `expected a body with the content encoding ${encoding}, found another (${code})`);
  } finally {
    clearTimeout(timer);
    room?.free(held);
    // Otherwise the iterator keeps a stream from being drained that was not read to its end.
    void iterator.return?.();
  }
  return Buffer.concat(pieces);
}

/** A stream without its content encoding. */
export function unpacked(stream: Readable, encoding: string | null): Readable {
  if (encoding === null) return stream;
  const unpack = unpacker(encoding);
  unpack.once('error', () => stream.unpipe(unpack));
  stream.once('error', (error) => unpack.destroy(error));
  stream.once('close', () => {
    if (!stream.readableEnded) unpack.destroy(new Error('ECONNRESET'));
  });
  return stream.pipe(unpack);
}

function unpacker(encoding: string): Transform {
  if (encoding === 'br') return zlib.createBrotliDecompress();
  if (encoding !== 'zstd') return zlib.createUnzip();
  // Since Node 22.15.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress === undefined) {
    throw new Unreadable(415, 'expected another content encoding than zstd, which this version of Node does not have');
  }
  return createZstdDecompress();
}
