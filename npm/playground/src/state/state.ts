/** The state of the page and the values derived from it. Views read the signals and change them with the functions below. */

import { computed, effect, signal } from '@preact/signals';

import { type Conversation, conversationOf } from '../calls/conversation.js';
import { type Note, noteOfError } from '../calls/note.js';
import { restoredOf } from '../calls/restored.js';
import { outcomeOf } from '../calls/rewrite.js';
import { DIALECT_NAMES, type Survey, surveyOf } from '../calls/survey.js';
import { documentOf } from '../document/kind.js';
import { layout } from '../document/layout.js';
import { type Example, exampleOf, FIRST } from '../examples/index.js';
import { DEFAULTS, type FunctionName, type Shared } from './shared.js';

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
  // A selected note and entered arguments are only valid for the input from which they were made.
  if (['text', 'dialect', 'fn', 'options', 'shape'].some((key) => key in part)) selected.value = undefined;
  // Arguments that need repair are kept when the dialect changes, so that they can be tried in others.
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
  // Selecting an example takes effect at once. A long text takes longer than a keystroke, so it is delayed.
  if (example !== shown || text.length < 4_000) settled.value = text;
  else waiting = setTimeout(() => (settled.value = text), text.length > 200_000 ? 400 : 120);
  shown = example;
});

export const doc = computed(() => documentOf(settled.value));

export const functions = computed<FunctionName[]>(() =>
  doc.value.kind === 'request'
    ? ['sanitize', 'check', 'normalizeEnvelope', 'applyDeferredLoading']
    : ['sanitize', 'check', 'normalizeEnvelope'],
);
export const fn = computed<FunctionName>(() =>
  functions.value.includes(shared.value.fn) ? shared.value.fn : DEFAULTS.fn,
);

const asked = computed(() =>
  JSON.stringify([shared.value.dialect, shared.value.options, shared.value.shape, shared.value.deferred]),
);
export const outcome = computed(() => {
  asked.value;
  const { dialect, options, shape, deferred } = shared.peek();
  return outcomeOf(doc.value, { fn: fn.value, dialect, options, shape, deferred });
});

/**
 * The output to show. While the text cannot be parsed, the text itself is used, invisibly, so that the layout does not move while the user
 * types.
 */
export const output = computed<{ text: string; none: boolean } | undefined>(() => {
  if (fn.value === 'check') return undefined;
  const { output: text, failed } = outcome.value;
  return { text: text ?? (failed ? doc.value.text : ''), none: failed };
});

/** The tool that the views show. */
export const tool = computed(() => {
  const { tools } = doc.value;
  return tools.find(({ name }) => name === shared.value.tool) ?? tools.find(({ schema }) => schema !== undefined);
});

export const restored = computed(() => {
  const { dialect, options, args, repair } = shared.value;
  return restoredOf(doc.value, tool.value, { dialect, options, args, repair });
});

/** The restored arguments to show. Arguments that cannot be parsed are used themselves, as above. */
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

const backends = computed(() => `${shared.value.left} ${shared.value.right}`);
export const conversation = computed<Conversation | { failed: Note } | undefined>(() => {
  asked.value;
  backends.value;
  const { left, right, deferred } = shared.peek();
  try {
    return conversationOf(doc.value.text, [left, right], deferred);
  } catch (error) {
    return { failed: noteOfError(error) };
  }
});

/** The survey of the text, as far as it is done. */
export const survey = signal<Survey | undefined>(undefined);
let surveying = 0;
effect(() => {
  const steps = surveyOf(doc.value);
  const mine = ++surveying;
  survey.value = undefined;
  const go = (): void => {
    if (mine !== surveying) return;
    const until = performance.now() + 12;
    let step = steps.next();
    let last = step;
    while (!step.done && performance.now() < until) {
      last = step;
      step = steps.next();
    }
    const latest = step.done ? last.value : step.value;
    if (latest !== undefined) survey.value = latest as Survey;
    if (!step.done) setTimeout(go);
  };
  setTimeout(go);
});

/** Formats the text for reading. */
export function format(): void {
  change({ text: layout(shared.peek().text) });
}
