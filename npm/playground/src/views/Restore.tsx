/** What the model answers, and what the tool's own server gets: restored while one types. */

import { useComputed } from '@preact/signals';

import type { Note } from '../calls/note.js';
import { Editor } from '../editor/Editor.js';
import { located } from '../editor/located.js';
import { Dialects } from '../parts/Dialects.js';
import { Prose } from '../parts/Prose.js';
import { change, doc, restored, shared, tool } from '../state/state.js';

export function Restore() {
  const found = restored.value;
  const misread = useComputed(() => restored.value?.misread);
  const marks = useComputed(() =>
    located(restored.value?.args ?? '', misread.value === undefined ? [] : [misread.value], 'pointer', undefined),
  );
  return (
    <div class="view view-restore">
      <div class="toolbar">
        <ToolChoice />
        <p class="toolbar-says">
          {found === undefined ? (
            'A schema or a tool is needed: pick an example.'
          ) : found.encodes.length === 0 ? (
            <>
              <code>{shared.value.dialect}</code> never encodes arguments: they come back as they are.
            </>
          ) : (
            <>
              <code>{shared.value.dialect}</code> may encode: {found.encodes.join('; ')}.
            </>
          )}
        </p>
      </div>
      <Dialects />
      {found === undefined ? (
        <p class="empty">Nothing to restore for: this text has no schema of a tool’s arguments.</p>
      ) : found.refused !== undefined ? (
        <Refused note={found.refused} />
      ) : (
        <div class="panes panes-restore">
          <div class="pane">
            <Head title="The model is shown" says={nameChange(found.ownName, found.seenName)} />
            <Editor text={found.seen ?? ''} label="The schema that the model is shown" />
          </div>
          <div class="pane pane-type">
            <Head title="The model answers" says="type here">
              <button
                type="button"
                class="link"
                onClick={() => change({ args: null })}
                disabled={shared.value.args === null}
              >
                Make up arguments
              </button>
            </Head>
            <Editor
              text={found.args}
              label="The model’s arguments"
              marks={marks.value}
              onInput={(args) => change({ args })}
              latest={() => restored.peek()?.args ?? ''}
              hint="{}"
            />
            {misread.value === undefined ? null : (
              <p class="misread" role="alert">
                <b>{misread.value.rule}</b> <Prose text={misread.value.message} />
              </p>
            )}
          </div>
          <div class="pane">
            <Head
              title="The tool gets"
              says={found.restored === undefined ? '' : found.same ? 'as the model wrote it' : 'restored'}
              tone={found.same ? undefined : 'same'}
            />
            <Editor text={found.restored ?? ''} label="The restored arguments" />
          </div>
          <div class="pane">
            <Head title="The tool’s own schema" says="" />
            <Editor text={found.own} label="The tool’s own schema" />
          </div>
        </div>
      )}
    </div>
  );
}

function nameChange(own: string | undefined, seen: string | undefined): string {
  return own === seen ? '' : `as ${seen}`;
}

interface HeadProps {
  title: string;
  says: string;
  tone?: string | undefined;
  children?: preact.ComponentChildren;
}

function Head({ title, says, tone, children }: HeadProps) {
  return (
    <div class="pane-head">
      <h2>{title}</h2>
      <span class={tone === undefined ? 'pane-kind' : `pane-kind pill effect-${tone}`}>{says}</span>
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
      <p>No model can be shown this tool in this dialect, so none answers.</p>
    </div>
  );
}

function ToolChoice() {
  const { tools } = doc.value;
  if (tools.length < 2) return null;
  return (
    <label class="choice choice-inline">
      <span>Tool</span>
      <select value={tool.value?.name ?? ''} onChange={({ currentTarget }) => change({ tool: currentTarget.value })}>
        {tools.map(({ name, pointer }) => (
          <option key={pointer} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
