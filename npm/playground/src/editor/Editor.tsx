/** An editor with marks. */

import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';

import { chosenPlace, type Marks, setMarks } from './marks.js';
import { measured, replace, rootOf, type Setup, setup } from './setup.js';

interface Props extends Setup {
  text: string;
  marks?: Marks;
  class?: string;
}

export function Editor({ text, marks, class: name, ...given }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  // The handlers of the last rendering, because the editor outlives a rendering.
  const handlers = useRef(given);
  handlers.current = given;

  useEffect(() => {
    const root = rootOf(host.current as HTMLDivElement);
    const { label, hint, onInput, onPaste, numbers = true } = given;
    view.current = new EditorView({
      doc: text,
      root,
      parent: root,
      extensions: setup({
        label,
        marked: marks !== undefined,
        numbers,
        ...(hint === undefined ? {} : { hint }),
        ...(onInput === undefined ? {} : { onInput: (next) => handlers.current.onInput?.(next) }),
        onPaste,
        onSelect: (number) => handlers.current.onSelect?.(number),
      }),
    });
    measured(view.current);
    return () => view.current?.destroy();
  }, []);

  useEffect(() => replace(view.current as EditorView, handlers.current.latest?.() ?? text), [text]);
  useEffect(() => {
    if (marks === undefined || view.current === undefined) return;
    const { current } = view;
    current.dispatch({ effects: setMarks.of(marks) });
    const place = chosenPlace(marks);
    if (place === undefined || marks.length !== current.state.doc.length) return;
    // Scrolls only inside the editor, so that the page stays where the user clicked.
    const { top } = current.lineBlockAt(place.from);
    current.scrollDOM.scrollTop = top - current.scrollDOM.clientHeight / 3;
  }, [marks, text]);

  return <div class={`editor ${name ?? ''}`} ref={host} />;
}
