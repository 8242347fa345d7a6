/** The state in the fragment of the page's address. Browsers do not send fragments, so sharing a link needs no server. */

import { BACKEND_IDS } from '../calls/backends.js';
import { DEFAULTS, DEFERRED, FUNCTIONS, OPTIONS, SHAPES, type Shared, VIEWS } from './shared.js';

/** Version of the links' format, which is increased when its meaning changes. */
const VERSION = '1';
/** Maximum length of a link, because some programs truncate longer ones. */
const LONGEST = 32_000;
/** Maximum length of a fragment that is read. */
const LONGEST_READ = 2 * LONGEST;
/** Maximum size of a link's unpacked data, because a few kilobytes can unpack to a thousand times their size. */
const LARGEST = 4_000_000;
/** Maximum turn number in a link. */
const TURNS = 1_000_000;

/**
 * Returns the differences from the defaults, compressed. An example's text is replaced by the example's name. Returns `undefined` if the
 * link would be too long.
 */
export async function fragmentOf(shared: Shared, exampleText: string | undefined): Promise<string | undefined> {
  const kept: Partial<Shared> = {};
  for (const [key, value] of Object.entries(shared)) {
    if (key === 'text' || key === 'example') continue;
    if (JSON.stringify(value) !== JSON.stringify(DEFAULTS[key as keyof typeof DEFAULTS]))
      Object.assign(kept, { [key]: value });
  }
  if (shared.example !== null && shared.text === exampleText) kept.example = shared.example;
  else if (shared.text.length >= LARGEST) return undefined;
  else kept.text = shared.text;
  const data = await pack(JSON.stringify(kept));
  const fragment = `#${VERSION}.${data}`;
  return data === undefined || fragment.length > LONGEST ? undefined : fragment;
}

/** Parses a fragment. Returns `undefined` if it is not a fragment of this page. Every value is validated. */
export async function sharedIn(fragment: string): Promise<Partial<Shared> | undefined> {
  if (fragment.length > LONGEST_READ) return undefined;
  const [version, data] = fragment.replace(/^#/, '').split('.');
  if (version !== VERSION || data === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(await unpack(data));
    return typeof value === 'object' && value !== null ? known(value as Partial<Shared>) : undefined;
  } catch {
    return undefined;
  }
}

function known(given: Partial<Shared>): Partial<Shared> {
  const kept: Partial<Shared> = {};
  if (VIEWS.includes(given.view as never)) kept.view = given.view as Shared['view'];
  if (FUNCTIONS.includes(given.fn as never)) kept.fn = given.fn as Shared['fn'];
  if (SHAPES.includes(given.shape as never)) kept.shape = given.shape as Shared['shape'];
  // An unknown dialect is replaced by the default.
  for (const key of ['text', 'example', 'tool', 'args', 'dialect'] as const) {
    if (typeof given[key] === 'string') Object.assign(kept, { [key]: given[key] });
  }
  kept.options = choices<Shared['options']>(given.options, OPTIONS);
  kept.deferred = choices<Shared['deferred']>(given.deferred, DEFERRED);
  for (const side of ['left', 'right'] as const) {
    if (BACKEND_IDS.includes(given[side] as never)) kept[side] = given[side] as Shared['left'];
  }
  const { turn, repair } = given;
  if (typeof repair === 'boolean') kept.repair = repair;
  if (Number.isInteger(turn) && (turn as number) >= 0 && (turn as number) < TURNS) kept.turn = turn as number;
  return kept;
}

/** Every option, and its possible values. */
type Known<T> = { [name in keyof T]-?: readonly unknown[] };

/** Returns the known options with valid values. */
function choices<T extends object>(given: unknown, known: Known<T>): T {
  const found = typeof given === 'object' && given !== null ? (given as { [name: string]: unknown }) : {};
  const chosen = Object.entries<readonly unknown[]>(known).filter(
    ([name, values]) => Object.hasOwn(found, name) && values.includes(found[name]),
  );
  return Object.fromEntries(chosen.map(([name]) => [name, found[name]])) as T;
}

async function pack(text: string): Promise<string | undefined> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  if (bytes.length > LONGEST) return undefined;
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

async function unpack(data: string): Promise<string> {
  const binary = atob(data.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value);
    size += next.value.length;
    if (size > LARGEST) {
      await reader.cancel();
      throw new RangeError(`expected at most ${LARGEST} bytes, found more`);
    }
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
