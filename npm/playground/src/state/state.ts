/**
 * The state of the page and the values derived from it. Views read the signals and change them with the functions below. A worker derives
 * the values, so each contains the input from which it was derived.
 */

import { computed, effect, signal, untracked } from '@preact/signals';

import type { Conversation } from '../calls/conversation.js';
import { DIALECT_NAMES } from '../calls/dialects.js';
import type { Row } from '../calls/grades.js';
import type { Note } from '../calls/note.js';
import type { Shown } from '../calls/restored.js';
import type { Outcome } from '../calls/rewrite.js';
import { type Example, exampleOf, FIRST } from '../examples/index.js';
import type { Facts } from '../worker/jobs.js';
import { ask, drop, pending } from '../worker/queue.js';
import { DEFAULTS, type FunctionName, type Shared, type View } from './shared.js';

export const shared = signal<Shared>({ ...DEFAULTS, ...chosen(FIRST) });
/** Index of the selected note. */
export const selected = signal<number | undefined>(undefined);
/** Index of the selected note about repaired arguments. */
export const selectedRepair = signal<number | undefined>(undefined);
/** A short message to the user. */
export const toast = signal('');

export function change(part: Partial<Shared>): void {
  const next = { ...shared.peek(), ...part };
  if (!DIALECT_NAMES.includes(next.dialect)) next.dialect = DEFAULTS.dialect;
  // A selected note and entered arguments are only valid for the input for which they were created.
  if (['text', 'dialect', 'fn', 'options', 'shape'].some((key) => key in part)) selected.value = undefined;
  // Arguments that need repair are kept when the dialect changes, so that they can be tried in other dialects.
  const madeFor = next.repair ? ['text', 'tool'] : ['text', 'dialect', 'tool'];
  if (madeFor.some((key) => key in part) && !('args' in part)) next.args = null;
  if ([...madeFor, 'dialect', 'args', 'repair', 'options'].some((key) => key in part)) selectedRepair.value = undefined;
  shared.value = next;
}

type Chosen = Pick<Shared, 'example' | 'text' | 'tool' | 'turn' | 'args' | 'repair'> & Partial<Shared>;

function chosen(example: Example): Chosen {
  const { repair } = DEFAULTS;
  return { example: example.id, text: example.text, tool: null, turn: 0, args: null, repair, ...example.choice };
}

/** Replaces the text with an example. The view changes only if the example was not made for it. */
export function open(example: Example): void {
  const { view } = shared.peek();
  const stays = example.views.includes(view) ? { view } : { view: example.views[0] ?? view };
  change({ fn: DEFAULTS.fn, options: {}, ...chosen(example), ...stays });
}

/** Applies the state from a link. */
export function take(given: Partial<Shared>): void {
  const example = given.example == null ? undefined : exampleOf(given.example);
  const text = given.text ?? example?.text ?? '';
  change({ ...DEFAULTS, ...given, text, example: example?.id ?? null, args: given.args ?? null });
}

/** The text after the user has stopped typing for a moment. Everything below is derived from it. */
const settled = signal(shared.peek().text);
let waiting: ReturnType<typeof setTimeout> | undefined;
let shown = shared.peek().example;
effect(() => {
  const { text, example } = shared.value;
  clearTimeout(waiting);
  // An example takes effect at once. Processing long typed text takes longer than a keystroke, so
  // it is delayed.
  if (example !== shown || text.length < 4_000) settled.value = text;
  else waiting = setTimeout(() => (settled.value = text), text.length > 200_000 ? 400 : 120);
  shown = example;
});

/** True while the page still shows the results of an earlier text or of earlier choices. */
export const busy = computed(() => pending.value > 0 || settled.value !== shared.value.text);

export const doc = signal<Facts>({ text: '', kind: 'nothing', tools: [], hasLines: false, isJson: false });
effect(() => {
  const text = settled.value;
  untracked(() => ask('facts', text, 'facts', {}, (found) => (doc.value = found)));
});

/** Requests a value as long as its view is shown, whenever the text or the choices change. */
function whileShown(view: View, choices: () => unknown, request: (text: string, done: () => void) => void): void {
  const isShown = computed(() => shared.value.view === view);
  const chosen = computed(() => JSON.stringify(choices()));
  let known: { text: string; chosen: string } | undefined;
  effect(() => {
    const wanted = { text: settled.value, chosen: chosen.value };
    const isKnown = known?.text === wanted.text && known.chosen === wanted.chosen;
    untracked(() => {
      if (!isShown.value || isKnown) drop(view);
      else request(wanted.text, () => (known = wanted));
    });
    isShown.value;
  });
}

const NONE: Omit<Outcome, 'choices'> = {
  text: '',
  code: '',
  notes: [],
  before: [],
  after: [],
  differences: [],
  bytes: 0,
};
export const outcome = signal<Outcome>({ ...NONE, choices: { ...DEFAULTS } });
whileShown(
  'rewrite',
  () => {
    const { fn, dialect, options, shape, deferred } = shared.value;
    return [fn, dialect, options, shape, deferred];
  },
  (text, done) => {
    const { fn, dialect, options, shape, deferred } = shared.peek();
    ask('rewrite', text, 'rewrite', { fn, dialect, options, shape, deferred }, (found) => {
      outcome.value = found;
      done();
    });
  },
);

export const functions = computed<FunctionName[]>(() =>
  doc.value.kind === 'request'
    ? ['sanitize', 'check', 'normalizeEnvelope', 'applyDeferredLoading']
    : ['sanitize', 'check', 'normalizeEnvelope'],
);
export const fn = computed<FunctionName>(() =>
  functions.value.includes(shared.value.fn) ? shared.value.fn : DEFAULTS.fn,
);

/**
 * The output to show. If the call failed, the input is shown instead, hidden by the style for
 * `none`, so the layout does not move while the user types.
 */
export const output = computed<{ text: string; none: boolean } | undefined>(() => {
  const { choices, output: text, failed = false, text: input } = outcome.value;
  if (choices.fn === 'check') return undefined;
  return { text: text ?? (failed ? input : ''), none: failed };
});

/** The tool that the view "Restore" shows. */
export const restored = signal<Shown | undefined>(undefined);
whileShown(
  'restore',
  () => {
    const { dialect, options, args, repair, tool } = shared.value;
    return [dialect, options, args, repair, tool];
  },
  (text, done) => {
    const { dialect, options, args, repair, tool } = shared.peek();
    ask('restore', text, 'restore', { dialect, options, args, repair, tool }, (found) => {
      restored.value = found;
      done();
    });
  },
);

/** The model's arguments as the user has typed them, or as they were generated. */
export const argsText = computed(() => shared.value.args ?? restored.value?.args ?? '');

/**
 * The restored arguments to show. If restoring failed, the given arguments are shown instead, hidden
 * by the style for `none`, as in {@link output}.
 */
export const restoredText = computed(() => {
  const { restored: text, args = '' } = restored.value ?? {};
  return { text: text ?? args, none: text === undefined };
});

/** The notes that `n` and `p` step through. */
export const listed = computed<{ length: number; chosen: typeof selected }>(() =>
  shared.value.view === 'restore'
    ? { length: restored.value?.repaired?.notes.length ?? 0, chosen: selectedRepair }
    : { length: outcome.value.notes.length, chosen: selected },
);

export const conversation = signal<Conversation | { failed: Note } | undefined>(undefined);
whileShown(
  'deferred',
  () => {
    const { left, right, deferred } = shared.value;
    return [left, right, deferred];
  },
  (text, done) => {
    const { left, right, deferred } = shared.peek();
    const given = { backends: [left, right] as const, deferred };
    ask('deferred', text, 'conversation', given, (found) => {
      conversation.value = found;
      done();
    });
  },
);

/** The verdicts on the text so far, dialect by dialect, beginning with the chosen dialect. */
export const survey = signal<ReadonlyMap<string, Row>>(new Map());
effect(() => {
  const text = settled.value;
  untracked(() => {
    survey.value = new Map();
    const { dialect } = shared.peek();
    const isEmpty = text.trim() === '';
    for (const name of [dialect, ...DIALECT_NAMES.filter((one) => one !== dialect)]) {
      if (isEmpty) drop(`row ${name}`);
      else
        ask(
          `row ${name}`,
          text,
          'row',
          { dialect: name },
          (row) => (survey.value = new Map(survey.peek()).set(name, row)),
          false,
        );
    }
  });
});

/** Formats the text for reading. */
export function format(): void {
  const { text } = shared.peek();
  ask('format', undefined, 'layout', { other: text }, (laidOut) => {
    if (shared.peek().text === text) change({ text: laidOut });
  });
}

/** Returns text formatted for reading, or unchanged if a later call with this key supersedes this one, or if it fails. */
export function formatted(key: string, text: string): Promise<string> {
  return new Promise((resolve) => ask(key, undefined, 'layout', { other: text }, resolve, true, () => resolve(text)));
}
