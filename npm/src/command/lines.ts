/** The lines of a stream, each of which is a message. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Puts lines together from pieces. A line that is longer than any message is skipped to its end. */
export class Lines {
  #pieces: Buffer[] = [];
  #length = 0;
  #skips = false;

  /**
   * @param most - The most bytes of a line.
   * @param line - Takes each line that is not empty, without its end.
   * @param tooLong - Is told of each line that is longer, once.
   */
  constructor(
    readonly most: number,
    readonly line: (line: Buffer) => void,
    readonly tooLong: () => void,
  ) {}

  take(piece: Buffer): void {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      this.#add(piece.subarray(start, end));
      this.#done();
      start = end + 1;
    }
    this.#add(piece.subarray(start));
  }

  /** The end of the stream, which may be that of a line. */
  end(): void {
    this.#done();
  }

  #add(piece: Buffer): void {
    if (this.#skips || piece.length === 0) return;
    this.#length += piece.length;
    if (this.#length > this.most) {
      this.#skips = true;
      this.#pieces = [];
      this.tooLong();
      return;
    }
    this.#pieces.push(piece);
  }

  #done(): void {
    const line = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
    const skips = this.#skips;
    this.#pieces = [];
    this.#length = 0;
    this.#skips = false;
    if (skips) return;
    const message = line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
    if (message.some((byte) => byte !== 0x20 && byte !== 0x09)) this.line(message);
  }
}
