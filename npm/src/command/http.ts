/** Functions that both HTTP servers share: `toolwire relay` and `toolwire proxy --listen`. */

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import * as zlib from 'node:zlib';

/** Maximum time for draining the rest of a request after an early answer, in milliseconds. */
const LINGER = 10_000;
/**
 * Lifetime of a client's idle connection, in milliseconds. Clients should close first, because a request may meet the
 * server's close: Go and reqwest keep idle connections for 90 s.
 */
export const IDLE = 120_000;
/** Maximum size of the head of a request or a reply, in bytes. */
export const MAX_HEAD = 1 << 16;
/** Maximum request number, after which numbering restarts at 1. */
const LAST = 0xffff_ffff;
const SILENT = 'expected the whole request in time, found a part of it';

/** Headers as pairs of name and value. */
export type Pairs = [string, string][];

/** Address at which a program listens, and the environment variable with the token that clients send. */
export interface Listening {
  listen: { host: string; port: number };
  token: string | null;
}

/** Error for a body that cannot be read, with the HTTP status that reports it. */
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

/** Starts to listen, and returns `HOST:PORT`. */
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

/** Returns the number of the next request. */
export function following(number: number): number {
  return number === LAST ? 1 : number + 1;
}

/** Converts Node's raw headers to pairs. */
export function pairs(raw: string[]): Pairs {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? '']);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Returns true if the client has not sent its whole request yet. */
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
  // Every pending request of a connection adds a listener.
  socket.setMaxListeners(0);
  // Node emits no `close` for a response that is queued behind another one when the connection closes.
  socket.once('close', done);
  return stop;
}

/** Counts the bytes of the bodies that are being read. */
export interface Counter {
  /** Throws if there are too many. */
  take(length: number): void;
  free(length: number): void;
}

/** Limits the total size of the bodies that are being read at the same time, in bytes. */
export class Room implements Counter {
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

/** Time limits for a body, in seconds (0: none), and the counter of its bytes. */
export interface Limits {
  /** Time limit for each piece. It takes precedence over `whole`. */
  piece?: number;
  whole?: number;
  room?: Counter;
}

/** Ends a reply. A client may read it only after sending the whole request, so the rest is drained first. */
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

/** Reads a whole body, and decodes its content encoding. */
export async function wholeOf(
  stream: Readable,
  most: number,
  encoding: string | null,
  { piece = 0, whole = 0, room }: Limits,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  // The stream is not destroyed after an error, because the client still has to receive an answer.
  const iterator = unpacked(stream, encoding).iterator({ destroyOnReturn: false });
  let timer: NodeJS.Timeout | undefined;
  let reserved = 0;
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
      reserved = length;
      pieces.push(value as Buffer);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (encoding === null || !/^(Z_|ERR_|ZSTD_)/.test(code ?? '')) throw error;
    throw new Unreadable(400, `expected a body with the content encoding ${encoding}, found another (${code})`);
  } finally {
    clearTimeout(timer);
    room?.free(reserved);
    // Without this, the iterator would keep a stream that was not read to its end from being
    // drained.
    void iterator.return?.();
  }
  return Buffer.concat(pieces);
}

/** Returns a stream that decodes a content encoding. */
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
  // Exists since Node 22.15.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress === undefined) {
    throw new Unreadable(415, 'expected a content encoding other than zstd, which this version of Node does not have');
  }
  return createZstdDecompress();
}
