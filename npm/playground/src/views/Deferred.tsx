/** A conversation in which tools are added and removed, on two backends: the tools that the model sees in each turn, and their cost. */

import { BACKENDS, type BackendId } from '../calls/backends.js';
import { shortened } from '../calls/conversation.js';
import type { Kind } from '../document/document.js';
import { Editor } from '../editor/Editor.js';
import { EXAMPLES } from '../examples/index.js';
import { Prose } from '../parts/Prose.js';
import { Side } from '../parts/Side.js';
import { Stepper } from '../parts/Stepper.js';
import { Timeline } from '../parts/Timeline.js';
import type { DeferredChoice } from '../state/shared.js';
import { change, conversation, doc, open, shared } from '../state/state.js';
import { HINT, latest, onInput, onPaste, Pane, textShown } from './pane.js';

export function Deferred() {
  const found = conversation.value;
  if (found === undefined) return <Empty />;
  if ('failed' in found) {
    return (
      <div class="view view-deferred">
        <Choices />
        <div class="empty" role="alert">
          <p>
            <b>{found.failed.rule}</b>
          </p>
          <p>
            <Prose text={found.failed.message} />
          </p>
        </div>
        <Input />
      </div>
    );
  }
  const { gists, sides, skipped } = found;
  const at = Math.min(Math.max(shared.value.turn, 0), gists.length - 1);
  return (
    <div class="view view-deferred">
      <Choices />
      {skipped === 0 ? null : (
        <p class="toolbar toolbar-says" role="status">
          {shortened(gists.length, skipped)}
        </p>
      )}
      <Stepper gists={gists} at={at} skipped={skipped} />
      <Timeline conversation={found} at={at} />
      <div class="panes panes-sides">
        <Side side={sides[0]} which="left" at={at} number={at + 1 + skipped} />
        <Side side={sides[1]} which="right" at={at} number={at + 1 + skipped} />
        <details class="pane pane-fold">
          <summary>Edit the whole request</summary>
          <Pane.Input />
          <Editor
            text={textShown.value}
            label="Input"
            onInput={onInput}
            onPaste={onPaste}
            latest={latest}
            hint={HINT}
          />
        </details>
      </div>
    </div>
  );
}

function Input() {
  return (
    <div class="pane">
      <Pane.Input />
      <Editor text={textShown.value} label="Input" onInput={onInput} onPaste={onPaste} latest={latest} hint={HINT} />
    </div>
  );
}

const KINDS: Record<Kind, string> = {
  nothing: 'No request yet.',
  refused: 'This is not a conversation.',
  schema: 'This is not a conversation, but a schema.',
  schemas: 'This is not a conversation, but a list of schemas.',
  tool: 'This is not a conversation, but a tool.',
  tools: 'This is not a conversation, but a list of tools.',
  format: 'This is not a conversation, but a response format.',
  request: 'This request has no conversation whose turns can be shown.',
};

function Empty() {
  return (
    <div class="view view-deferred">
      <div class="empty">
        <p>
          <b>{KINDS[doc.value.kind]}</b>
        </p>
        <p>
          Deferred loading needs a request with messages, and tools with <code>defer_loading: true</code> or tools that
          the history adds. Paste one, or open an example:
        </p>
        <ul class="empty-examples">
          {EXAMPLES.filter(({ views }) => views.includes('deferred')).map((example, at) => (
            <li key={example.id}>
              <button type="button" class={at === 0 ? 'primary' : 'plain'} onClick={() => open(example)}>
                {example.title}
              </button>
            </li>
          ))}
        </ul>
      </div>
      <Input />
    </div>
  );
}

const CHOICES: { [Name in keyof DeferredChoice]-?: { label: string; values: readonly [string, string][] } } = {
  mode: {
    label: 'Hidden tools',
    values: [
      ['', 'not sent'],
      ['load-all', 'all sent'],
    ],
  },
  order: {
    label: 'Loaded tools',
    values: [
      ['', 'at their original position'],
      ['append', 'at the end'],
    ],
  },
  announce: {
    label: 'Announced',
    values: [
      ['', 'no'],
      ['names', 'by name'],
    ],
  },
  serverToolSearch: {
    label: 'Hosted search',
    values: [
      ['', 'load all (default)'],
      ['emulate', 'replaced by a function'],
      ['drop', 'removed'],
    ],
  },
  loadUsedTools: {
    label: 'Past calls load',
    values: [
      ['', 'no'],
      ['true', 'yes'],
    ],
  },
};

function BackendChoice({ side }: { side: 'left' | 'right' }) {
  return (
    <label class="choice">
      <span>
        <span class={`swatch swatch-${side}`} aria-hidden="true" />
        {side === 'left' ? 'Left' : 'Right'} <span class="sr">backend</span>
      </span>
      <select
        value={shared.value[side]}
        onChange={({ currentTarget }) => change({ [side]: currentTarget.value as BackendId })}
      >
        {BACKENDS.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Choices() {
  const { deferred } = shared.value;
  return (
    <div class="toolbar deferred-choices">
      <BackendChoice side="left" />
      <BackendChoice side="right" />
      {(Object.keys(CHOICES) as (keyof DeferredChoice)[]).map((name) => {
        const { label, values } = CHOICES[name];
        return (
          <label key={name} class="choice">
            <span>{label}</span>
            <select
              value={String(deferred[name] ?? '')}
              onChange={({ currentTarget: { value } }) => {
                const { [name]: _, ...rest } = deferred;
                change({ deferred: value === '' ? rest : { ...rest, [name]: value === 'true' ? true : value } });
              }}
            >
              {values.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        );
      })}
    </div>
  );
}
