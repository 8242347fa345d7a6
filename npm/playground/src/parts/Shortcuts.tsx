/** The page's keyboard shortcuts, and the dialog that lists them. */

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { DIALECT_NAMES } from '../calls/dialects.js';
import { share } from '../state/address.js';
import { VIEWS } from '../state/shared.js';
import { change, listed, shared } from '../state/state.js';
import { switchTheme } from '../state/theme.js';
import { Icon } from './Icon.js';

const open = signal(false);
/** Single-letter shortcuts can interfere with speech input, so they can be turned off (WCAG 2.1.4). */
const letters = signal(true);

export function showShortcuts(): void {
  open.value = true;
}

const KEYS: readonly [keys: string, does: string][] = [
  ['1 – 4', 'Views: Rewrite, Matrix, Deferred loading, Restore'],
  ['n  p', 'Next and previous change or repair (F8 and Shift+F8, including in editors)'],
  ['[  ]', 'Previous and next dialect'],
  ['e', 'Focus the editor; Tab leaves it'],
  ['s', 'Copy a link to this view'],
  ['t', 'Theme: system, light, dark'],
  ['← → ↑ ↓', 'Move among tabs, dialects, turns and cells of the matrix; Enter opens a cell'],
  ['?', 'Show this list'],
];

function step(by: number): void {
  const { length, chosen } = listed.peek();
  if (length === 0) return;
  const at = chosen.peek();
  chosen.value = at === undefined ? (by > 0 ? 0 : length - 1) : (at + by + length) % length;
}

function nextDialect(by: number): void {
  const at = DIALECT_NAMES.indexOf(shared.peek().dialect);
  change({ dialect: DIALECT_NAMES.at((at + by) % DIALECT_NAMES.length) ?? shared.peek().dialect });
}

const DOES: { [key: string]: () => void } = {
  n: () => step(1),
  p: () => step(-1),
  '[': () => nextDialect(-1),
  ']': () => nextDialect(1),
  e: () =>
    document.querySelector('.editor, .comparison')?.shadowRoot?.querySelector<HTMLElement>('.cm-content')?.focus(),
  s: () => void share(),
  t: switchTheme,
  '?': showShortcuts,
};
for (const [at, view] of VIEWS.entries()) DOES[String(at + 1)] = () => change({ view });

/** Starts listening for the page's shortcuts. */
export function listen(): void {
  addEventListener('keydown', (event) => {
    if (event.key === 'F8') {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
      return;
    }
    const target = event.composedPath()[0];
    const typing =
      target instanceof HTMLElement && (target.isContentEditable || /^(input|select|textarea)$/i.test(target.tagName));
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || open.value) return;
    const does = letters.value || event.key === '?' ? DOES[event.key] : undefined;
    if (does === undefined) return;
    event.preventDefault();
    does();
  });
}

export function Shortcuts() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open.value]);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="shortcuts-title" onClose={() => (open.value = false)}>
      <div class="dialog-head">
        <h2 id="shortcuts-title">Keyboard shortcuts</h2>
        <button type="button" class="plain square" onClick={() => (open.value = false)}>
          <Icon name="close" />
          <span class="sr">Close</span>
        </button>
      </div>
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={letters.value}
          onChange={({ currentTarget }) => (letters.value = currentTarget.checked)}
        />
        Enable single-letter shortcuts
      </label>
      <p class="dialog-foot">
        In the browser’s console, <code>toolwire</code> is the API. Nothing leaves this page: its policy forbids all
        connections.
      </p>
    </dialog>
  );
}
