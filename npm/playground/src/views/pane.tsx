/** The headings above the editors, and the handlers for typing and pasting. */

import { computed } from '@preact/signals';

import { Icon } from '../parts/Icon.js';
import { copy } from '../state/address.js';
import { change, doc, format, formatted, outcome, shared, output as shown } from '../state/state.js';

export const HINT = 'Paste a JSON Schema, a tool, a list of tools or a request';

export const textShown = computed(() => shared.value.text);

/** Returns the current text. */
export const latest = () => shared.peek().text;

export function onInput(text: string): void {
  change({ text });
}

/** Formats long text that is pasted. */
export const onPaste = (text: string) => formatted('paste', text);

const KINDS = {
  refused: '',
  schema: 'schema',
  schemas: 'schemas',
  tool: 'tool',
  tools: 'tool list',
  format: 'response format',
  request: 'request',
  nothing: '',
} as const;

function sizeIn(length: number): string {
  return length < 10_000 ? `${length} bytes` : `${(length / 1000).toFixed(1)} kB`;
}

function Input() {
  const { kind, tools, text, hasLines, isJson } = doc.value;
  const noun = kind === 'schemas' ? 'schema' : 'tool';
  const isList = kind === 'tools' || kind === 'schemas' || kind === 'request';
  const many = isList ? `, ${tools.length} ${noun}${tools.length === 1 ? '' : 's'}` : '';
  const lines = hasLines ? ', a line each' : '';
  return (
    <div class="pane-head">
      <h2>Input</h2>
      <span class="pane-kind">{text.trim() === '' ? '' : `${KINDS[kind]}${many}${lines}`}</span>
      <button type="button" class="link" onClick={format} disabled={!isJson}>
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
      <span class="pane-kind">{none ? 'none' : text === '' ? '' : sizeIn(outcome.value.bytes)}</span>
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

export const Pane = { Input, Output };
