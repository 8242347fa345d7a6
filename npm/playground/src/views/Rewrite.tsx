/** A text in a dialect: input and output side by side, and every change. */

import { useComputed } from '@preact/signals';

import { Comparison } from '../editor/Comparison.js';
import { Editor } from '../editor/Editor.js';
import { Dialects } from '../parts/Dialects.js';
import { Notes } from '../parts/Notes.js';
import { Toolbar } from '../parts/Toolbar.js';
import { wide } from '../parts/wide.js';
import { outcome, output, selected } from '../state/state.js';
import { HINT, latest, onInput, onPaste, Pane, textShown } from './pane.js';

export function Rewrite() {
  const before = useComputed(() => {
    const { text, before: list } = outcome.value;
    return { length: text.length, list, selected: selected.value };
  });
  const after = useComputed(() => {
    const list = output.value?.none ? [] : outcome.value.after;
    return { length: output.value?.text.length ?? 0, list, selected: selected.value };
  });
  const differences = useComputed(() => {
    const { text, differences: list } = outcome.value;
    return { before: text.length, after: output.value?.text.length ?? 0, list };
  });
  const shown = output.value;
  const onSelect = (number: number) => {
    selected.value = number;
  };
  const input = { text: textShown.value, marks: before.value, label: 'Input', onInput, onPaste, latest, hint: HINT };
  return (
    <div class="view view-rewrite">
      <Toolbar />
      <Dialects />
      <div class="panes">
        {wide.value && shown !== undefined ? (
          <div class="pane pane-both" data-none={shown.none}>
            <div class="pane-heads">
              <Pane.Input />
              <Pane.Output />
            </div>
            <Comparison
              before={input}
              after={{ text: shown.text, marks: after.value, label: 'Output' }}
              differences={differences.value}
              onSelect={onSelect}
            />
          </div>
        ) : (
          <div class="pane">
            <Pane.Input />
            <Editor {...input} onSelect={onSelect} />
          </div>
        )}
        {wide.value || shown === undefined ? null : (
          <div class="pane">
            <Pane.Output />
            <Editor text={shown.text} marks={after.value} label="Output" onSelect={onSelect} />
          </div>
        )}
        <Notes />
      </div>
    </div>
  );
}
