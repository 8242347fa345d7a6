/** The calls behind the view "Rewrite": the toolwire function for a text, its output, and its notes. */

import type { AdaptOptions, DeferredReport, Dialect, Restore } from 'toolwire';
import {
  adaptRequest,
  applyDeferredLoading,
  check,
  checkRequest,
  checkTools,
  normalizeEnvelope,
  sanitize,
  sanitizeTools,
} from 'toolwire';

import type { Document } from '../document/kind.js';
import { layout } from '../document/layout.js';
import type { DeferredChoice, FunctionName, Options, Shape } from '../state/shared.js';
import { moved, type Note, noteOfChange, noteOfError, noteOfQuarantined, noteOfViolation } from './note.js';

export interface Outcome {
  /** The formatted output; `undefined` if the function has none. */
  output: string | undefined;
  notes: Note[];
  /** True if the call itself failed. Then the only note is the error. */
  failed: boolean;
  /** True if the same arguments are accepted and no guidance is lost. */
  lossless: boolean | undefined;
  restore: Restore | undefined;
  /** The call as JavaScript, for the console. */
  code: string;
}

export interface Asked {
  fn: FunctionName;
  dialect: Dialect;
  options: Options;
  shape: Shape;
  deferred: DeferredChoice;
}

export function outcomeOf(document: Document, asked: Asked): Outcome {
  const code = codeOf(document, asked);
  const nothing = { output: undefined, notes: [], failed: false, lossless: undefined, restore: undefined, code };
  if (document.text.trim() === '') return nothing;
  try {
    return { ...nothing, ...called(document, asked) };
  } catch (error) {
    return { ...nothing, notes: [noteOfError(error)], failed: true };
  }
}

function called(document: Document, asked: Asked): Partial<Outcome> {
  switch (asked.fn) {
    case 'check':
      return checked(document, asked);
    case 'normalizeEnvelope':
      return repaired(document);
    case 'applyDeferredLoading':
      return loaded(document, asked.deferred);
    case 'sanitize':
      return sanitized(document, asked);
  }
}

function sanitized(document: Document, asked: Asked): Partial<Outcome> {
  const { text, kind } = document;
  const { dialect, options, shape } = asked;
  const given = { dialect, ...options };
  if (kind === 'request') {
    const { request, report, restore } = adaptRequest(text, requestOptions(asked));
    const notes = [
      ...(report.deferred === null ? [] : notesOfDeferred(document, report.deferred)),
      ...report.changes.map(noteOfChange),
      ...report.quarantined.map(noteOfQuarantined),
      ...report.formatChanges.map(noteOfChange),
    ];
    const changes = [...report.changes, ...report.formatChanges];
    const lossless = report.quarantined.length === 0 && changes.every(harmless);
    return { output: layout(request), notes, lossless, restore };
  }
  if (document.format !== undefined) {
    const { node, pointer } = document.format;
    const end = node.offset + node.length;
    const { schema, changes, lossless } = sanitize(text.slice(node.offset, end), { ...given, use: 'response' });
    const notes = changes.map((change) => moved(noteOfChange(change), '', pointer));
    return { output: layout(text.slice(0, node.offset) + schema + text.slice(end)), notes, lossless };
  }
  if (kind !== 'tool' && kind !== 'tools') {
    const { schema, changes, lossless } = sanitize(text, given);
    return { output: layout(schema), notes: changes.map(noteOfChange), lossless };
  }
  const format = shape === 'given' ? document.tools.find((tool) => tool.format !== undefined)?.format : undefined;
  const list = kind === 'tool' ? `[${text}]` : text;
  const answer = sanitizeTools(list, { ...given, ...(format === undefined ? {} : { format }) });
  const notes = [...answer.changes.map(noteOfChange), ...answer.quarantined.map(noteOfQuarantined)];
  const { lossless, restore } = answer;
  if (kind === 'tools') return { output: layout(answer.tools), notes, lossless, restore };
  const alone = layout(answer.tools.slice(1, -1));
  return { output: alone, notes: notes.map((note) => moved(note, '/0', '')), lossless, restore };
}

/** Returns the options for a request, with those of deferred loading from the view "Deferred loading". */
function requestOptions({ dialect, options, deferred }: Asked): AdaptOptions {
  return { dialect, ...options, ...(Object.keys(deferred).length === 0 ? {} : { deferred }) };
}

function harmless(change: { accepts: string; guidance: string }): boolean {
  return change.accepts === 'same' && change.guidance !== 'lost';
}

function checked({ text, kind, list, format }: Document, { dialect }: Asked): Partial<Outcome> {
  if (format !== undefined) {
    const { node, pointer } = format;
    const found = check(text.slice(node.offset, node.offset + node.length), { dialect, use: 'response' });
    return { notes: found.map((violation) => moved(noteOfViolation(violation), '', pointer)) };
  }
  if (kind === 'schema' || kind === 'nothing') return { notes: check(text, { dialect }).map(noteOfViolation) };
  const listed = list === undefined ? text : text.slice(list.offset, list.offset + list.length);
  const found = checkTools(kind === 'tool' ? `[${text}]` : listed, { dialects: [dialect] }).map(noteOfViolation);
  if (kind === 'tool') return { notes: found.map((note) => moved(note, '/0', '')) };
  const inObject = list !== undefined && list.offset > 0 && list.parent !== undefined;
  const ofTools = inObject ? found.map((note) => moved(note, '', '/tools')) : found;
  if (kind !== 'request') return { notes: ofTools };
  return { notes: [...checkRequest(text, { dialect }).map(noteOfViolation), ...ofTools] };
}

/** Repairs each schema in place, and leaves everything around it unchanged. */
function repaired({ text, kind, tools }: Document): Partial<Outcome> {
  if (kind === 'schema' || kind === 'nothing') {
    const { schema, changes, lossless } = normalizeEnvelope(text);
    return { output: layout(schema), notes: changes.map(noteOfChange), lossless };
  }
  const notes: Note[] = [];
  let lossless = true;
  let output = '';
  let done = 0;
  for (const { schema, name } of tools) {
    if (schema === undefined) continue;
    const { node, pointer } = schema;
    const answer = normalizeEnvelope(text.slice(node.offset, node.offset + node.length));
    for (const change of answer.changes) notes.push({ ...moved(noteOfChange(change), '', pointer), tool: name });
    lossless &&= answer.lossless;
    output += text.slice(done, node.offset) + answer.schema;
    done = node.offset + node.length;
  }
  return { output: layout(output + text.slice(done)), notes, lossless };
}

function loaded(document: Document, options: DeferredChoice): Partial<Outcome> {
  const { request, report } = applyDeferredLoading(document.text, options);
  return { output: layout(request), notes: notesOfDeferred(document, report) };
}

function notesOfDeferred({ tools }: Document, report: DeferredReport): Note[] {
  const pointerOf = (name: string | undefined) => tools.find((tool) => tool.name === name)?.pointer ?? '';
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

/** Returns the call as JavaScript for the console, in which `toolwire` is the page's API and `input` the parsed text. */
function codeOf({ kind, tools, format: answer }: Document, asked: Asked): string {
  const { fn, dialect, options, shape, deferred } = asked;
  const format = shape === 'given' ? tools.find((tool) => tool.format !== undefined)?.format : undefined;
  const given = (value: object) => (Object.keys(value).length === 0 ? '' : `, ${literal(value)}`);
  const input = kind === 'tool' ? '[input]' : 'input';
  if (fn === 'applyDeferredLoading') return `toolwire.applyDeferredLoading(input${given(deferred)})`;
  if (fn === 'normalizeEnvelope') {
    const schema = tools[0]?.schema?.pointer.split('/').slice(1).at(-1);
    return `toolwire.normalizeEnvelope(input${kind === 'tool' && schema !== undefined ? `.${schema}` : ''})`;
  }
  if (answer !== undefined && (fn === 'check' || fn === 'sanitize')) {
    const more = fn === 'sanitize' ? options : {};
    const schema = `input${answer.pointer.replaceAll('/', '.')}`;
    return `toolwire.${fn}(${schema}${given({ dialect, ...more, use: 'response' })})`;
  }
  if (fn === 'check') {
    if (kind === 'schema' || kind === 'nothing') return `toolwire.check(input${given({ dialect })})`;
    const list = kind === 'request' ? 'input.tools' : input;
    const ofTools = `toolwire.checkTools(${list}${given({ dialects: [dialect] })})`;
    return kind === 'request' ? `[toolwire.checkRequest(input${given({ dialect })}), ${ofTools}].flat()` : ofTools;
  }
  if (kind === 'request') return `toolwire.adaptRequest(input${given(requestOptions(asked))})`;
  if (kind === 'tool' || kind === 'tools') {
    return `toolwire.sanitizeTools(${input}${given({ dialect, ...options, ...(format === undefined ? {} : { format }) })})`;
  }
  return `toolwire.sanitize(input${given({ dialect, ...options })})`;
}

/** Writes a value as JavaScript. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  // The call is pasted into a console, so a string must stay a string literal whatever it contains.
  if (typeof value === 'string') return /^[\w.-]*$/.test(value) ? `'${value}'` : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const named = (name: string) => (/^[a-z]\w*$/i.test(name) ? name : JSON.stringify(name));
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${named(name)}: ${literal(each)}`)
    .join(', ')} }`;
}
