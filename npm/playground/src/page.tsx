/** The page itself. */

import { effect } from '@preact/signals';
import { render } from 'preact';
import * as toolwire from 'toolwire/slim';

import { Header, TITLES } from './parts/Header.js';
import { listen, Shortcuts } from './parts/Shortcuts.js';
import { Toast } from './parts/Toast.js';
import { follow } from './state/address.js';
import { busy, doc, shared, toast } from './state/state.js';
import { show } from './state/theme.js';
import { Deferred } from './views/Deferred.js';
import { Matrix } from './views/Matrix.js';
import { Restore } from './views/Restore.js';
import { Rewrite } from './views/Rewrite.js';
import { defect } from './worker/queue.js';

const VIEWS = { rewrite: Rewrite, matrix: Matrix, deferred: Deferred, restore: Restore };

function App() {
  const { view } = shared.value;
  const View = VIEWS[view];
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('view')?.focus()}>
        Skip to the {TITLES[view].toLowerCase()}
      </button>
      <Header />
      <main>
        <div id="view" role="tabpanel" aria-labelledby={`tab-${view}`} tabIndex={-1}>
          <View />
        </div>
      </main>
      <Shortcuts />
      <Toast />
    </>
  );
}

/** Globals for the browser's console: the API that the page uses, and the text as a value, as in the calls that the page shows. */
declare global {
  interface Window {
    toolwire: Omit<typeof toolwire, 'init'>;
    readonly input: unknown;
  }
}

/** Returns the text as a value; JSON Lines as a list. */
function input(): unknown {
  const { text } = shared.peek();
  if (!doc.peek().hasLines) return JSON.parse(text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}

/** Opens the page with the state from its address, once the first results have arrived. */
export async function open(app: HTMLElement): Promise<void> {
  const { init: _, ...api } = toolwire;
  window.toolwire = api;
  Object.defineProperty(window, 'input', { get: input });
  console.info('`toolwire` is the API, and `input` the text as a value. Try toolwire.dialects()');
  show();
  await follow();
  effect(() => {
    if (busy.value) document.documentElement.dataset.busy = 'true';
    else drawn(() => (document.documentElement.dataset.busy = String(busy.peek())));
  });
  effect(() => {
    if (defect.value !== '') toast.value = `A defect in toolwire: ${defect.value}. Please report it with this text.`;
  });
  await idle();
  listen();
  app.textContent = '';
  render(<App />, app);
}

/** Calls back when the page is drawn: the editors receive their text after a frame. */
function drawn(done: () => void): void {
  requestAnimationFrame(() => setTimeout(done));
}

/** Resolves when the page has the results for the current text and choices. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (busy.value) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}
