/** The answers of APIs. The key is put in here, and taken out here: nothing else ever has it. */

import { setTimeout } from 'node:timers/promises';
import { hidden } from './hidden.js';

/** More than any API says. */
const MOST = 1_000_000;

/** A request as the core describes it. Seconds. */
export interface Request {
  wait: number;
  timeout: number;
  url: string;
  headers: Record<string, string>;
  key: { variable: string; header: string; before: string } | null;
  body: string;
}

/** What was answered. */
export interface Answer {
  status: number;
  retryAfter: string | null;
  body: string;
}

/** Sends a request. */
export async function answerOf(request: Request): Promise<Answer> {
  const { key } = request;
  const secret = key === null ? '' : (process.env[key.variable] ?? '').trim();
  // The error of whoever tried to send it would show it.
  if (key !== null && !/^[!-~]*$/.test(secret)) throw new Error('EKEY');
  const safe = (text: string) => hidden(text, [secret], `(${key?.variable})`);
  await setTimeout(request.wait * 1000);
  const signal = AbortSignal.timeout(request.timeout * 1000);
  try {
    const headers = { ...request.headers, ...(key && { [key.header]: key.before + secret }) };
    // What a request carries is for one address.
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
    // The words of an error may hold what was sent.
    throw new Error(safe(why(error as Error)));
  }
}

/** The beginning of what may never end. */
async function begun(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body ?? []) {
    pieces.push(piece);
    length += piece.length;
    if (length > MOST) break;
  }
  return Buffer.concat(pieces).subarray(0, MOST).toString();
}

function why(error: Error): string {
  if (error.name === 'TimeoutError') return 'ETIMEDOUT';
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message || error.name;
}
