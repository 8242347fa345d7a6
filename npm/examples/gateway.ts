// A gateway for any client: it rewrites the request's body for the backend, and the reply for the client.

import { createServer, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ToolwireError } from 'toolwire';
import { type FetchOptions, toolwireFetch } from 'toolwire/fetch';

/** Headers that belong to one connection, and headers that `fetch` sets itself. */
const HOP = ['accept-encoding', 'connection', 'content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding'];

/** Maximum size of a body in bytes, larger than any API accepts, because it is held in memory. */
const LARGEST = 64 * 1024 * 1024;

class TooLarge extends Error {}

export function gateway(backend: string, options: FetchOptions, largest = LARGEST) {
  const fetch = toolwireFetch(options);
  return createServer(async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      // Following a redirect would send the client's key to another host.
      const init: RequestInit = { ...(await forwarded(request, largest)), redirect: 'error', signal: gone.signal };
      const reply = await fetch(target(backend, request), init);
      const headers = [...reply.headers].filter(([name]) => ![...HOP, 'content-encoding'].includes(name));
      response.writeHead(reply.status, Object.fromEntries(headers));
      if (reply.body === null) response.end();
      else await pipeline(Readable.fromWeb(reply.body as import('node:stream/web').ReadableStream), response);
    } catch (error) {
      const status = statusOf(error);
      const message = error instanceof Error ? error.message : String(error);
      // The rest of a body that is too large is not read.
      const headers = { 'content-type': 'application/json', ...(status === 413 && { connection: 'close' }) };
      if (response.headersSent) response.destroy();
      else response.writeHead(status, headers).end(JSON.stringify({ error: { message } }));
    }
  });
}

/**
 * Returns the status for an error. If a request cannot be adapted, `fetch` has already responded in the API's form. A defect is the
 * gateway's fault; other errors may be temporary.
 */
function statusOf(error: unknown): number {
  if (error instanceof TooLarge) return 413;
  return error instanceof ToolwireError ? 500 : 502;
}

/** The client chooses the path, but not the host: `new URL('//elsewhere/v1', backend)` would go to another host. */
function target(backend: string, request: IncomingMessage): URL {
  const [path = '/', search = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  const url = new URL(backend);
  url.pathname = path;
  url.search = search;
  return url;
}

async function forwarded(request: IncomingMessage, largest: number): Promise<RequestInit> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Not destroyed if the body is too large, because the response uses the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > largest) throw new TooLarge(`expected a body of at most ${largest} bytes, found more`);
    chunks.push(chunk);
  }
  const headers = Object.entries(request.headers).filter(([name]) => !HOP.includes(name)) as [string, string][];
  const body = chunks.length === 0 ? null : Buffer.concat(chunks);
  return { method: request.method ?? 'GET', headers, body };
}
