/** The calls of the view "Rewrite": the function for the text, its output, its notes, and the differences. */

import type { DeferredReport, Dialect } from 'toolwire/slim';
import { adaptRequest, applyDeferredLoading, check, normalizeEnvelope, sanitize, sanitizeTools } from 'toolwire/slim';

import { type Difference, differencesOf } from '../document/differences.js';
import { Document, type Reading } from '../document/document.js';
import { layout } from '../document/layout.js';
import type { DeferredChoice } from '../state/shared.js';
import { noteOfChange } from './change.js';
import { checkedBy, noteOfRefusal } from './checked.js';
import { type Choices, codeOf, requestOptions, toolOptions } from './code.js';
import { type Mark, marksOf, namedPlace } from './located.js';
import { at, below, type Note, noteOfError, noteOfQuarantined, noteOfViolation } from './note.js';

/** The result of a function. */
interface CallOutput {
  /** The formatted output; missing if the function has none. */
  output?: string;
  notes: Note[];
  /** True if the call itself failed. The notes are then the reasons. */
  failed?: boolean;
  /** True if the same arguments are accepted and no guidance is lost. */
  lossless?: boolean;
}

export interface Outcome extends CallOutput {
  /** The input. */
  text: string;
  /**
   * The choices, with the function that was called: `applyDeferredLoading` is for requests only.
   */
  choices: Choices;
  /** The call as JavaScript, for the console. */
  code: string;
  /** The notes with their locations in the input and in the output. */
  before: Mark[];
  after: Mark[];
  differences: Difference[];
  /** Size of the output in the form in which it is sent. */
  bytes: number;
}

export function outcomeOf(document: Document, wanted: Choices): Outcome {
  const isKnown = wanted.fn !== 'applyDeferredLoading' || document.kind === 'request';
  const choices: Choices = isKnown ? wanted : { ...wanted, fn: 'sanitize' };
  const runOutput = runFor(document, choices);
  const { output, notes } = runOutput;
  const result = output === undefined ? undefined : new Document(output, writtenAs(document, choices));
  return {
    ...runOutput,
    text: document.text,
    choices,
    code: codeOf(document, choices),
    before: marksOf(document.text, notes, (note) => namedPlace(note, document.text) ?? document.nearest(note)),
    after:
      result === undefined
        ? []
        : marksOf(result.text, notes, ({ outputPointer }) =>
            typeof outputPointer === 'string' ? result.nearest(result.spot(outputPointer)) : null,
          ),
    differences: result === undefined ? [] : differencesFor(document, result, choices),
    bytes: output === undefined ? 0 : sizeOf(output),
  };
}

/** Returns the kind of the output: JSON Lines remain JSON Lines if schemas are rewritten, or if the text is rewritten in place. */
function writtenAs(document: Document, { fn }: Choices): Reading {
  const hasLines = document.hasLines && (document.kind === 'schemas' || fn === 'normalizeEnvelope');
  return { kind: 'schemas', alone: false, pointer: hasLines ? null : '', entries: [] };
}

/** Returns the differences between the rewritten part of the input and the output. */
function differencesFor(document: Document, result: Document, { fn }: Choices): Difference[] {
  const { kind, shift } = document;
  const isWhole = fn !== 'sanitize' || kind === 'request' || kind === 'format';
  const before = isWhole ? document.places.value('') : document.value;
  const after = result.places.value('');
  if (before === undefined || after === undefined) return [];
  const found = differencesOf({ text: document.source, value: before }, { text: result.source, value: after });
  if (shift === 0 && result.shift === 0) return found;
  return found.map(({ fromA, toA, fromB, toB }) => ({
    fromA: fromA - shift,
    toA: toA - shift,
    fromB: fromB - result.shift,
    toB: toB - result.shift,
  }));
}

/** Returns the size of JSON in compact form, the form in which it is sent. */
function sizeOf(text: string): number {
  const length = (value: string) => new TextEncoder().encode(value).length;
  try {
    return length(JSON.stringify(JSON.parse(text)));
  } catch {
    return length(text);
  }
}

function runFor(document: Document, choices: Choices): CallOutput {
  if (document.kind === 'nothing') return { notes: [] };
  const { refused } = document;
  if (refused !== undefined) {
    const { line, pointer, message, code } = refused;
    const note = { ...noteOfRefusal(message, code), pointer, ...(line === null ? {} : { line }) };
    return { notes: [note], failed: true };
  }
  try {
    return runFunction(document, choices);
  } catch (error) {
    if (error instanceof RefusedEntry) return { notes: [error.note], failed: true };
    const note = noteOfError(error);
    if (document.format !== undefined) return { notes: [below(note, document.format.pointer)], failed: true };
    const isWhole = choices.fn !== 'sanitize' || document.kind === 'request';
    return { notes: [isWhole ? note : at(note, document.spot(note.pointer))], failed: true };
  }
}

/** An error in one of several schemas. */
class RefusedEntry extends Error {
  readonly note: Note;

  constructor(note: Note) {
    super(note.message);
    this.note = note;
  }
}

function runFunction(document: Document, choices: Choices): CallOutput {
  switch (choices.fn) {
    case 'check':
      return runCheck(document, choices.dialect);
    case 'normalizeEnvelope':
      return repairEach(document);
    case 'applyDeferredLoading':
      return runDeferred(document, choices.deferred);
    case 'sanitize':
      return runSanitize(document, choices);
  }
}

function runSanitize(document: Document, choices: Choices): CallOutput {
  const { text, kind, format } = document;
  const given = { dialect: choices.dialect, ...choices.options };
  if (kind === 'request') {
    const { request, report } = adaptRequest(text, requestOptions(choices));
    const notes = [
      ...(report.deferred === null ? [] : notesOfDeferred(document, report.deferred)),
      ...report.changes.map(noteOfChange),
      ...report.quarantined.map(noteOfQuarantined),
      ...report.formatChanges.map(noteOfChange),
    ];
    const changes = [...report.changes, ...report.formatChanges];
    return { output: layout(request), notes, lossless: report.quarantined.length === 0 && changes.every(isHarmless) };
  }
  if (format !== undefined) {
    const { schema, changes, lossless } = sanitize(format.text, { ...given, use: 'response' });
    const notes = changes.map((change) => below(noteOfChange(change), format.pointer));
    return { output: layout(text.slice(0, format.from) + schema + text.slice(format.to)), notes, lossless };
  }
  if (kind === 'schema' || kind === 'schemas') return rewriteEach(document, given);
  const answer = sanitizeTools(document.list, toolOptions(document, choices));
  const notes = [...answer.changes.map(noteOfChange), ...answer.quarantined.map(noteOfQuarantined)].map((note) =>
    at(note, document.spot(note.pointer)),
  );
  const { lossless } = answer;
  if (kind === 'tools') return { output: layout(answer.tools), notes, lossless };
  const alone = notes.map((note) => ({ ...note, outputPointer: note.outputPointer?.replace('/0', '') ?? null }));
  return { output: layout(answer.tools.slice(1, -1)), notes: alone, lossless };
}

/** Rewrites schemas one by one, as the command line does. */
function rewriteEach(document: Document, given: Parameters<typeof sanitize>[1]): CallOutput {
  const { kind, entries } = document;
  const notes: Note[] = [];
  const written: string[] = [];
  let isLossless = true;
  for (const [index, entry] of entries.entries()) {
    const { text = '' } = document.schemaOf(entry) ?? {};
    const { schema, changes, lossless } = rewriteEntry(document, index, text, given);
    const above = kind === 'schema' ? '' : `/${index}`;
    for (const change of changes) {
      const note = noteOfChange(change);
      const outputPointer = typeof note.outputPointer === 'string' ? above + note.outputPointer : note.outputPointer;
      notes.push({ ...at(note, document.spot(`/${index}${note.pointer}`)), outputPointer });
    }
    written.push(schema);
    isLossless &&= lossless;
  }
  if (kind === 'schema') return { output: layout(written[0] ?? ''), notes, lossless: isLossless };
  const output = document.hasLines ? written.join('\n') : layout(`[${written.join(',')}]`);
  return { output, notes, lossless: isLossless };
}

/** Rewrites a schema. If that fails, the error contains a note with a location in the whole text. */
function rewriteEntry(document: Document, index: number, text: string, given: Parameters<typeof sanitize>[1]) {
  try {
    return sanitize(text, given);
  } catch (error) {
    const note = noteOfError(error);
    throw new RefusedEntry(at(note, document.spot(`/${index}${note.pointer}`)));
  }
}

function isHarmless(change: { accepts: string; guidance: string }): boolean {
  return change.accepts === 'same' && change.guidance !== 'lost';
}

function runCheck(document: Document, dialect: Dialect): CallOutput {
  const { format } = document;
  if (format === undefined) return checkedBy(document, dialect);
  const found = check(format.text, { dialect, use: 'response' });
  return { notes: found.map((violation) => below(noteOfViolation(violation), format.pointer)) };
}

/** Repairs each schema in place, and leaves everything around it unchanged. */
function repairEach(document: Document): CallOutput {
  const { text, entries, format, hasLines } = document;
  const notes: Note[] = [];
  let isLossless = true;
  let output = '';
  let done = 0;
  const schemas = entries.map((entry) => ({ entry, schema: document.schemaOf(entry) }));
  for (const { entry, schema } of format === undefined ? schemas : [{ entry: undefined, schema: format }]) {
    if (schema === undefined) continue;
    const { schema: written, changes, lossless } = normalizeEnvelope(schema.text);
    for (const change of changes) {
      const note = below(noteOfChange(change), schema.pointer);
      const { line, name } = entry ?? {};
      notes.push({
        ...note,
        ...(line === undefined ? {} : { line, ...inList(document, line, note) }),
        ...(name == null ? {} : { tool: name }),
      });
    }
    isLossless &&= lossless;
    output += text.slice(done, schema.from) + written;
    done = schema.to;
  }
  output += text.slice(done);
  return { output: hasLines ? output : layout(output), notes, lossless: isLossless };
}

/**
 * Converts a note's output pointer, which points into a line, to a pointer into the list of all
 * lines.
 */
function inList(document: Document, line: number, { outputPointer: pointer }: Note): Pick<Note, 'outputPointer'> {
  return { outputPointer: typeof pointer === 'string' ? document.within({ line, pointer }) : pointer };
}

function runDeferred(document: Document, options: DeferredChoice): CallOutput {
  const { request, report } = applyDeferredLoading(document.text, options);
  return { output: layout(request), notes: notesOfDeferred(document, report) };
}

function notesOfDeferred({ entries }: Document, report: DeferredReport): Note[] {
  const pointerOf = (name: string | undefined) => entries.find((entry) => entry.name === name)?.pointer ?? '';
  const note = (rule: string, message: string, name: string | undefined, isLeft: boolean): Note => ({
    effect: 'info',
    pointer: pointerOf(name),
    outputPointer: isLeft ? undefined : null,
    rule,
    message,
    ...(name === undefined ? {} : { tool: name }),
  });
  return [
    ...report.loaded.map((name) =>
      note('loaded', `\`${name}\` is loaded, because the history refers to it`, name, true),
    ),
    ...report.hidden.map((name) => note('hidden', `\`${name}\` is hidden until something refers to it`, name, false)),
    ...report.warnings.map(({ code, name }) =>
      note(code, `${code.replaceAll('_', ' ')}${name === undefined ? '' : `: \`${name}\``}`, name, true),
    ),
  ];
}
