/** A text as the command line describes it: its kind, and its tools and schemas with their locations. */

import type { Node } from 'jsonc-parser';
import type { ToolFormat } from 'toolwire/slim';

import { child, type Place, Places, token } from './tree.js';

/** A tool or a schema in the text, as the command line describes it. */
export interface Entry {
  /** Name of the tool; `null` for a schema, and for a tool without a name. */
  name: string | null;
  /** The line, if each line is an entry. `pointer` is then relative to the line. */
  line?: number;
  pointer: string;
  format: ToolFormat | null;
  /** Pointer from the entry to its schema. */
  schema: string | null;
}

/** An input, as the command line describes it. */
export interface Reading {
  kind: 'tools' | 'schemas' | 'request';
  /** True for a single tool or schema. */
  alone: boolean;
  /** Pointer to the list, or to the single entry; `null` if each line is an entry. */
  pointer: string | null;
  entries: Entry[];
}

/** The reason why the command line refuses an input. */
export interface Refused {
  error: { line: number | null; pointer: string; code: string | null; message: string };
}

export type Kind = 'nothing' | 'refused' | 'schema' | 'schemas' | 'tool' | 'tools' | 'format' | 'request';

/** A location in the text. */
export interface Spot {
  line?: number;
  pointer: string;
}

/** A schema within the text. */
export interface SchemaPlace {
  text: string;
  from: number;
  to: number;
  pointer: string;
}

export class Document {
  readonly text: string;
  readonly kind: Kind;
  readonly entries: readonly Entry[];
  readonly refused: Refused['error'] | undefined;
  /** The schema of a response format, which the command line does not read. */
  readonly format: SchemaPlace | undefined;
  readonly #reading: Reading | undefined;
  /** Line numbers of the nonblank lines if each line is an entry, and the entry index of each line number. */
  readonly #lines: readonly number[] | undefined;
  readonly #indexes: ReadonlyMap<number, number>;
  #source: string | undefined;
  #places: Places | undefined;

  constructor(text: string, read: Reading | Refused) {
    this.text = text;
    this.#reading = 'error' in read ? undefined : read;
    this.#lines = this.#reading?.pointer === null ? numbersOf(text) : undefined;
    this.#indexes = new Map(this.#lines?.map((line, index) => [line, index]));
    this.entries = this.#reading?.entries ?? [];
    const refused = 'error' in read ? read.error : undefined;
    this.format = refused?.code === null ? this.#formatIn() : undefined;
    this.refused = this.format === undefined ? refused : undefined;
    this.kind = this.#kind();
  }

  #kind(): Kind {
    if (this.text.trim() === '') return 'nothing';
    if (this.format !== undefined) return 'format';
    if (this.#reading === undefined) return 'refused';
    const { kind, alone } = this.#reading;
    if (kind === 'request') return kind;
    if (kind === 'tools') return alone ? 'tool' : 'tools';
    return alone ? 'schema' : 'schemas';
  }

  /** The text. JSON Lines are converted to one array, with commas in place of line breaks. */
  get source(): string {
    this.#source ??= this.#lines === undefined ? this.text : asList(this.text, this.#lines);
    return this.#source;
  }

  /** True if each line is an entry. */
  get hasLines(): boolean {
    return this.#lines !== undefined;
  }

  /** Returns the text range at a location, or at its nearest ancestor. */
  nearest(spot: Spot): Place | undefined {
    const place = this.places.nearest(this.within(spot));
    if (place === undefined || this.shift === 0) return place;
    const moved = (offset: number) => Math.min(Math.max(0, offset - this.shift), this.text.length);
    const { from, to, nameFrom, nameTo } = place;
    return { from: moved(from), to: moved(to), nameFrom: moved(nameFrom), nameTo: moved(nameTo) };
  }

  /** Offset of the text in {@link source}. */
  get shift(): number {
    return this.#lines === undefined ? 0 : 1;
  }

  /** Locations in {@link source}. */
  get places(): Places {
    this.#places ??= new Places(this.source);
    return this.#places;
  }

  /** Returns the pointer into {@link source}. */
  within({ line, pointer }: Spot): string {
    return line === undefined ? pointer : `/${this.#indexes.get(line)}${pointer}`;
  }

  /** Returns the location in the text for a pointer into the list of entries. */
  spot(pointer: string): Spot {
    const { alone = false, pointer: above = '' } = this.#reading ?? {};
    const end = pointer.indexOf('/', 1);
    const rest = end < 0 ? '' : pointer.slice(end);
    if (above === null) {
      const line = this.#lines?.[Number(pointer.slice(1, end < 0 ? undefined : end))];
      return line === undefined ? { pointer } : { line, pointer: rest };
    }
    return { pointer: above + (alone ? rest : pointer) };
  }

  /** Pointer to the list or the single entry in {@link source}. */
  get pointer(): string {
    return this.#reading?.kind === 'request' ? '' : (this.#reading?.pointer ?? '');
  }

  /** Returns the value of the list in {@link source}; the single entry if there is one. */
  get value(): Node | undefined {
    if (this.#reading === undefined) return undefined;
    return this.places.value(this.#reading.kind === 'request' ? '/tools' : this.pointer);
  }

  /** Returns the text of the list of tools, or of schemas. */
  get list(): string {
    const { value } = this;
    const text = value === undefined ? this.source : slice(this.source, value);
    return this.#reading?.alone === true ? `[${text}]` : text;
  }

  /** Returns the schema of an entry, with its location in the text. */
  schemaOf({ schema, ...entry }: Entry): SchemaPlace | undefined {
    if (schema === null) return undefined;
    const pointer = entry.pointer + schema;
    const node = this.places.value(this.within({ ...entry, pointer }));
    if (node === undefined) return undefined;
    const from = node.offset - this.shift;
    return { text: slice(this.source, node), from, to: from + node.length, pointer };
  }

  /** Returns the displayed name of an entry. */
  labelOf({ name, line, pointer }: Entry): string {
    if (name !== null) return name;
    if (line !== undefined) return `line ${line}`;
    return pointer === '' ? 'this schema' : pointer;
  }

  /** Finds the schema of a response format: `json_schema.schema`, or an object in `schema` or `json_schema` next to `type`. */
  #formatIn(): SchemaPlace | undefined {
    const root = this.places.value('');
    if (!['json_schema', 'json_object'].includes(String(child(root, 'type')?.value))) return undefined;
    for (const path of [['json_schema', 'schema'], ['schema'], ['json_schema']]) {
      const node = path.reduce<Node | undefined>((at, name) => child(at, name), root);
      if (node?.type !== 'object') continue;
      const { offset, length } = node;
      return { text: slice(this.text, node), from: offset, to: offset + length, pointer: path.map(token).join('') };
    }
    return undefined;
  }
}

function slice(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

function numbersOf(text: string): number[] {
  return text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [at + 1]));
}

/** Returns JSON Lines as a list of the same length, apart from its brackets. */
function asList(text: string, numbers: readonly number[]): string {
  const ended = new Set(numbers.slice(0, -1));
  const lines = text.split('\n').map((line, at) => line + (ended.has(at + 1) ? ',' : ' '));
  // The last line has no line break.
  return `[${lines.join('').slice(0, text.length)}]`;
}
