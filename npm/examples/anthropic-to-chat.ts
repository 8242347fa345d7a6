// A gateway for clients of Anthropic's API (Claude Code, Anthropic's SDKs) and a backend that only supports Chat Completions. toolwire
// translates requests, their history and calls. The gateway sends them, runs the hosted tool search, and replies whole or streamed.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type AdaptReport, adaptRequest, type Dialect, ToolwireError } from 'toolwire';
import { Blocks, type Json } from './anthropic-blocks.js';

export interface Options {
  dialect: Dialect;
  /** The backend's model, if the backend does not know the models that clients name. */
  model?: string;
  /** `"content"`: `thinking` blocks become `reasoning_content` and vice versa. `"drop"` (default): both are omitted. */
  reasoning?: 'drop' | 'content';
  /** If true, wrong arguments are repaired, and a streamed call is held back until it ends. */
  repair?: boolean;
  /** Maximum number of requests to the backend for one message while the model only searches. Default: 10. */
  maxRounds?: number;
  /** Receives a report about each request: what the translation changed and left out. */
  onReport?: (report: AdaptReport) => void;
}

type Body = OpenAI.Chat.ChatCompletionCreateParams;
type Chunk = Pick<OpenAI.Chat.ChatCompletionChunk, 'choices' | 'usage'>;

const LARGEST = 64 * 1024 * 1024;
const ERRORS = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [529, 'overloaded_error'],
]);

class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function gateway(baseURL: string, options: Options) {
  // The client retries. Following a redirect would send its key to another host.
  const backend = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, fetchOptions: { redirect: 'error' } });
  return createServer(async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      const clientRequest: Anthropic.MessageCreateParams = JSON.parse(await read(request));
      if (!Array.isArray(clientRequest?.messages)) throw new Refused(400, 'expected a request with a list of messages');
      // Of the client's headers, only the key is sent: the backend does not know `anthropic-beta`
      // and the others.
      const { 'x-api-key': key, authorization = 'none' } = request.headers;
      const apiKey = String(key ?? authorization.replace(/^Bearer /i, ''));
      const message = empty(clientRequest.model);
      const events = answered(backend.withOptions({ apiKey }), clientRequest, message, options, gone.signal);
      // If the backend refuses the request, it does so before the first event, when the status can still be set.
      const first = await events.next();
      if (clientRequest.stream) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await pipeline(Readable.from(written(first.value, events)), response);
      } else {
        while (!(await events.next()).done);
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
      }
    } catch (error) {
      const { status, headers, body } = refusal(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    }
  });
}

async function read(request: IncomingMessage) {
  // Chat Completions have no equivalent of `/v1/messages/count_tokens` and of Anthropic's other paths.
  if (!/^\/v1\/messages(\?|$)/.test(request.url ?? '')) throw new Refused(404, `unknown path ${request.url}`);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > LARGEST) throw new Refused(413, `expected at most ${LARGEST} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Yields the events of one message. Calls the backend once, and again after each turn in which the model only searches. */
async function* answered(
  backend: OpenAI,
  clientRequest: Anthropic.MessageCreateParams,
  message: ReturnType<typeof empty>,
  { dialect, model = clientRequest.model, reasoning = 'drop', repair = false, maxRounds = 10, onReport }: Options,
  signal: AbortSignal,
): AsyncGenerator<Json, undefined> {
  const { metadata: _, ...kept } = clientRequest; // OpenAI refuses `metadata` without `store`.
  const deferred = { target: 'openai-chat', serverToolSearch: 'emulate', reasoning } as const;
  for (let round = 1; message.stop_reason === null; round += 1) {
    // The model reads its searches in the history, exactly as it will read them in the client's next request.
    const answers = message.content.length === 0 ? [] : [{ role: 'assistant', content: message.content }];
    const messages = [...clientRequest.messages, ...answers];
    const { request, report, restore } = adaptRequest({ ...kept, model, messages }, { dialect, deferred, repair });
    onReport?.(report);
    const chunks = await sent(backend, request as object as Body, signal);
    if (round === 1) yield { type: 'message_start', message };
    const search = report.deferred?.toolSearchName;
    const blocks = new Blocks(message.content, clientRequest.tools, restore, search, JSON.stringify(messages));
    let finished: string | null = null;
    let usage: Chunk['usage'];
    for await (const chunk of chunks) {
      const choice = chunk.choices[0];
      if (choice) yield* blocks.take(choice.delta, reasoning === 'content');
      finished = choice?.finish_reason ?? finished;
      usage = chunk.usage ?? usage;
    }
    if (finished === null) throw new Refused(502, 'the stream of the backend broke off');
    yield* blocks.advance(true);
    const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
    message.usage.input_tokens += (usage?.prompt_tokens ?? 0) - cached;
    message.usage.cache_read_input_tokens += cached;
    message.usage.output_tokens += usage?.completion_tokens ?? 0;
    if (finished === 'length') message.stop_reason = 'max_tokens';
    else if (finished === 'content_filter') message.stop_reason = 'refusal';
    else if (blocks.has('call')) message.stop_reason = 'tool_use';
    else if (!blocks.has('search')) message.stop_reason = 'end_turn';
    else if (round >= maxRounds) message.stop_reason = 'pause_turn';
  }
  const { stop_reason, stop_sequence, usage } = message;
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage };
  yield { type: 'message_stop' };
}

async function sent({ chat }: OpenAI, body: Body, signal: AbortSignal): Promise<AsyncIterable<Chunk> | Chunk[]> {
  if (body.stream) return chat.completions.create({ ...body, stream_options: { include_usage: true } }, { signal });
  const { choices, usage } = await chat.completions.create({ ...body, stream: false }, { signal });
  // A whole reply is converted to a stream of one chunk.
  const chunk = choices.map(({ message, ...choice }) => {
    return {
      ...choice,
      delta: { ...message, tool_calls: message.tool_calls?.map((call, index) => ({ ...call, index })) },
    };
  });
  return [{ choices: chunk, usage } as Chunk];
}

function empty(model: string) {
  return {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [] as Json[],
    stop_reason: null as string | null,
    stop_sequence: null,
    usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
  };
}

async function* written(first: Json | undefined, rest: AsyncIterable<Json>) {
  const event = (data: Json) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  try {
    if (first) yield event(first);
    for await (const data of rest) yield event(data);
  } catch (error) {
    yield event(refusal(error).body);
  }
}

/** Returns the response for an error, in Anthropic's form. */
function refusal(error: unknown) {
  let status = error instanceof ToolwireError || error instanceof SyntaxError ? 400 : 502;
  let message = error instanceof Error ? error.message : String(error);
  const headers: Record<string, string> = {};
  if (error instanceof Refused) status = error.status;
  // The rest of a body that is too large is not read.
  if (status === 413) headers.connection = 'close';
  if (error instanceof OpenAI.APIError) {
    status = error.status ?? 502;
    message = (error.error as Error | undefined)?.message ?? message;
    const pause = error.headers?.get('retry-after');
    if (pause) headers['retry-after'] = pause;
  }
  return { status, headers, body: { type: 'error', error: { type: ERRORS.get(status) ?? 'api_error', message } } };
}
