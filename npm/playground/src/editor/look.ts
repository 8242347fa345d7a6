/** The colors of JSON in an editor, from the page's CSS variables, so that the page controls dark and light. */

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

import { EFFECTS } from '../calls/note.js';

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'transparent', fontSize: 'var(--code-size)', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', fontVariantLigatures: 'none' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px 0 6px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selection)',
  },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-faint)', border: 'none', userSelect: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 8px 0 12px', minWidth: '22px', fontSize: '0.85em' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLineGutter': { color: 'var(--ink)' },
  '.cm-matchingBracket': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--match)' },
  '.cm-placeholder': { color: 'var(--ink-faint)' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-searchMatch': { backgroundColor: 'var(--match)' },
  '.cm-textfield, .cm-button': {
    background: 'var(--page)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '5px',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow)',
    padding: '8px 10px',
    maxWidth: '420px',
    fontFamily: 'var(--sans)',
    fontSize: '13px',
    lineHeight: '1.45',
  },
  '.cm-tooltip b': { display: 'block', fontFamily: 'var(--mono)', fontSize: '12px', marginBottom: '2px' },

  // Differences, from changed.ts. Those of @codemirror/merge are not shown.
  '&.cm-merge-a .cm-changedLine, &.cm-merge-b .cm-changedLine': { backgroundColor: 'transparent' },
  '&.cm-merge-a .cm-changedText, &.cm-merge-b .cm-changedText': { background: 'none' },
  '&.cm-merge-a .tw-changed-line': { backgroundColor: 'var(--before)' },
  '&.cm-merge-b .tw-changed-line': { backgroundColor: 'var(--after)' },
  '&.cm-merge-a .tw-changed-text': { background: 'var(--before-strong)', borderRadius: '2px' },
  '&.cm-merge-b .tw-changed-text': { background: 'var(--after-strong)', borderRadius: '2px' },

  // Notes, from marks.ts.
  '.tw-mark': { borderBottom: '2px solid var(--mark)', cursor: 'pointer', paddingBottom: '1px' },
  // Distinguishable without color.
  '.tw-mark.tw-likely': { borderBottomStyle: 'dashed' },
  '.tw-mark.tw-left': { borderBottomStyle: 'dotted' },
  '.tw-chosen-line': { boxShadow: 'inset 3px 0 0 var(--mark)', backgroundColor: 'var(--mark-back) !important' },
  '.tw-gutter': { width: '32px' },
  '.tw-gutter .cm-gutterElement': { display: 'flex', alignItems: 'center', justifyContent: 'center', padding: '0' },
  '.tw-number': {
    font: '600 10.5px/16px var(--sans)',
    fontVariantNumeric: 'tabular-nums',
    minWidth: '17px',
    height: '17px',
    padding: '0 3px',
    borderRadius: '9px',
    boxSizing: 'border-box',
    textAlign: 'center',
    color: 'var(--mark)',
    backgroundColor: 'var(--mark-back)',
    border: '1px solid var(--mark)',
    cursor: 'pointer',
    lineHeight: '15px',
  },
  '.tw-number.tw-chosen': { backgroundColor: 'var(--mark)', color: 'var(--page)' },
  ...Object.fromEntries(
    Object.keys(EFFECTS).map((effect) => [
      `.tw-${effect}`,
      { '--mark': `var(--${effect})`, '--mark-back': `var(--${effect}-back)` },
    ]),
  ),
});

const highlight = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-name)' },
  { tag: tags.string, color: 'var(--json-string)' },
  { tag: tags.number, color: 'var(--json-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--json-word)' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--ink-soft)' },
]);

export const look = [theme, syntaxHighlighting(highlight)];
