/** Two texts side by side, aligned at their differences, with marks at the notes in both. */

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

/** The view only aligns both sides. It does not compare them: the page passes the differences. */
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
        onChange: () => view.current && realign(view.current),
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
    // The user has typed in the meantime. The differences for the new text will arrive later.
    if (a.state.doc.length !== lengthA || b.state.doc.length !== lengthB) return;
    a.dispatch({
      effects: setChanged.of({ length: lengthA, ranges: list.map(({ fromA, toA }) => [fromA, toA]) }),
    });
    b.dispatch({
      effects: setChanged.of({ length: lengthB, ranges: list.map(({ fromB, toB }) => [fromB, toB]) }),
    });
    view.current.chunks = chunksOf(list, a.state.doc, b.state.doc);
    realign(view.current);
  }, [differences, before.text, after.text]);
  useEffect(() => {
    if (view.current === undefined) return;
    const { a, b } = view.current;
    // Both sides scroll together, and the last request wins. The output is scrolled last, because it is more important.
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

/** Returns the lines with differences. Both texts are aligned between them. */
function chunksOf(differences: readonly Difference[], a: Text, b: Text): Chunk[] {
  const found: Chunk[] = [];
  for (const { fromA, toA, fromB, toB } of differences) {
    const [startA, endA] = linesOf(a, fromA, toA);
    const [startB, endB] = linesOf(b, fromB, toB);
    const last = found.at(-1);
    if (last !== undefined && (startA <= last.toA || startB <= last.toB)) {
      found[found.length - 1] = new Chunk(
        [],
        last.fromA,
        Math.max(last.toA, endA),
        last.fromB,
        Math.max(last.toB, endB),
      );
    } else found.push(new Chunk([], startA, endA, startB, endB));
  }
  return found;
}

/** Minimum length of the text between two differences for the view to treat it as equal on both sides. */
const SAME = 1000;

/** Aligns both sides at the chunks, some of which may belong to an earlier text. */
function realign(view: MergeView): void {
  const [a, b] = [view.a.state.doc, view.b.state.doc];
  const found: Chunk[] = [];
  let [doneA, doneB] = [0, 0];
  const until = (toA: number, toB: number) => {
    if (toA - doneA !== toB - doneB) found.push(unlike(a, b, [doneA, toA], [doneB, toB]));
  };
  for (const chunk of view.chunks) {
    const isWithin = chunk.fromA >= doneA && chunk.fromB >= doneB && chunk.endA <= a.length && chunk.endB <= b.length;
    if (!isWithin) continue;
    until(chunk.fromA, chunk.fromB);
    found.push(chunk);
    [doneA, doneB] = [chunk.toA, chunk.toB];
  }
  until(a.length, b.length);
  view.chunks = found;
  view.reconfigure({});
}

/**
 * Returns a chunk for equal values in different layouts. If their first and last lines are short,
 * the chunk does not include them, so that both sides are aligned at these lines.
 */
function unlike(a: Text, b: Text, [fromA, toA]: [number, number], [fromB, toB]: [number, number]): Chunk {
  const whole = new Chunk([], fromA, Math.max(fromA, toA), fromB, Math.max(fromB, toB));
  if (toA <= fromA || toB <= fromB) return whole;
  const [headA, headB] = [a.lineAt(fromA).to + 1, b.lineAt(fromB).to + 1];
  const [tailA, tailB] = [a.lineAt(toA - 1).from, b.lineAt(toB - 1).from];
  const isShort = [headA - fromA, headB - fromB, toA - tailA, toB - tailB].every((length) => length <= SAME);
  return isShort && headA <= tailA && headB <= tailB ? new Chunk([], headA, tailA, headB, tailB) : whole;
}

/** Returns the start of the first line of a range, and the end of its last line with its line break. */
function linesOf(text: Text, from: number, to: number): [from: number, to: number] {
  const first = text.lineAt(from);
  // A range that begins at the end of a line concerns the next line.
  const start = from === first.to && from < text.length ? first.to + 1 : first.from;
  return [start, to > from ? text.lineAt(to).to + 1 : start];
}
