// A gateway: whatever client comes, its request is rewritten as bytes for the backend behind it, and the reply for the client.

import { createServer, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type FetchOptions, toolwireFetch } from 'toolwire/fetch';

/** What belongs to one connection, and what `fetch` says itself. */
const HOP = ['connection', 'content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding'];

export function gateway(backend: string, options: FetchOptions) {
  const fetch = toolwireFetch(options);
  return createServer(async (request, response) => {
    try {
      const reply = await fetch(new URL(request.url ?? '/', backend), await forwarded(request));
      const headers = [...reply.headers].filter(([name]) => ![...HOP, 'content-encoding'].includes(name));
      response.writeHead(reply.status, Object.fromEntries(headers));
      if (reply.body === null) response.end();
      else await pipeline(Readable.fromWeb(reply.body as import('node:stream/web').ReadableStream), response);
    } catch (error) {
      // What cannot be adapted was not sent: it is the client's to mend.
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
    }
  });
}

async function forwarded(request: IncomingMessage): Promise<RequestInit> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = Object.entries(request.headers).filter(([name]) => !HOP.includes(name)) as [string, string][];
  const body = chunks.length === 0 ? null : Buffer.concat(chunks);
  return { method: request.method ?? 'GET', headers, body };
}
