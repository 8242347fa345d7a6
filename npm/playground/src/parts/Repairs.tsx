/** The report on the model's arguments: a verdict, a card for each repair and each remaining violation, and the message to send back. */

import type { Repaired } from '../calls/repaired.js';
import type { Shown as Restored } from '../calls/restored.js';
import { copy } from '../state/address.js';
import { selectedRepair } from '../state/state.js';
import { Card, Cards, excerptOf, Fact, Summary } from './Card.js';
import { Icon } from './Icon.js';

export function Repairs({ found }: { found: Restored }) {
  const { repaired, misread, args, restored, before, after } = found;
  if (repaired === undefined) {
    return (
      <section class="notes" aria-label="Repairs">
        {misread === undefined ? (
          <Summary tone="info" title="No schema" text="This tool has no schema, so its arguments cannot be repaired." />
        ) : (
          <Summary
            tone="refused"
            title="Nothing restored"
            text="The arguments cannot be read. The error is below them."
          />
        )}
      </section>
    );
  }
  const { notes, retryMessage } = repaired;
  return (
    <section class="notes" aria-label="Repairs">
      <Verdict repaired={repaired} />
      <Cards
        items={notes}
        chosen={selectedRepair}
        card={(note, number) => (
          <Card
            key={number}
            note={note}
            number={number}
            chosen={selectedRepair}
            excerpts={{
              before: note.left === undefined ? excerptOf(args, before, number) : undefined,
              after: excerptOf(restored, after, number),
            }}
          >
            {note.left === undefined ? <Fact name="in" pointer={note.pointer} /> : null}
            <Fact name="out" pointer={note.outputPointer} />
            {note.kinds === undefined ? null : (
              <>
                <dt>was</dt>
                <dd>
                  {note.kinds.from}, <span class="fact-name">now</span> {note.kinds.to}
                </dd>
              </>
            )}
            {note.left === undefined ? null : (
              <>
                <dt>keyword</dt>
                <dd>
                  <code>{note.left.keyword}</code>
                </dd>
                <dt>why</dt>
                <dd>{note.left.why}</dd>
              </>
            )}
          </Card>
        )}
      />
      {retryMessage === null ? null : <Retry message={retryMessage} />}
    </section>
  );
}

function Verdict({ repaired: { valid, notes, repairs } }: { repaired: Repaired }) {
  const likely = notes.filter(({ effect }) => effect === 'likely').length;
  const left = notes.length - repairs;
  const done =
    repairs === 0 ? 'No repairs.' : `${count(repairs, 'repair')}${likely === 0 ? '' : `, ${likely} likely`}.`;
  if (valid === false) {
    const title = repairs === 0 ? 'Invalid' : 'Partly repaired';
    return (
      <Summary
        tone="refused"
        title={title}
        text={`${done} ${count(left, 'violation')} left: send the message to the model.`}
      />
    );
  }
  if (valid === null) {
    const text = `${done} The schema contains keywords that cannot be checked here; the tool’s server decides.`;
    return <Summary tone="info" title="Validity unknown" text={text} />;
  }
  if (repairs === 0) return <Summary tone="same" title="Valid" text="No repairs are necessary." />;
  return (
    <Summary tone="same" title="Repaired" text={`${done} The tool’s original schema now accepts the arguments.`} />
  );
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`;
}

/** The message to send to the model as the result of the call. */
function Retry({ message }: { message: string }) {
  return (
    <section class="retry" aria-labelledby="retry-title">
      <div class="retry-head">
        <h3 id="retry-title">Message to the model</h3>
        <button type="button" class="link" onClick={() => void copy(message, 'Message copied.')}>
          <Icon name="copy" /> Copy message
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
      <pre tabIndex={0}>{message}</pre>
    </section>
  );
}
