/** The common setup of the page's editors, and functions that replace their text. */

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentUnit } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Annotation, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';

import { layout } from '../document/layout.js';
import { changed } from './changed.js';
import { look } from './look.js';
import { marks } from './marks.js';
import { wrap } from './wrap.js';

/** Marks changes that the page has made, not the user. */
const fromOutside = Annotation.define<boolean>();

export interface Setup {
  /** Label for screen readers. */
  label: string;
  /** Called when the user changes the text. Without it the editor is read-only. */
  onInput?: ((text: string) => void) | undefined;
  /** Called after any change of the text, by the user or not. */
  onChange?: () => void;
  /** Formats long pasted text asynchronously, because formatting takes longer than a keystroke. */
  onPaste?: ((text: string) => Promise<string>) | undefined;
  /** Returns the current text of an editable editor. The rendered text may be a keystroke behind. */
  latest?: () => string;
  onSelect?: (number: number) => void;
  hint?: string;
  /** True if notes can be marked in the editor. `numbers`: true if their numbers are shown in the gutter. */
  marked?: boolean;
  numbers?: boolean;
}

export function setup({ label, onInput, onPaste, onChange, onSelect, hint, marked, numbers = true }: Setup): Extension {
  return [
    marked === false ? [] : marks((number) => onSelect?.(number), numbers),
    changed,
    lineNumbers(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    bracketMatching(),
    highlightSelectionMatches(),
    indentUnit.of('  '),
    EditorView.lineWrapping,
    wrap,
    json(),
    look,
    // Tab is not bound: it leaves the editor, as everywhere on a page.
    keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({
      'aria-label': label,
      tabindex: '0',
      ...(onInput ? {} : { 'aria-readonly': 'true' }),
    }),
    hint === undefined ? [] : placeholder(hint),
    onChange === undefined
      ? []
      : EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange();
        }),
    onInput === undefined
      ? EditorState.readOnly.of(true)
      : [
          EditorView.clipboardInputFilter.of(laidOut),
          onPaste === undefined ? [] : pasted(onPaste),
          EditorView.updateListener.of((update) => {
            const byUser = update.transactions.some((each) => each.docChanged && each.annotation(fromOutside) !== true);
            if (byUser) onInput(update.state.doc.toString());
          }),
        ],
  ];
}

/** Length of a document whose layout takes as long as a frame. */
const LONG = 50_000;

/** Formats a pasted one-line document, to make it readable, and because an editor is slow with lines of a megabyte. */
function laidOut(text: string): string {
  return text.length < 80 || text.length >= LONG || text.includes('\n') ? text : layout(text);
}

/** Formats a long one-line document before it is pasted. */
function pasted(formatted: (text: string) => Promise<string>): Extension {
  return EditorView.domEventHandlers({
    paste: (event, view) => {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text.length < LONG || text.trimEnd().includes('\n')) return false;
      void formatted(text).then((insert) => {
        view.dispatch(view.state.replaceSelection(insert), { userEvent: 'input.paste' });
      });
      return true;
    },
  });
}

/** Replaces an editor's text. The common prefix and suffix are not replaced, which preserves the caret and the scroll position. */
export function replace(view: EditorView, text: string): void {
  const old = view.state.doc.toString();
  if (old === text) return;
  let from = 0;
  while (from < old.length && from < text.length && old[from] === text[from]) from++;
  let end = 0;
  const limit = Math.min(old.length, text.length) - from;
  while (end < limit && old[old.length - 1 - end] === text[text.length - 1 - end]) end++;
  view.dispatch({
    changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
    annotations: fromOutside.of(true),
  });
}

/** Measures the lines again once the fonts are loaded, which an editor does not detect. */
export function measured(view: EditorView): void {
  void document.fonts.ready.then(() => view.requestMeasure());
}

/** Returns a shadow root for an editor. Its styles become constructed style sheets, which a strict policy allows, unlike style elements. */
export function rootOf(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`:host { display: block; min-height: 0; }
    .cm-mergeView { height: 100%; scrollbar-width: thin; scrollbar-color: var(--line-strong) transparent; }
    .cm-mergeViewEditors { min-height: 100%; }
    .cm-merge-b .cm-content, .cm-merge-b .cm-gutters { opacity: var(--output-opacity); }
    .cm-mergeViewEditor + .cm-mergeViewEditor { border-left: 1px solid var(--line); }
    .cm-scroller { scrollbar-width: thin; scrollbar-color: var(--line-strong) transparent; }`);
  root.adoptedStyleSheets = [sheet, ...root.adoptedStyleSheets];
  return root;
}
