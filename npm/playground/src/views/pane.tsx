/** The headings above texts, and what happens when somebody types or pastes. */

import { computed } from '@preact/signals';

import { layout } from '../document/layout.js';
import { Icon } from '../parts/Icon.js';
import { copy } from '../state/address.js';
import { change, doc, format, shared, output as shown } from '../state/state.js';

export const HINT = 'Paste a JSON Schema, a tool, a list of tools or a whole request';

export const textShown = computed(() => shared.value.text);

/** The text by now. */
export const latest = () => shared.peek().text;

export function onInput(text: string, pasted: boolean): void {
  // Somebody who pastes a whole document wants to read it; whoever types has the text as they write it.
  const whole = pasted && !text.includes('\n');
  change({ text: whole ? layout(text) : text, example: shared.peek().example });
}

const KINDS = {
  schema: 'schema',
  tool: 'tool',
  tools: 'tool list',
  request: 'request',
  nothing: '',
} as const;

function bytes(text: string): string {
  const { length } = new TextEncoder().encode(text);
  return length < 10_000 ? `${length} bytes` : `${(length / 1000).toFixed(1)} kB`;
}

function Input() {
  const { kind, tools, text } = doc.value;
  const many = kind === 'tools' || kind === 'request' ? `, ${tools.length} tool${tools.length === 1 ? '' : 's'}` : '';
  return (
    <div class="pane-head">
      <h2>Input</h2>
      <span class="pane-kind">{text.trim() === '' ? '' : `${KINDS[kind]}${many}`}</span>
      <button type="button" class="link" onClick={format} disabled={kind === 'nothing'}>
        Format
      </button>
    </div>
  );
}

function Output() {
  const { text, stale } = shown.value ?? { text: '', stale: false };
  return (
    <div class="pane-head">
      <h2>Output</h2>
      <span class="pane-kind">{stale ? 'of before the error' : text === '' ? '' : bytes(compact(text))}</span>
      <button
        type="button"
        class="link"
        disabled={text === '' || stale}
        onClick={() => void copy(text, 'Output copied.')}
      >
        <Icon name="copy" /> Copy
      </button>
    </div>
  );
}

/** As it is sent. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

export const Pane = { Input, Output };
