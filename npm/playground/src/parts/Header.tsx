/** The top of the page: its title, the views, the examples, and the actions for the whole page. */

import { EXAMPLES, exampleOf } from '../examples/index.js';
import { share } from '../state/address.js';
import { VIEWS, type View } from '../state/shared.js';
import { change, open, shared } from '../state/state.js';
import { switchTheme, theme } from '../state/theme.js';
import { Icon } from './Icon.js';
import { rove } from './roving.js';
import { showShortcuts } from './Shortcuts.js';

export const TITLES: Record<View, string> = {
  rewrite: 'Rewrite',
  matrix: 'Matrix',
  deferred: 'Deferred loading',
  restore: 'Restore',
};

export function Header() {
  const { view, example, text } = shared.value;
  const unchanged = example !== null && exampleOf(example)?.text === text;
  return (
    <header class="header">
      <h1 class="name">
        <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" focusable="false">
          <rect width="32" height="32" rx="8" fill="var(--accent)" />
          <path
            d="M5 11h6c5 0 5 10 10 10h6M5 21h6c2 0 3.200-1.600 4-3.500M27 11h-6c-2 0-3.200 1.600-4 3.500"
            fill="none"
            stroke="var(--on-accent)"
            stroke-width="2.600"
            stroke-linecap="round"
          />
        </svg>
        <span>
          toolwire <span class="name-kind">playground</span>
        </span>
      </h1>
      <div
        class="tabs"
        role="tablist"
        aria-label="Views"
        onKeyDown={(event) => rove(event, '[role=tab]', { click: true })}
      >
        {VIEWS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={view === each}
            aria-controls="view"
            tabIndex={view === each ? 0 : -1}
            onClick={() => change({ view: each })}
          >
            {TITLES[each]}
          </button>
        ))}
      </div>
      <label class="pick">
        <span class="pick-label">Example</span>
        <select
          value={unchanged ? (example ?? '') : ''}
          onChange={({ currentTarget }) => {
            const found = exampleOf(currentTarget.value);
            if (found !== undefined) open(found);
            else change({ text: '', example: null, tool: null });
          }}
        >
          <option value="">{text === '' || unchanged ? 'Empty: paste your own text' : 'Your own text'}</option>
          {EXAMPLES.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <div class="actions">
        <button type="button" class="plain" onClick={() => void share()} title="Copy a link to this view (s)">
          <Icon name="share" />
          <span class="wide-only">Share</span>
          <span class="narrow-only sr">Share</span>
        </button>
        <button type="button" class="plain square" onClick={switchTheme} title={`Theme: ${theme.value} (t)`}>
          <Icon name={theme.value} />
          <span class="sr">Theme: {theme.value}. Change</span>
        </button>
        <button type="button" class="plain square" onClick={showShortcuts} title="Keyboard shortcuts (?)">
          <Icon name="keyboard" />
          <span class="sr">Keyboard shortcuts</span>
        </button>
      </div>
    </header>
  );
}
