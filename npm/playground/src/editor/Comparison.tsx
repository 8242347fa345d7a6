/** Two texts side by side, aligned at their differences, with the places of the notes marked in both. */

import { Chunk, MergeView } from '@codemirror/merge';
import type { Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';

import type { Difference } from '../document/differences.js';
import { setChanged } from './changed.js';
import { chosenPlace, type Marks, setMarks } from './marks.js';
import { measured, replace, rootOf, setup } from './setup.js';

interface Side {
  text: string;
  label: string;
  marks?: Marks;
  numbers?: boolean;
  onInput?: (text: string) => void;
  onPaste?: (text: string) => Promise<string>;
  latest?: () => string;
  hint?: string;
}

interface Props {
  before: Side;
  after: Side;
  /** The differences between two texts of these lengths. */
  differences: { before: number; after: number; list: readonly Difference[] };
  onSelect?: (number: number) => void;
}

/** The view only aligns: it compares nothing, and gets the differences from the page. */
const DIFFERENCE = { override: () => [] };

export function Comparison(given: Props) {
  const { before, after, differences } = given;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<MergeView>(undefined);
  const handlers = useRef(given);
  handlers.current = given;

  useEffect(() => {
    const root = rootOf(host.current as HTMLDivElement);
    const onSelect = (number: number) => handlers.current.onSelect?.(number);
    const side = ({ text, label, onInput, onPaste, hint, marks, numbers = true }: Side) => ({
      doc: text,
      extensions: setup({
        label,
        marked: marks !== undefined,
        numbers,
        onSelect,
        onPaste,
        ...(hint === undefined ? {} : { hint }),
        ...(onInput === undefined ? {} : { onInput: (next) => handlers.current.before.onInput?.(next) }),
      }),
    });
    view.current = new MergeView({
      a: side(before),
      b: side(after),
      root,
      parent: root,
      gutter: false,
      highlightChanges: false,
      diffConfig: DIFFERENCE,
    });
    measured(view.current.a);
    measured(view.current.b);
    return () => view.current?.destroy();
  }, []);

  useEffect(
    () => replace((view.current as MergeView).a, handlers.current.before.latest?.() ?? before.text),
    [before.text],
  );
  useEffect(() => replace((view.current as MergeView).b, after.text), [after.text]);
  useEffect(() => {
    if (view.current === undefined) return;
    const { a, b } = view.current;
    const { before: lengthA, after: lengthB, list } = differences;
    // The user has typed since: the answer to that text comes.
    if (a.state.doc.length !== lengthA || b.state.doc.length !== lengthB) return;
    a.dispatch({
      effects: setChanged.of({ length: lengthA, ranges: list.map(({ fromA, toA }) => [fromA, toA]) }),
    });
    b.dispatch({
      effects: setChanged.of({ length: lengthB, ranges: list.map(({ fromB, toB }) => [fromB, toB]) }),
    });
    view.current.chunks = chunksOf(list, a.state.doc, b.state.doc);
    // Aligns both sides at the new chunks.
    view.current.reconfigure({});
  }, [differences, before.text, after.text]);
  useEffect(() => {
    if (view.current === undefined) return;
    const { a, b } = view.current;
    // Both scroll together, and the last request wins. The output comes last, because it is more important.
    for (const [editor, marks] of [
      [a, before.marks],
      [b, after.marks],
    ] as const) {
      if (marks === undefined) continue;
      const place = chosenPlace(marks);
      const show = place !== undefined && marks.length === editor.state.doc.length;
      editor.dispatch({
        effects: [setMarks.of(marks), ...(show ? [EditorView.scrollIntoView(place.from, { y: 'center' })] : [])],
      });
    }
  }, [before.marks, after.marks, before.text, after.text]);

  return <div class="comparison" ref={host} />;
}

/** Returns the lines of differences, between which both texts are aligned. */
function chunksOf(differences: readonly Difference[], a: Text, b: Text): Chunk[] {
  const found: Chunk[] = [];
  for (const { fromA, toA, fromB, toB } of differences) {
    const [startA, endA] = linesOf(a, fromA, toA);
    const [startB, endB] = linesOf(b, fromB, toB);
    const last = found.at(-1);
    if (last !== undefined && (startA <= last.toA || startB <= last.toB)) {
      found[found.length - 1] = new Chunk([], last.fromA, Math.max(last.toA, endA), last.fromB, Math.max(last.toB, endB));
    } else found.push(new Chunk([], startA, endA, startB, endB));
  }
  return found;
}

/** Returns the start of the first line of a range, and the end of its last line with its line break. */
function linesOf(text: Text, from: number, to: number): [from: number, to: number] {
  const first = text.lineAt(from);
  // A range that begins at the end of a line is about the next one.
  const start = from === first.to && from < text.length ? first.to + 1 : first.from;
  return [start, to > from ? text.lineAt(to).to + 1 : start];
}
