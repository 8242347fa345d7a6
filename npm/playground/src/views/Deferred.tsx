/** A conversation whose tools wait until they are found: what the model sees at each turn, and what that saves. */

import type { Conversation, Turn } from '../calls/conversation.js';
import { layout } from '../document/layout.js';
import { Comparison } from '../editor/Comparison.js';
import { Editor } from '../editor/Editor.js';
import { exampleOf } from '../examples/index.js';
import { Prose } from '../parts/Prose.js';
import { Timeline } from '../parts/Timeline.js';
import { wide } from '../parts/wide.js';
import type { DeferredChoice } from '../state/shared.js';
import { change, conversation, doc, open, shared } from '../state/state.js';
import { HINT, latest, onInput, Pane, textShown } from './pane.js';

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
      </div>
    );
  }
  const at = Math.min(Math.max(shared.value.turn, 0), found.turns.length - 1);
  const turn = found.turns[at];
  return (
    <div class="view view-deferred">
      <Choices />
      <Timeline conversation={found} at={at} />
      {turn === undefined ? null : <Details conversation={found} turn={turn} at={at} />}
    </div>
  );
}

function Details({ conversation: { tools }, turn, at }: { conversation: Conversation; turn: Turn; at: number }) {
  const { said, before, after, hidden, savedBytes, arrived, unreachable, warnings, promptBytes, cachedBytes } = turn;
  return (
    <div class="panes panes-turn">
      <section class="turn" aria-label={`Turn ${at + 1}`}>
        <h2>
          Turn {at + 1} <span class="turn-of">what the model reads next</span>
        </h2>
        <ol class="said">
          {said.map(({ who, text, call, references }, number) => (
            <li key={number} class={`said-${who}`}>
              <span class="who">{who === 'tool' ? 'result' : who}</span>
              <span>
                {call ? <code class="said-call">{text}</code> : text}
                {references.map((name) => (
                  <code key={name} class="reference">
                    → {name}
                  </code>
                ))}
              </span>
            </li>
          ))}
        </ol>
        <ul class="facts">
          <li>
            <b>{tools.length - hidden.size}</b> of {tools.length} tools visible
            {arrived.length === 0 ? null : (
              <>
                , new:{' '}
                {arrived.map((name) => (
                  <code key={name}>{name}</code>
                ))}
              </>
            )}
          </li>
          <li>
            <b>{savedBytes.toLocaleString('en')}</b> bytes of tools not sent
          </li>
          {at === 0 ? null : (
            <li>
              <b>{Math.round((100 * cachedBytes) / promptBytes)} %</b> of the prompt begins as the one before, for a
              prompt cache
            </li>
          )}
          {unreachable ? (
            <li class="warning">The model cannot reach the hidden tools: nothing tells it of them.</li>
          ) : null}
          {warnings.map((warning) => (
            <li key={warning}>{warning.replaceAll('_', ' ')}</li>
          ))}
        </ul>
      </section>
      <Request before={layout(before)} after={layout(after)} />
      <details class="pane pane-fold">
        <summary>The whole request, to edit</summary>
        <Pane.Input />
        <Editor text={textShown.value} label="Input" onInput={onInput} latest={latest} hint={HINT} />
      </details>
    </div>
  );
}

function Request({ before, after }: { before: string; after: string }) {
  if (wide.value) {
    return (
      <div class="pane pane-both">
        <div class="pane-heads">
          <div class="pane-head">
            <h2>The agent’s request</h2>
          </div>
          <div class="pane-head">
            <h2>What is sent</h2>
          </div>
        </div>
        <Comparison
          before={{ text: before, label: 'The agent’s request' }}
          after={{ text: after, label: 'What is sent' }}
        />
      </div>
    );
  }
  return (
    <div class="pane">
      <div class="pane-head">
        <h2>What is sent</h2>
      </div>
      <Editor text={after} label="What is sent" />
    </div>
  );
}

function Empty() {
  const example = exampleOf('conversation');
  return (
    <div class="view view-deferred">
      <div class="empty">
        <p>
          <b>
            {doc.value.kind === 'nothing'
              ? 'No request here yet.'
              : `This is no conversation, but a ${doc.value.kind === 'tools' ? 'list of tools' : doc.value.kind}.`}
          </b>
        </p>
        <p>
          Deferred loading needs a request with messages, and tools with <code>defer_loading: true</code>.
        </p>
        <p>
          <button type="button" class="primary" onClick={() => example !== undefined && open(example)}>
            Open the example
          </button>
        </p>
      </div>
      <div class="pane">
        <Pane.Input />
        <Editor text={textShown.value} label="Input" onInput={onInput} latest={latest} hint={HINT} />
      </div>
    </div>
  );
}

const CHOICES: { [Name in keyof DeferredChoice]-?: { label: string; values: readonly [string, string][] } } = {
  mode: {
    label: 'Hidden tools',
    values: [
      ['', 'left out'],
      ['load-all', 'all sent'],
    ],
  },
  order: {
    label: 'Loaded tools',
    values: [
      ['', 'in their old places'],
      ['append', 'at the end'],
    ],
  },
  announce: {
    label: 'Announced',
    values: [
      ['', 'not at all'],
      ['names', 'by name'],
    ],
  },
  serverToolSearch: {
    label: 'Hosted search',
    values: [
      ['', 'load all (default)'],
      ['emulate', 'becomes a function'],
      ['drop', 'goes'],
    ],
  },
  target: {
    label: 'Sent to',
    values: [
      ['', 'the same API'],
      ['openai-chat', 'Chat Completions'],
      ['openai-responses', 'Responses'],
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

function Choices() {
  const { deferred } = shared.value;
  return (
    <div class="toolbar deferred-choices">
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
              {values.map(([value, says]) => (
                <option key={value} value={value}>
                  {says}
                </option>
              ))}
            </select>
          </label>
        );
      })}
    </div>
  );
}
