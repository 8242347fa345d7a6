/**
 * The shared buffer: the part of WebAssembly memory through which JavaScript and the core exchange data. The core's counterpart is
 * bindings-wasm/src/shared_buffer.rs.
 */

/** Indices of the header's fields. */
const WORDS = 0;
const WORDS_ROOM = 1;
const CHARS = 2;
const CHARS_ROOM = 3;
const OUTPUT_WORDS = 4;
const OUTPUT_CHARS = 6;
const OUTPUT_CHARS_LENGTH = 7;
const FLAGS = 8;

const SHARE = 1;
const UNCHANGED = 2;
const FAILED = 4;
const INITIAL = 8;

const encoder = new TextEncoder();
// Without ignoreBOM, a leading U+FEFF would be dropped.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Text to be written to the shared buffer: a string, or bytes that are already UTF-8. */
export type Characters = string | Uint8Array;

function encode(characters: Characters): Uint8Array {
  return typeof characters === 'string' ? encoder.encode(characters) : characters;
}

/** A view of the WebAssembly memory that both sides use. */
export class SharedBuffer {
  private words: Uint32Array;
  private bytes: Uint8Array;
  private readonly header: number;

  constructor(
    private readonly memory: WebAssembly.Memory,
    private readonly glue: { sharedBuffer(): number; makeRoom(words: number, chars: number): void },
  ) {
    this.header = glue.sharedBuffer() / 4;
    this.words = new Uint32Array(memory.buffer);
    this.bytes = new Uint8Array(memory.buffer);
  }

  /** Current size of the memory in bytes. */
  get size(): number {
    return this.memory.buffer.byteLength;
  }

  /**
   * Writes records and their characters to the shared buffer, followed by strings. The lengths of the strings in bytes precede the records.
   * Returns the number of bytes of the records' characters.
   */
  put(records: Uint32Array, chars: string, texts: readonly Characters[] = []): number {
    const pieces = [chars, ...texts];
    const words = records.length + texts.length;
    const lengths = this.write(words, pieces) ?? (this.write(words, pieces.map(encode)) as number[]);
    let at = this.field(WORDS);
    for (let text = 1; text < lengths.length; text++) this.words[at++] = lengths[text] as number;
    this.words.set(records, at);
    return lengths[0] as number;
  }

  /** The WebAssembly memory as words, and the index of the output's first record. */
  get outputRecords(): { words: Uint32Array; start: number } {
    this.refresh();
    return { words: this.words, start: this.field(OUTPUT_WORDS) };
  }

  /** The output's characters. */
  get outputText(): string {
    const bytes = this.outputBytes;
    return bytes.length === 0 ? '' : decoder.decode(bytes);
  }

  /** The output's characters as UTF-8, as a view: copy it before the next call. */
  get outputBytes(): Uint8Array {
    this.refresh();
    const start = this.field(OUTPUT_CHARS);
    return this.bytes.subarray(start, start + this.field(OUTPUT_CHARS_LENGTH));
  }

  /** True if the call failed. */
  get failed(): boolean {
    return this.flag(FAILED);
  }

  /** True if the session is back in its initial state. */
  get isInitial(): boolean {
    return this.flag(INITIAL);
  }

  /** True if the output may contain unchanged parts of the caller's values. */
  get share(): boolean {
    return this.flag(SHARE);
  }

  /** True if the text is unchanged. */
  get unchanged(): boolean {
    return this.flag(UNCHANGED);
  }

  /** Makes room and writes every piece. Returns undefined if a string needs more bytes than estimated. */
  private write(words: number, pieces: readonly Characters[]): number[] | undefined {
    let room = 64;
    for (const piece of pieces) room += piece.length + (typeof piece === 'string' ? piece.length >> 3 : 0);
    this.makeRoom(words, room);
    const lengths: number[] = [];
    let at = this.field(CHARS);
    const end = at + this.field(CHARS_ROOM);
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        const { read, written } = encoder.encodeInto(piece, this.bytes.subarray(at, end));
        if (read < piece.length) return undefined;
        lengths.push(written);
        at += written;
      } else {
        // Writes to a view of the reported size: an array that is longer than it reported then throws instead of overrunning the buffer.
        this.bytes.subarray(at, at + piece.length).set(piece);
        lengths.push(piece.length);
        at += piece.length;
      }
    }
    return lengths;
  }

  private makeRoom(words: number, chars: number): void {
    this.refresh();
    if (this.field(WORDS_ROOM) < words || this.field(CHARS_ROOM) < chars) {
      this.glue.makeRoom(words, chars);
      this.refresh();
    }
  }

  private flag(flag: number): boolean {
    this.refresh();
    return (this.field(FLAGS) & flag) !== 0;
  }

  private field(index: number): number {
    return this.words[this.header + index] as number;
  }

  /** Renews the views, which are detached when the memory grows. */
  private refresh(): void {
    if (this.words.byteLength === 0) {
      this.words = new Uint32Array(this.memory.buffer);
      this.bytes = new Uint8Array(this.memory.buffer);
    }
  }
}
