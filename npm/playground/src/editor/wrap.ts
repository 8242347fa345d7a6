/** Indents wrapped lines to the start of their text. */

import { RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** Maximum indentation, so that a narrow editor keeps enough width. */
const DEEPEST = 16;
const FURTHER = 2;

function decorations(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at);
      const indent = Math.min(/^ */.exec(line.text)?.[0].length ?? 0, DEEPEST) + FURTHER;
      builder.add(
        line.from,
        line.from,
        Decoration.line({ attributes: { style: `padding-left: calc(6px + ${indent}ch); text-indent: -${indent}ch` } }),
      );
      at = line.to + 1;
    }
  }
  return builder.finish();
}

export const wrap = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorations(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = decorations(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
