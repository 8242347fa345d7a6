/** The notes about the text: a verdict, and one card for each change, violation or error. */

import { change, doc, outcome, selected, shared } from '../state/state.js';
import { Card, Cards, excerptOf, Fact, Summary } from './Card.js';

export function Notes() {
  const { notes, text, output, before, after } = outcome.value;
  const { tool } = shared.value;
  const several = doc.value.tools.length > 1;
  const shown = notes
    .map((note, number) => ({ note, number }))
    .filter(({ note }) => !several || tool === null || note.tool === undefined || note.tool === tool);
  return (
    <section class="notes" aria-label="Changes and findings">
      <Verdict />
      {several && tool !== null ? (
        <p class="only">
          Only <code>{tool}</code>
          <button type="button" class="link" onClick={() => change({ tool: null })}>
            Show all tools
          </button>
        </p>
      ) : null}
      <Cards
        items={shown}
        chosen={selected}
        card={({ note, number }, at) => (
          <Card
            key={number}
            note={note}
            number={number}
            chosen={selected}
            head={several && tool === null && note.tool !== shown[at - 1]?.note.tool ? note.tool : undefined}
            excerpts={{
              before: excerptOf(text, before, number),
              after: excerptOf(output, after, number),
            }}
          >
            <Fact name="in" pointer={note.pointer} {...(note.line === undefined ? {} : { line: note.line })} />
            <Fact name="out" pointer={note.outputPointer} />
            {note.change === undefined || selected.value !== number ? null : (
              <>
                <dt>effect</dt>
                <dd>
                  arguments {note.change.accepts}, guidance {note.change.guidance}
                  {note.change.encoded ? ', encoded' : ''}
                </dd>
              </>
            )}
          </Card>
        )}
      />
    </section>
  );
}

/** The reaction of an API, by the worst severity of the violations. */
const VERBS = {
  refused: 'refuses this',
  reinterpreted: 'reinterprets this',
  ignored: 'ignores a part of this',
};

function Verdict() {
  const { notes, failed, lossless, text, choices } = outcome.value;
  const { dialect, fn } = choices;
  if (text.trim() === '') {
    return (
      <Summary
        tone="info"
        title="Nothing here yet"
        text="Paste a schema, a tool, a list of tools or a request, or pick an example."
      />
    );
  }
  if (failed) {
    return (
      <Summary tone="refused" title="Refused" text="The input cannot be used. The reason is marked in the text." />
    );
  }
  const count = (many: number, what: string) => `${many} ${what}${many === 1 ? '' : 's'}`;
  if (fn === 'check') {
    if (notes.length === 0) {
      return <Summary tone="same" title={`${dialect} accepts this`} text="It violates no rule of this dialect." />;
    }
    const severity = (['refused', 'reinterpreted'] as const).find((each) =>
      notes.some(({ effect }) => effect === each),
    );
    return (
      <Summary
        tone={severity ?? 'ignored'}
        title={`${dialect} ${VERBS[severity ?? 'ignored']}`}
        text={`${count(notes.length, 'violation')}, marked in the text.`}
      />
    );
  }
  if (fn === 'applyDeferredLoading') {
    const hidden = notes.filter(({ rule }) => rule === 'hidden').length;
    return (
      <Summary
        tone="info"
        title={`${count(hidden, 'tool')} hidden`}
        text="The view “Deferred loading” replays the conversation turn by turn."
      />
    );
  }
  if (notes.length === 0) return <Summary tone="same" title="Nothing to change" text="The output equals the input." />;
  const changes = notes.filter((note) => note.change !== undefined);
  const aside = notes.filter(({ effect }) => effect === 'refused').length;
  const hidden = notes.filter(({ rule }) => rule === 'hidden').length;
  const parts = [
    count(changes.length, 'change'),
    ...(aside === 0 ? [] : [`${count(aside, 'tool')} set aside`]),
    ...(hidden === 0 ? [] : [`${count(hidden, 'tool')} hidden`]),
  ];
  const encoded = changes.find((note) => note.change?.encoded);
  const loose = new Set(notes.filter(({ effect }) => effect === 'not-strict').map(({ tool }) => tool)).size;
  const [tone, title, means] =
    aside > 0
      ? ['refused', `${count(aside, 'tool')} set aside`, 'The others are accepted.']
      : lossless
        ? loose > 0
          ? ['not-strict', `${count(loose, 'tool')} not strict`, 'The API does not enforce the schema of these.']
          : ['same', 'Lossless', 'The same arguments are accepted, and the model reads the same.']
        : ['wider', 'Accepted, with loss', 'Each change states what it loses.'];
  return (
    <Summary tone={tone} title={title} text={`${parts.join(', ')}. ${means}`}>
      {encoded === undefined || fn !== 'sanitize' ? null : (
        <button
          type="button"
          class="link"
          onClick={() => change({ view: 'restore', tool: encoded.tool ?? shared.peek().tool })}
        >
          Show how the model’s arguments are restored
        </button>
      )}
    </Summary>
  );
}
