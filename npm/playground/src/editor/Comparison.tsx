/** Two texts side by side, line by line, with the differences and the places of the notes marked in both. */

import { MergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';

import { chosenPlace, type Marks, setMarks } from './marks.js';
import { measured, replace, rootOf, setup } from './setup.js';

interface Side {
  text: string;
  label: string;
  marks?: Marks;
  numbers?: boolean;
  onInput?: (text: string) => void;
  latest?: () => string;
  hint?: string;
}

interface Props {
  before: Side;
  after: Side;
  onSelect?: (number: number) => void;
}

/** A difference that takes longer to compute is shown less exactly. */
const DIFFERENCE = { scanLimit: 2_000, timeout: 200 };

export function Comparison(given: Props) {
  const { before, after } = given;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<MergeView>(undefined);
  const handlers = useRef(given);
  handlers.current = given;

  useEffect(() => {
    const root = rootOf(host.current as HTMLDivElement);
    const onSelect = (number: number) => handlers.current.onSelect?.(number);
    const side = ({ text, label, onInput, hint, marks, numbers = true }: Side) => ({
      doc: text,
      extensions: setup({
        label,
        marked: marks !== undefined,
        numbers,
        onSelect,
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
