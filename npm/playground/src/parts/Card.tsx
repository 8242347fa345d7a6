/** Cards, one for each note, and the verdict above them. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { Mark } from '../calls/located.js';
import { EFFECTS, type Note } from '../calls/note.js';
import type { Place } from '../document/tree.js';
import { Prose } from './Prose.js';
import { wide } from './wide.js';

/** Number of cards shown at first. A long list of tools has thousands of notes, which would slow the page down. */
const AT_FIRST = 200;

type Chosen = Signal<number | undefined>;

interface CardsProps<T> {
  items: readonly T[];
  /** Index of the selected card's note. */
  chosen: Chosen;
  card: (item: T, at: number) => ComponentChildren;
}

export function Cards<T>({ items, chosen, card }: CardsProps<T>) {
  const limit = useSignal(AT_FIRST);
  return (
    <>
      <ol class="note-list">{items.slice(0, Math.max(limit.value, (chosen.value ?? 0) + 1)).map(card)}</ol>
      {items.length <= limit.value ? null : (
        <button type="button" class="more" onClick={() => (limit.value = items.length)}>
          Show {items.length - limit.value} more
        </button>
      )}
    </>
  );
}

interface SummaryProps {
  tone: string | undefined;
  title: string | undefined;
  text: string;
  children?: ComponentChildren;
}

export function Summary({ tone, title, text, children }: SummaryProps) {
  return (
    <div class={`verdict effect-${tone}`} role="status">
      <strong>{title}</strong>
      <span>{text}</span>
      {children}
    </div>
  );
}

/** A location in a text. */
export interface Excerpt {
  text: string;
  place: Place;
}

/** Returns the location of a note, by its mark in a text. */
export function excerptOf(text: string | undefined, marks: readonly Mark[], number: number): Excerpt | undefined {
  const place = marks.find((mark) => mark.number === number)?.place;
  return text === undefined || place === undefined ? undefined : { text, place };
}

interface CardProps {
  note: Note;
  number: number;
  chosen: Chosen;
  head?: string | null | undefined;
  /** The locations of the note, each with its text. */
  excerpts: { before: Excerpt | undefined; after: Excerpt | undefined };
  /** Details of the note, as terms and descriptions. */
  children: ComponentChildren;
}

export function Card({ note, number, chosen: signal, head, excerpts, children }: CardProps) {
  const chosen = signal.value === number;
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (chosen) item.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const { effect, rule, message, reason } = note;
  return (
    <li ref={item} class="note-item">
      {head == null ? null : <h3 class="note-tool">{head}</h3>}
      <div class={`note effect-${effect}`} data-chosen={chosen}>
        <button
          type="button"
          class="note-button"
          aria-pressed={chosen}
          onClick={() => (signal.value = chosen ? undefined : number)}
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
        <dl class="note-facts">{children}</dl>
        {chosen && !wide.value ? <Excerpts {...excerpts} /> : null}
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

/** A term and a pointer. */
export function Fact({ name, pointer, line }: { name: string; pointer: string | null | undefined; line?: number }) {
  if (pointer === undefined) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {line === undefined ? null : `line ${line}, `}
        {pointer === null ? 'removed' : <code>{pointer === '' ? '(root)' : pointer}</code>}
      </dd>
    </>
  );
}

/** Excerpts before and after the change, for pages too narrow to show both sides next to the card. */
function Excerpts({ before, after }: CardProps['excerpts']) {
  return (
    <div class="excerpts">
      {before === undefined ? null : <pre class="excerpt-before">{excerpt(before)}</pre>}
      {after === undefined ? null : <pre class="excerpt-after">{excerpt(after)}</pre>}
    </div>
  );
}

function excerpt({ text, place }: Excerpt): string {
  const lines = text.slice(text.lastIndexOf('\n', place.from) + 1, place.to).split('\n');
  const indent = lines.reduce((smallest, line) => Math.min(smallest, line.search(/\S|$/)), text.length);
  const shown = lines.slice(0, 8).map((line) => line.slice(indent));
  return [...shown, ...(lines.length > shown.length ? ['…'] : [])].join('\n');
}

const CONFIDENCE = {
  A: 'A: documentation, a validator, source code or two live reports',
  B: 'B: one live report',
  C: 'C: inferred',
};
