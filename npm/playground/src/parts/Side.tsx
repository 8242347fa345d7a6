/** One backend in one turn: the tools that its model can call, the new parts of the request, and the request itself. */

import { useEffect, useState } from 'preact/hooks';

import type { Side as Played, Sent, Turn } from '../calls/conversation.js';
import type { Piece } from '../calls/words.js';
import { Editor } from '../editor/Editor.js';
import { formatted } from '../state/state.js';
import { Prose } from './Prose.js';

interface Props {
  side: Played;
  which: 'left' | 'right';
  at: number;
  /** The turn's number in the conversation. */
  number: number;
}

export function Side({ side: { backend, turns, failed }, which, at, number }: Props) {
  const turn = turns[at];
  return (
    <section class={`pane side side-${which}`} aria-label={`${backend.name}, turn ${number}`}>
      <div class="pane-head">
        <h2>
          <span class={`swatch swatch-${which}`} aria-hidden="true" />
          {backend.name}
        </h2>
        <span class="pane-kind">{backend.description}</span>
      </div>
      {failed === undefined ? null : (
        <div class="side-failed" role="alert">
          <b>{failed.rule}</b> <Prose text={failed.message} />
        </div>
      )}
      {turn === undefined ? null : <Details turn={turn} first={at === 0} label={`Sent to ${backend.name}`} />}
    </section>
  );
}

function Details({ turn, first, label }: { turn: Turn; first: boolean; label: string }) {
  const { messages, firstMessage, after } = turn;
  return (
    <>
      <Tools turn={turn} first={first} />
      {firstMessage === 0 ? null : (
        <details class="earlier">
          <summary>
            {firstMessage} unchanged message{firstMessage === 1 ? '' : 's'}
          </summary>
          <Messages messages={messages.slice(0, firstMessage)} label="Unchanged messages" />
        </details>
      )}
      <Messages messages={messages.slice(firstMessage)} label="New messages" />
      <Facts turn={turn} first={first} />
      <Whole text={after} label={label} />
    </>
  );
}

/** The whole request, which is formatted when it is opened, because a turn may have megabytes. */
function Whole({ text, label }: { text: string; label: string }) {
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState('');
  useEffect(() => {
    let isCurrent = true;
    if (isOpen) void formatted(label, text).then((laidOut) => isCurrent && setShown(laidOut));
    return () => {
      isCurrent = false;
    };
  }, [isOpen, text]);
  return (
    <details class="pane-fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The request as JSON</summary>
      <Editor text={shown} label={label} />
    </details>
  );
}

function Tools({ turn: { tools, came, went, hidden }, first }: { turn: Turn; first: boolean }) {
  return (
    <ul class="side-tools" aria-label="Tools that the model can call">
      {tools.map(({ name, listed }) => {
        const isNew = !first && came.includes(name);
        return (
          <li key={name} class={isNew ? 'tool-came' : ''} title={listed ? 'in `tools`' : 'in the history'}>
            <code>
              {isNew ? <span aria-hidden="true">+ </span> : null}
              {name}
            </code>
            {isNew ? <span class="sr">new</span> : null}
            {listed ? null : <span class="mark mark-carrier">history</span>}
          </li>
        );
      })}
      {went.map((name) => (
        <li key={name} class="tool-went">
          <code>
            <span aria-hidden="true">− </span>
            {name}
          </code>
          <span class="sr">removed</span>
        </li>
      ))}
      {hidden.length === 0 ? null : <li class="tools-hidden">{hidden.length} hidden</li>}
    </ul>
  );
}

function Messages({ messages, label }: { messages: readonly Sent[]; label: string }) {
  return (
    <ol class="said" aria-label={label}>
      {messages.map(({ who, pieces, notices }, number) => (
        <li key={number} class={`message-${who}`}>
          <span class="who">{who}</span>
          <span>
            {pieces.map((piece, place) => (
              <PieceView key={place} piece={piece} notice={notices.has(piece.text)} />
            ))}
          </span>
        </li>
      ))}
    </ol>
  );
}

const MARKS = { brings: 'carrier', refers: 'reference', takes: 'removal' } as const;

function PieceView({ piece: { kind, text, names }, notice }: { piece: Piece; notice: boolean }) {
  switch (kind) {
    case 'brings':
    case 'refers':
    case 'takes':
      return (
        <span class="piece">
          <span class={`mark mark-${MARKS[kind]}`}>{MARKS[kind]}</span>
          {names.map((name) => (
            <code key={name}>{name}</code>
          ))}
          {names.length === 0 ? <span class="nothing">no tools</span> : null}
        </span>
      );
    case 'call':
      return (
        <span class="piece">
          <code class="message-call">{text}</code>
        </span>
      );
    default:
      return (
        <span class="piece">
          {notice ? <span class="mark mark-notice">notice</span> : null}
          <span class={notice ? 'message-notice' : ''}>{kind === 'other' ? <i>{text}</i> : text}</span>
        </span>
      );
  }
}

function Facts({ turn, first }: { turn: Turn; first: boolean }) {
  const { tools, hidden, savedBytes, promptBytes, newBytes, partsAt, betas, warnings, unreachable } = turn;
  const kept = Math.round((100 * (promptBytes - newBytes)) / promptBytes);
  return (
    <ul class="facts">
      <li>
        <b>{tools.length}</b> tool{tools.length === 1 ? '' : 's'} visible, <b>{hidden.length}</b> hidden
      </li>
      <li>
        <b>{savedBytes.toLocaleString('en')}</b> bytes of tools not sent
      </li>
      {first ? null : (
        <li class={partsAt === undefined ? '' : 'parted'}>
          {partsAt === undefined ? (
            'The previous prompt is a prefix of this one'
          ) : (
            <>
              The common prefix ends at <code>{partsAt}</code>
            </>
          )}
          : <b>{kept} %</b> can come from a prompt cache
        </li>
      )}
      {betas.length === 0 ? null : (
        <li>
          requires the beta{' '}
          {betas.map((beta) => (
            <code key={beta}>{beta}</code>
          ))}
        </li>
      )}
      {unreachable ? <li class="warning">The model cannot load the hidden tools: nothing mentions them.</li> : null}
      {warnings.map((warning) => (
        <li key={warning} class="doubt">
          {warning}
        </li>
      ))}
    </ul>
  );
}
