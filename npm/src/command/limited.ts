/**
 * Limits the size of remote servers' answers, because a few bytes may decompress to more than fits
 * into memory.
 */

/** Scope of the limit: all answers together, or each message. */
export type Counted = 'answers' | 'message';

/** Character sequences that end an event in an event stream. */
const ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

/**
 * Returns a `fetch` that limits answers to `most` bytes after decompression.
 *
 * @param exceeded - Called with the error that also ends the body. The body's error alone is not enough, because the
 * SDK may respond to it with another request.
 */
export function limited(
  ask: typeof fetch,
  most: number,
  counted: Counted,
  exceeded: (error: Error) => void,
): typeof fetch {
  let total = 0;
  return async (url, init) => {
    const answer = await ask(url, init);
    if (answer.body === null) return answer;
    const isStream = /^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '');
    let length = 0;
    let before = '';
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        length += piece.length;
        total += piece.length;
        if (isStream && counted === 'message') {
          const text = before + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1');
          length = Math.min(length, behindEvents(text));
          before = text.slice(-3);
        }
        if ((counted === 'answers' ? total : length) > most) {
          const error = new Error(`expected at most ${most >> 20} MiB from the server, found more`);
          exceeded(error);
          throw error;
        }
        controller.enqueue(piece);
      },
    });
    const { status, statusText, headers } = answer;
    const same = new Response(answer.body.pipeThrough(counter), { status, statusText, headers });
    return Object.defineProperty(same, 'url', { value: answer.url });
  };
}

/** Returns the number of characters after the last event that ends in the text, or infinity if no event ends in it. */
function behindEvents(text: string): number {
  const ends = ENDS.map((end) => ({ at: text.lastIndexOf(end), length: end.length })).filter(({ at }) => at >= 0);
  return ends.length === 0
    ? Number.POSITIVE_INFINITY
    : Math.min(...ends.map(({ at, length }) => text.length - at - length));
}
