/** The state in the fragment of the page's address: browsers do not send fragments, so a link shares without a server. */

import { DEFAULTS, FUNCTIONS, type Shared, VIEWS } from './shared.js';

/** Raised when what a link holds changes its meaning. */
const VERSION = '1';
/** Longer addresses are cut by some programs that pass links on. */
export const LONGEST = 32_000;

/** What differs from the defaults, compressed. A text that is an example's own goes by the example's name. */
export async function fragmentOf(shared: Shared, exampleText: string | undefined): Promise<string> {
  const kept: Partial<Shared> = {};
  for (const [key, value] of Object.entries(shared)) {
    if (key === 'text' || key === 'example') continue;
    if (JSON.stringify(value) !== JSON.stringify(DEFAULTS[key as keyof typeof DEFAULTS]))
      Object.assign(kept, { [key]: value });
  }
  if (shared.example !== null && shared.text === exampleText) kept.example = shared.example;
  else kept.text = shared.text;
  return `#${VERSION}.${await packed(JSON.stringify(kept))}`;
}

/** What a fragment says; `undefined` if it is none of ours. Nothing in it is believed unread. */
export async function sharedIn(fragment: string): Promise<Partial<Shared> | undefined> {
  const [version, data] = fragment.replace(/^#/, '').split('.');
  if (version !== VERSION || data === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(await unpacked(data));
    return typeof value === 'object' && value !== null ? known(value as Partial<Shared>) : undefined;
  } catch {
    return undefined;
  }
}

function known(given: Partial<Shared>): Partial<Shared> {
  const kept: Partial<Shared> = {};
  if (VIEWS.includes(given.view as never)) kept.view = given.view as Shared['view'];
  if (FUNCTIONS.includes(given.fn as never)) kept.fn = given.fn as Shared['fn'];
  for (const key of ['text', 'example', 'tool', 'args', 'dialect', 'shape'] as const) {
    if (typeof given[key] === 'string') Object.assign(kept, { [key]: given[key] });
  }
  for (const key of ['options', 'deferred'] as const) {
    if (typeof given[key] === 'object' && given[key] !== null) Object.assign(kept, { [key]: given[key] });
  }
  if (Number.isInteger(given.turn)) kept.turn = given.turn as number;
  return kept;
}

async function packed(text: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

async function unpacked(data: string): Promise<string> {
  const binary = atob(data.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw')));
}

async function through(bytes: Uint8Array<ArrayBuffer>, transform: ReadableWritablePair): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
