/** The headings above the texts, and the handlers for typing and pasting. */

import { computed } from '@preact/signals';

import { Icon } from '../parts/Icon.js';
import { copy } from '../state/address.js';
import { change, doc, format, shared, output as shown } from '../state/state.js';

export const HINT = 'Paste a JSON Schema, a tool, a list of tools or a request';

export const textShown = computed(() => shared.value.text);

/** Returns the current text. */
export const latest = () => shared.peek().text;

export function onInput(text: string): void {
  change({ text });
}

const KINDS = {
  schema: 'schema',
  tool: 'tool',
  tools: 'tool list',
  format: 'response format',
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
  const { text, none } = shown.value ?? { text: '', none: false };
  return (
    <div class="pane-head">
      <h2>Output</h2>
      <span class="pane-kind">{none ? 'none' : text === '' ? '' : bytes(compact(text))}</span>
      <button
        type="button"
        class="link"
        disabled={text === '' || none}
        onClick={() => void copy(text, 'Output copied.')}
      >
        <Icon name="copy" /> Copy
      </button>
    </div>
  );
}

/** Returns the text as compact JSON, the form in which it is sent. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

export const Pane = { Input, Output };
