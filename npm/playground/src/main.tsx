/** Starts the page. */

import './style/index.css';

import { render } from 'preact';
import * as toolwire from 'toolwire';

import { Header, TITLES } from './parts/Header.js';
import { listen, Shortcuts } from './parts/Shortcuts.js';
import { Toast } from './parts/Toast.js';
import { follow } from './state/address.js';
import { shared } from './state/state.js';
import { show } from './state/theme.js';
import { Deferred } from './views/Deferred.js';
import { Matrix } from './views/Matrix.js';
import { Restore } from './views/Restore.js';
import { Rewrite } from './views/Rewrite.js';

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
    toolwire: typeof toolwire;
    readonly input: unknown;
  }
}
window.toolwire = { ...toolwire };
Object.defineProperty(window, 'input', { get: () => JSON.parse(shared.peek().text) as unknown });
console.info('`toolwire` is the API, and `input` the text as a value. Try toolwire.dialects()');

show();
await follow();
listen();
const app = document.getElementById('app') as HTMLElement;
app.textContent = '';
render(<App />, app);
