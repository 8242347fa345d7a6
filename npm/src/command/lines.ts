/** Splits a stream into lines, each of which is a message. */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Assembles lines from the pieces of a stream. A line that exceeds the limit is skipped. */
export class Lines {
  #pieces: Buffer[] = [];
  #length = 0;
  #skips = false;

  /**
   * @param most - Maximum length of a line, in bytes.
   * @param line - Called with each line that is not blank, without its line end.
   * @param tooLong - Called once for each line that exceeds the limit.
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

  /** Ends the stream. The last line needs no line feed. */
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
