// Servers: a fake of a backend, which judges each request by `rules.js`, and a recorder in front of the relay.

import { once } from 'node:events';
import { createServer, request as send } from 'node:http';

import { chat, frame, gemini, messages, responses, whole } from './models.js';
import { refusals } from './rules.js';

/** Number of tokens above the limits at which the clients compact their history. Only some replies report it; otherwise, the clients would compact forever. */
const LONG = 170_000;
/** The header with which the recorder numbers requests. */
const NUMBER = 'x-recorded-request';

const sse = (response, list, named = true) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const event of list) {
    const name = named && event.type ? `event: ${event.type}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
};
const json = (response, status, value) => {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(value));
};

/** How each format is served. */
const FORMATS = {
  messages(response, request) {
    const events = messages(request);
    if (/\/invoke$/.test(request.path) || (!request.body.stream && !/stream/i.test(request.path))) {
      return json(response, 200, whole(events));
    }
    if (/invoke-with-response-stream$/.test(request.path)) {
      response.writeHead(200, { 'Content-Type': 'application/vnd.amazon.eventstream' });
      for (const event of events) response.write(frame(event));
      return response.end();
    }
    sse(response, events);
    response.end();
  },
  chat(response, request, { reasoning = 'reasoning_content' }) {
    const chunks = chat(request, reasoning);
    if (!request.body.stream) {
      const [{ choices, ...rest }] = chunks;
      return json(response, 200, {
        ...rest,
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'It is sunny.' }, finish_reason: 'stop' }],
      });
    }
    sse(response, chunks);
    response.end('data: [DONE]\n\n');
  },
  responses(response, request) {
    const events = responses(request);
    if (!request.body.stream) return json(response, 200, events.at(-1).response);
    sse(response, events);
    response.end();
  },
  gemini(response, request) {
    const chunks = gemini(request);
    if (!/stream/.test(request.path)) return json(response, 200, chunks[0]);
    sse(response, chunks, false);
    response.end();
  },
};

const ERRORS = {
  messages: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  gemini: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  chat: (message) => ({ error: { message, type: 'invalid_request_error', code: 'invalid_request_error' } }),
};
ERRORS.responses = ERRORS.chat;

const COUNTS = { input_tokens: 100, inputTokens: 100, totalTokens: 100 };

async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads a request as the rules judge it; undefined if it has no JSON. */
export function judged({ url, headers }, bytes) {
  const [path] = url.split('?');
  let body;
  try {
    body = JSON.parse(bytes);
  } catch {
    return undefined;
  }
  const inPath = /\/models?\/([^/:]+)/.exec(decodeURIComponent(path))?.[1];
  return { path, headers, body, model: String(body.model ?? inPath ?? '') };
}

/** Serves a fake of a backend. `requests` collects `{ number, text, refused }` of each request. */
export async function fake({ backend, format, ...about }) {
  const requests = [];
  let compactions = 2;
  const server = createServer(async (request, response) => {
    const bytes = await read(request);
    const seen = judged(request, bytes);
    if (request.method !== 'POST' || seen === undefined)
      return json(response, request.method === 'GET' ? 200 : 404, { data: [] });
    const refused = refusals(backend, seen);
    requests.push({ number: request.headers[NUMBER], text: bytes.toString(), path: seen.path, refused });
    if (refused.length > 0) return json(response, 400, ERRORS[format](refused[0]));
    if (/count[-_]?tokens/i.test(seen.path)) return json(response, 200, COUNTS);
    const isLong = compactions > 0 && bytes.includes('Sunny.');
    if (isLong) compactions -= 1;
    FORMATS[format](response, { ...seen, used: isLong ? LONG : 1000 }, about);
  });
  return { ...(await listening(server)), requests };
}

/** Serves a recorder, which passes requests on to a relay. `sent` collects the requests by number. */
export async function recorder(backend, relay) {
  const sent = new Map();
  const server = createServer(async (request, response) => {
    const bytes = await read(request);
    const number = String(sent.size + 1);
    const seen = judged(request, bytes);
    sent.set(number, { text: bytes.toString(), accepted: seen !== undefined && refusals(backend, seen).length === 0 });
    const headers = { ...request.headers, [NUMBER]: number, 'content-length': String(bytes.length) };
    delete headers['transfer-encoding'];
    if (request.method === 'GET') delete headers['content-length'];
    const { hostname, port } = new URL(relay);
    const onward = send({ hostname, port, method: request.method, path: request.url, headers }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', (error) => json(response, 502, { error: { message: error.message } }));
    onward.end(bytes);
  });
  return { ...(await listening(server)), sent };
}

async function listening(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
