/** Highlights the parts of a document that differ from another document: the lines, and the ranges in them. */

import { type Extension, RangeSet, RangeSetBuilder, RangeValue, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/**
 * Ranges in ascending order, and the length of the text that they belong to, because the user may
 * have typed in the meantime.
 */
export interface Changed {
  length: number;
  ranges: readonly (readonly [from: number, to: number])[];
}

export const setChanged = StateEffect.define<Changed>();

class Part extends RangeValue {}
const PART = new Part();

const parts = StateField.define<RangeSet<Part>>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    const given = transaction.effects.find((each) => each.is(setChanged))?.value as Changed | undefined;
    if (given !== undefined && given.length === transaction.state.doc.length) {
      return RangeSet.of(
        given.ranges.filter(([from, to]) => to > from).map(([from, to]) => PART.range(from, to)),
        true,
      );
    }
    return transaction.docChanged ? value.map(transaction.changes) : value;
  },
});

const LINE = Decoration.line({ class: 'tw-changed-line' });
const TEXT = Decoration.mark({ class: 'tw-changed-text' });

/** Returns the decorations of the visible part, because a long text would have too many. */
function decorations({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  let done = -1;
  for (const { from, to } of visibleRanges) {
    state.field(parts).between(from, to, (start, end) => {
      for (let at = Math.max(start, from); at <= Math.min(end, to); ) {
        const line = state.doc.lineAt(at);
        const [first, last] = [Math.max(start, line.from), Math.min(end, line.to)];
        // A range that begins at the end of a line concerns the next line.
        if (last > first) {
          if (line.from > done) builder.add(line.from, line.from, LINE);
          done = Math.max(done, line.from);
          builder.add(first, last, TEXT);
        }
        at = line.to + 1;
      }
    });
  }
  return builder.finish();
}

const shown = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorations(view);
    }

    update(update: ViewUpdate): void {
      const isNew = update.startState.field(parts) !== update.state.field(parts);
      if (isNew || update.docChanged || update.viewportChanged) this.decorations = decorations(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

export const changed: Extension = [parts, shown];
