/** Everything toolwire says about the text: a verdict, and one card for each change, violation or error. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { EFFECTS, type Note } from '../calls/note.js';
import { places } from '../document/tree.js';
import { change, doc, fn, outcome, selected, shared } from '../state/state.js';
import { Prose } from './Prose.js';
import { wide } from './wide.js';

/** So many cards at first: a long list of tools has thousands, and a page slows down long before anybody reads them. */
const AT_FIRST = 200;

export function Notes() {
  const { notes } = outcome.value;
  const most = useSignal(AT_FIRST);
  const { tool } = shared.value;
  const several = doc.value.tools.length > 1;
  const shown = notes
    .map((note, number) => ({ note, number }))
    .filter(({ note }) => !several || tool === null || note.tool === undefined || note.tool === tool);
  return (
    <section class="notes" aria-label="What toolwire says">
      <Verdict />
      {several && tool !== null ? (
        <p class="only">
          Only <code>{tool}</code>
          <button type="button" class="link" onClick={() => change({ tool: null })}>
            Show all tools
          </button>
        </p>
      ) : null}
      <ol class="note-list">
        {shown.slice(0, Math.max(most.value, (selected.value ?? 0) + 1)).map(({ note, number }, at) => (
          <Card
            key={number}
            note={note}
            number={number}
            head={several && tool === null && note.tool !== shown[at - 1]?.note.tool ? note.tool : undefined}
          />
        ))}
      </ol>
      {shown.length <= most.value ? null : (
        <button type="button" class="more" onClick={() => (most.value = shown.length)}>
          Show {shown.length - most.value} more
        </button>
      )}
    </section>
  );
}

function Verdict() {
  const { notes, failed, lossless } = outcome.value;
  const { dialect } = shared.value;
  const { kind } = doc.value;
  if (kind === 'nothing' && notes.length === 0) {
    return (
      <Says
        tone="info"
        title="Nothing here yet"
        text="Paste a schema, a tool, a list of tools or a request, or pick an example."
      />
    );
  }
  if (failed) return <Says tone="refused" title="Refused" text="The call failed. The place is marked in the text." />;
  const count = (many: number, what: string) => `${many} ${what}${many === 1 ? '' : 's'}`;
  if (fn.value === 'check') {
    return notes.length === 0 ? (
      <Says tone="same" title={`${dialect} accepts this`} text="No rule of this dialect is broken." />
    ) : (
      <Says
        tone="refused"
        title={`${dialect} would refuse this`}
        text={`${count(notes.length, 'violation')}, all marked.`}
      />
    );
  }
  if (fn.value === 'applyDeferredLoading') {
    const hidden = notes.filter(({ rule }) => rule === 'hidden').length;
    return (
      <Says
        tone="info"
        title={`${count(hidden, 'tool')} hidden`}
        text="The view “Deferred loading” plays it turn by turn."
      />
    );
  }
  if (notes.length === 0)
    return <Says tone="same" title="Nothing to change" text="It comes back exactly as it went in." />;
  const changes = notes.filter((note) => note.change !== undefined);
  const aside = notes.filter(({ effect }) => effect === 'refused').length;
  const hidden = notes.filter(({ rule }) => rule === 'hidden').length;
  const parts = [
    count(changes.length, 'change'),
    ...(aside === 0 ? [] : [`${count(aside, 'tool')} set aside`]),
    ...(hidden === 0 ? [] : [`${count(hidden, 'tool')} hidden`]),
  ];
  const encoded = changes.find((note) => note.change?.encoded);
  const [tone, title, means] =
    aside > 0
      ? ['refused', `${count(aside, 'tool')} set aside`, 'The others go through.']
      : lossless
        ? ['same', 'Lossless', 'The same arguments are accepted, and the model is told as much.']
        : ['wider', 'Accepted, with loss', 'Each says what it costs.'];
  return (
    <Says tone={tone} title={title} text={`${parts.join(', ')}. ${means}`}>
      {encoded === undefined || fn.value !== 'sanitize' ? null : (
        <button
          type="button"
          class="link"
          onClick={() => change({ view: 'restore', tool: encoded.tool ?? shared.peek().tool })}
        >
          See the model’s arguments restored
        </button>
      )}
    </Says>
  );
}

interface SaysProps {
  tone: string | undefined;
  title: string | undefined;
  text: string;
  children?: ComponentChildren;
}

function Says({ tone, title, text, children }: SaysProps) {
  return (
    <div class={`verdict effect-${tone}`} role="status">
      <strong>{title}</strong>
      <span>{text}</span>
      {children}
    </div>
  );
}

function Card({ note, number, head }: { note: Note; number: number; head: string | null | undefined }) {
  const chosen = selected.value === number;
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (chosen) item.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const { effect, rule, message, pointer, outputPointer, reason } = note;
  return (
    <li ref={item} class="note-item">
      {head == null ? null : <h3 class="note-tool">{head}</h3>}
      <div class={`note effect-${effect}`} data-chosen={chosen}>
        <button
          type="button"
          class="note-button"
          aria-pressed={chosen}
          onClick={() => (selected.value = chosen ? undefined : number)}
        >
          <span class="note-top">
            <span class="note-number">{number + 1}</span>
            <span class="note-rule">{rule}</span>
            <span class="effect" title={EFFECTS[effect].means}>
              {EFFECTS[effect].label}
            </span>
          </span>
          <span class="note-message">
            <Prose text={message} />
          </span>
        </button>
        <dl class="note-facts">
          <dt>in</dt>
          <dd>
            <code>{pointer === '' ? '(root)' : pointer}</code>
          </dd>
          {outputPointer === undefined ? null : (
            <>
              <dt>out</dt>
              <dd>
                {outputPointer === null ? (
                  'nothing is left'
                ) : (
                  <code>{outputPointer === '' ? '(root)' : outputPointer}</code>
                )}
              </dd>
            </>
          )}
          {note.change === undefined || !chosen ? null : (
            <>
              <dt>effect</dt>
              <dd>
                arguments {note.change.accepts}, guidance {note.change.guidance}
                {note.change.encoded ? ', encoded' : ''}
              </dd>
            </>
          )}
        </dl>
        {chosen && !wide.value ? <Excerpts note={note} /> : null}
        {reason === undefined ? null : (
          <div class="reason">
            {reason.fact === '' ? null : (
              <p>
                <Prose text={reason.fact} />
              </p>
            )}
            {reason.source === undefined ? null : (
              <p class="source">
                {reason.confidence === undefined ? null : (
                  <span class="confidence" title={CONFIDENCE[reason.confidence]}>
                    {reason.confidence}
                  </span>
                )}
                <Prose text={reason.source} />
              </p>
            )}
          </div>
        )}
      </div>
    </li>
  );
}

/** The place before and after, where there is no room to see both texts beside the card. */
function Excerpts({ note }: { note: Note }) {
  const before = excerpt(doc.value.text, note.pointer);
  const after = excerpt(outcome.value.output, note.outputPointer);
  return (
    <div class="excerpts">
      {before === undefined ? null : <pre class="excerpt-before">{before}</pre>}
      {after === undefined ? null : <pre class="excerpt-after">{after}</pre>}
    </div>
  );
}

function excerpt(text: string | undefined, pointer: string | null | undefined): string | undefined {
  const place = text === undefined || typeof pointer !== 'string' ? undefined : places(text).get(pointer);
  if (text === undefined || place === undefined) return undefined;
  const lines = text.slice(text.lastIndexOf('\n', place.from) + 1, place.to).split('\n');
  const indent = Math.min(...lines.map((line) => line.search(/\S|$/)));
  const shown = lines.slice(0, 8).map((line) => line.slice(indent));
  return [...shown, ...(lines.length > shown.length ? ['…'] : [])].join('\n');
}

const CONFIDENCE = { A: 'A: official or proved', B: 'B: one live report', C: 'C: inferred' };
