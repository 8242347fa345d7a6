/** Sends requests to APIs. The key is inserted and redacted here; no other code handles it. */

import { setTimeout } from 'node:timers/promises';
import { hidden } from './hidden.js';

/** Maximum size of an answer in bytes, larger than any real one. */
const MAX_ANSWER = 1_000_000;

/** A request as the core describes it. Times are in seconds. */
export interface Request {
  wait: number;
  timeout: number;
  url: string;
  headers: Record<string, string>;
  key: { variable: string; header: string; before: string } | null;
  body: string;
}

/** An API's answer. */
export interface Answer {
  status: number;
  retryAfter: string | null;
  body: string;
}

/** Sends a request, and returns the answer without the key. */
export async function answerOf(request: Request): Promise<Answer> {
  const { key } = request;
  const secret = key === null ? '' : (process.env[key.variable] ?? '').trim();
  // If the key is not valid in a header, the error of `fetch` would contain it.
  if (key !== null && !/^[!-~]*$/.test(secret)) throw new Error('EKEY');
  const safe = (text: string) => hidden(text, [secret], `(${key?.variable})`);
  await setTimeout(request.wait * 1000);
  const signal = AbortSignal.timeout(request.timeout * 1000);
  try {
    const headers = { ...request.headers, ...(key && { [key.header]: key.before + secret }) };
    // A redirect is not followed, because the key and the body are meant for one address.
    const answer = await fetch(request.url, {
      method: 'POST',
      headers,
      body: request.body,
      redirect: 'manual',
      signal,
    });
    const body = await begun(answer);
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: safe(body) };
  } catch (error) {
    // Error messages may contain the request.
    throw new Error(safe(why(error as Error)));
  }
}

/** Returns the beginning of a body, which may never end. */
async function begun(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body ?? []) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_ANSWER) break;
  }
  return Buffer.concat(pieces).subarray(0, MAX_ANSWER).toString();
}

function why(error: Error): string {
  if (error.name === 'TimeoutError') return 'ETIMEDOUT';
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message || error.name;
}
