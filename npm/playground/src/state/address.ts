/** The page's address. It contains the state, and is read when the page opens or a link is followed. */

import { effect } from '@preact/signals';

import { exampleOf } from '../examples/index.js';
import { fragmentOf, sharedIn } from './link.js';
import { shared, take, toast } from './state.js';

let waiting: ReturnType<typeof setTimeout> | undefined;
let written = '';

/** Reads the address, and keeps it up to date from then on. */
export async function follow(): Promise<void> {
  const readAddress = async () => {
    const sharedState = await sharedIn(location.hash);
    if (sharedState !== undefined) take(sharedState);
    else if (location.hash.length > 1) toast.value = 'This version of the page cannot read the link.';
  };
  await readAddress();
  addEventListener('hashchange', () => {
    if (location.hash !== written) void readAddress();
  });
  effect(() => {
    shared.value;
    clearTimeout(waiting);
    waiting = setTimeout(() => void write(), 250);
  });
}

async function write(): Promise<string | undefined> {
  const { example } = shared.peek();
  const fragment = await fragmentOf(shared.peek(), example === null ? undefined : exampleOf(example)?.text);
  if (fragment === undefined) {
    history.replaceState(null, '', location.pathname + location.search);
    return undefined;
  }
  written = fragment;
  history.replaceState(null, '', fragment);
  return location.href;
}

/** Copies a link to the current state. */
export async function share(): Promise<void> {
  const link = await write();
  if (link === undefined) {
    toast.value = 'This text is too long for a link. Share the text itself.';
    return;
  }
  await copy(link, 'Link copied. It contains the whole text; nothing was sent anywhere.');
}

/** Copies text and shows a confirmation. */
export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast.value = done;
  } catch {
    toast.value = text.startsWith('http')
      ? 'The address of this page is the link.'
      : 'The browser does not allow copying.';
  }
}
