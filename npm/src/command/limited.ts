/** Limits what servers at an address answer: a few bytes may unpack to more than the memory holds. */

/** Which bytes are counted together: those of all answers, or those of each message. */
export type Counted = 'answers' | 'message';

/** The ends of an event in an event stream. */
const ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

/**
 * Returns a `fetch` whose answers have at most `most` bytes, after unpacking.
 *
 * @param exceeded - Called with the error that also ends the body: the SDK may handle that one by asking again.
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

/** The number of characters behind the last event that ends in the text, or infinity if none does. */
function behindEvents(text: string): number {
  const ends = ENDS.map((end) => ({ at: text.lastIndexOf(end), length: end.length })).filter(({ at }) => at >= 0);
  return ends.length === 0
    ? Number.POSITIVE_INFINITY
    : Math.min(...ends.map(({ at, length }) => text.length - at - length));
}
