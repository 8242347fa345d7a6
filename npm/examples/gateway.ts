// A gateway: whatever client comes, its request is rewritten as bytes for the backend behind it, and the reply for the client.

import { createServer, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ToolwireError } from 'toolwire';
import { type FetchOptions, toolwireFetch } from 'toolwire/fetch';

/** What belongs to one connection, and what `fetch` says itself. */
const HOP = ['accept-encoding', 'connection', 'content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding'];

export function gateway(backend: string, options: FetchOptions) {
  const fetch = toolwireFetch(options);
  return createServer(async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      const reply = await fetch(target(backend, request), { ...(await forwarded(request)), signal: gone.signal });
      const headers = [...reply.headers].filter(([name]) => ![...HOP, 'content-encoding'].includes(name));
      response.writeHead(reply.status, Object.fromEntries(headers));
      if (reply.body === null) response.end();
      else await pipeline(Readable.fromWeb(reply.body as import('node:stream/web').ReadableStream), response);
    } catch (error) {
      // What cannot be adapted was not sent: it is the client's to mend. Anything else may go well the next time.
      const status = error instanceof ToolwireError ? 400 : 502;
      const message = error instanceof Error ? error.message : String(error);
      const headers = { 'content-type': 'application/json' };
      if (response.headersSent) response.destroy();
      else response.writeHead(status, headers).end(JSON.stringify({ error: { message } }));
    }
  });
}

/** The path is the client's, the host is not: `new URL('//elsewhere/v1', backend)` would be elsewhere. */
function target(backend: string, request: IncomingMessage): URL {
  const [path = '/', search = ''] = (request.url ?? '/').split(/\?(.*)/s, 2);
  const url = new URL(backend);
  url.pathname = path;
  url.search = search;
  return url;
}

async function forwarded(request: IncomingMessage): Promise<RequestInit> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = Object.entries(request.headers).filter(([name]) => !HOP.includes(name)) as [string, string][];
  const body = chunks.length === 0 ? null : Buffer.concat(chunks);
  return { method: request.method ?? 'GET', headers, body };
}
