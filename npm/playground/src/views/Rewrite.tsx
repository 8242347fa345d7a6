/** A text in a dialect: input and output side by side, and every change. */

import { useComputed } from '@preact/signals';

import { Comparison } from '../editor/Comparison.js';
import { Editor } from '../editor/Editor.js';
import { located } from '../editor/located.js';
import { Dialects } from '../parts/Dialects.js';
import { Notes } from '../parts/Notes.js';
import { Toolbar } from '../parts/Toolbar.js';
import { wide } from '../parts/wide.js';
import { doc, outcome, selected } from '../state/state.js';
import { HINT, onInput, Pane, textShown } from './pane.js';

export function Rewrite() {
  const before = useComputed(() => located(doc.value.text, outcome.value.notes, 'pointer', selected.value));
  const after = useComputed(() =>
    located(outcome.value.output ?? '', outcome.value.notes, 'outputPointer', selected.value),
  );
  const { output } = outcome.value;
  const onSelect = (number: number) => {
    selected.value = number;
  };
  const input = { text: textShown.value, marks: before.value, label: 'Input', onInput, hint: HINT };
  return (
    <div class="view view-rewrite">
      <Toolbar />
      <Dialects />
      <div class="panes">
        {wide.value && output !== undefined ? (
          <div class="pane pane-both">
            <div class="pane-heads">
              <Pane.Input />
              <Pane.Output />
            </div>
            <Comparison
              before={input}
              after={{ text: output, marks: after.value, label: 'Output' }}
              onSelect={onSelect}
            />
          </div>
        ) : (
          <div class="pane">
            <Pane.Input />
            <Editor {...input} onSelect={onSelect} />
          </div>
        )}
        {wide.value || output === undefined ? null : (
          <div class="pane">
            <Pane.Output />
            <Editor text={output} marks={after.value} label="Output" onSelect={onSelect} />
          </div>
        )}
        <Notes />
      </div>
    </div>
  );
}
