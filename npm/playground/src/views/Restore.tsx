/** The model's arguments, and the restored (optionally repaired) arguments for the tool's server, updated as the user types. */

import { useComputed } from '@preact/signals';

import type { Note } from '../calls/note.js';
import type { Shown as Restored } from '../calls/restored.js';
import { Comparison } from '../editor/Comparison.js';
import { Editor } from '../editor/Editor.js';
import { Dialects } from '../parts/Dialects.js';
import { Fold } from '../parts/Fold.js';
import { Prose } from '../parts/Prose.js';
import { Repairs } from '../parts/Repairs.js';
import { wide } from '../parts/wide.js';
import { argsText, change, doc, restored, restoredText, selectedRepair, shared } from '../state/state.js';

export function Restore() {
  const found = restored.value;
  const { repair } = shared.value;
  const before = useComputed(() => {
    const { args = '', before: list = [] } = restored.value ?? {};
    return { length: args.length, list, selected: selectedRepair.value };
  });
  const after = useComputed(() => {
    const { after: list = [] } = restored.value ?? {};
    return { length: restoredText.value.text.length, list, selected: selectedRepair.value };
  });
  const differences = useComputed(() => {
    const { args = '', differences: list = [] } = restored.value ?? {};
    return { before: args.length, after: restoredText.value.text.length, list };
  });
  const onSelect = (number: number) => {
    if (repair) selectedRepair.value = number;
  };
  const args = {
    text: argsText.value,
    label: 'Arguments from the model',
    marks: before.value,
    numbers: repair,
    onInput: (text: string) => change({ args: text }),
    latest: () => argsText.peek(),
    hint: '{}',
  };
  const gets = { text: restoredText.value.text, label: RESTORED, ...(repair ? { marks: after.value } : {}) };
  return (
    <div class="view view-restore">
      <div class="toolbar">
        <ToolChoice />
        <Switch />
        <Encodes />
      </div>
      <Dialects />
      {found === undefined ? (
        <p class="empty">Nothing to restore: this text contains no schema of a tool’s arguments.</p>
      ) : found.refused !== undefined ? (
        <Refused note={found.refused} />
      ) : (
        <div class={`panes panes-restore${repair ? ' panes-repair' : ''}`} key={repair}>
          <div class="pane">
            <Head title="Sent to the model" caption={nameChange(found.ownName, found.seenName)} />
            <Editor text={found.seen ?? ''} label="Schema sent to the model" />
          </div>
          <div class="pane pane-own">
            <Head title="Original schema" caption="" />
            <Editor text={found.own} label="Original schema" />
          </div>
          {wide.value ? (
            <div class="pane pane-both pane-arguments" data-none={restoredText.value.none}>
              <div class="pane-heads">
                <Answers found={found} />
                <Gets found={found} />
              </div>
              <Comparison before={args} after={gets} differences={differences.value} onSelect={onSelect} />
              <Misread note={found.misread} />
            </div>
          ) : (
            <>
              <div class="pane">
                <Answers found={found} />
                <Editor {...args} onSelect={onSelect} />
                <Misread note={found.misread} />
              </div>
              <div class="pane">
                <Gets found={found} />
                <Editor {...gets} onSelect={onSelect} />
              </div>
            </>
          )}
          {repair ? <Repairs found={found} /> : null}
        </div>
      )}
    </div>
  );
}

const RESTORED = 'Restored arguments';

function Answers({ found }: { found: Restored }) {
  return (
    <Head title="Arguments from the model" caption={nameChange(found.ownName, found.seenName) || 'type here'}>
      <button type="button" class="link" onClick={() => change({ args: null })} disabled={shared.value.args === null}>
        Generate arguments
      </button>
    </Head>
  );
}

function Gets({ found: { restored, same, repaired } }: { found: Restored }) {
  const part = repaired?.valid === false ? 'partly ' : '';
  const changed = repaired === undefined || repaired.repairs === 0 ? 'restored' : `${part}repaired`;
  const caption = restored === undefined ? 'nothing' : same ? 'unchanged' : changed;
  const tone = repaired?.valid === false ? 'left' : 'same';
  return (
    <Head title="Arguments for the tool" caption={caption} tone={same || restored === undefined ? undefined : tone} />
  );
}

function Switch() {
  const { repair } = shared.value;
  return (
    <label class="switch" title="Repair and mark what the original schema refuses">
      <input
        type="checkbox"
        role="switch"
        checked={repair}
        aria-checked={repair}
        onChange={({ currentTarget }) => change({ repair: currentTarget.checked })}
      />
      Repair arguments
    </label>
  );
}

function Misread({ note }: { note: Note | undefined }) {
  return note === undefined ? null : (
    <p class="misread" role="alert">
      <b>{note.rule}</b> <Prose text={note.message} />
    </p>
  );
}

/** The ways in which this dialect may encode arguments, collapsed at first. */
function Encodes() {
  const found = restored.value;
  const { repair } = shared.value;
  if (found === undefined) return null;
  const { dialect } = found;
  if (found.encodes.length === 0) {
    return (
      <p class="toolbar-says">
        <code>{dialect}</code> never encodes arguments{repair ? '.' : ': they are not changed.'}
      </p>
    );
  }
  return (
    <Fold
      name={
        <>
          Encodings of <code>{dialect}</code>
        </>
      }
    >
      <ul class="choices-box encodes">
        {found.encodes.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </Fold>
  );
}

function nameChange(own: string | undefined, seen: string | undefined): string {
  return own === seen ? '' : `as ${seen}`;
}

interface HeadProps {
  title: string;
  caption: string;
  tone?: string | undefined;
  children?: preact.ComponentChildren;
}

function Head({ title, caption, tone, children }: HeadProps) {
  return (
    <div class="pane-head">
      <h2>{title}</h2>
      <span class={tone === undefined ? 'pane-kind' : `pane-kind pill effect-${tone}`}>{caption}</span>
      {children}
    </div>
  );
}

function Refused({ note }: { note: Note }) {
  return (
    <div class="empty">
      <p>
        <b>{note.rule}</b>
      </p>
      <p>
        <Prose text={note.message} />
      </p>
      <p>The tool cannot be sent in this dialect, so there are no arguments to restore.</p>
    </div>
  );
}

function ToolChoice() {
  const { tools } = doc.value;
  if (tools.length < 2) return null;
  return (
    <label class="choice choice-inline">
      <span>Tool</span>
      <select
        value={restored.value?.label ?? ''}
        onChange={({ currentTarget }) => change({ tool: currentTarget.value })}
      >
        {tools.map(({ name, pointer }) => (
          <option key={pointer} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
