/** A call as JavaScript for the console, in which `toolwire` is the page's API and `input` the parsed text. */

import type { AdaptOptions, Dialect } from 'toolwire/slim';

import type { Document } from '../document/document.js';
import type { DeferredChoice, FunctionName, Options, Shape } from '../state/shared.js';

export interface Choices {
  fn: FunctionName;
  dialect: Dialect;
  options: Options;
  shape: Shape;
  deferred: DeferredChoice;
}

export function codeOf(document: Document, choices: Choices): string {
  const { fn, dialect, options, deferred } = choices;
  const { kind, format: answer } = document;
  const secondArgument = (value: object) => (Object.keys(value).length === 0 ? '' : `, ${literal(value)}`);
  const call = (name: string, input: string, value: object) => `toolwire.${name}(${input}${secondArgument(value)})`;
  const each = (name: string, value: object) => `${input}.map((schema) => ${call(name, 'schema', value)})`;
  const input = pathTo(document.pointer);
  const list = kind === 'tool' ? `[${input}]` : input;
  if (fn === 'applyDeferredLoading') return call(fn, 'input', deferred);
  if (fn === 'normalizeEnvelope') {
    if (kind === 'schemas') return each(fn, {});
    const first = document.entries.map((entry) => document.schemaOf(entry)).find((schema) => schema !== undefined);
    return call(fn, document.hasLines ? 'input[0]' : pathTo(first?.pointer ?? ''), {});
  }
  if (answer !== undefined) {
    const more = fn === 'sanitize' ? options : {};
    return call(fn, pathTo(answer.pointer), { dialect, ...more, use: 'response' });
  }
  if (fn === 'check') {
    if (kind === 'schemas') return each(fn, { dialect });
    if (kind !== 'tool' && kind !== 'tools' && kind !== 'request') return call(fn, input, { dialect });
    const ofTools = call('checkTools', kind === 'request' ? 'input.tools' : list, { dialects: [dialect] });
    return kind === 'request' ? `[${call('checkRequest', 'input', { dialect })}, ${ofTools}].flat()` : ofTools;
  }
  if (kind === 'request') return call('adaptRequest', 'input', requestOptions(choices));
  if (kind === 'tool' || kind === 'tools') return call('sanitizeTools', list, toolOptions(document, choices));
  return kind === 'schemas' ? each(fn, { dialect, ...options }) : call(fn, input, { dialect, ...options });
}

/** Returns the options for a request, with the options of the view "Deferred loading". */
export function requestOptions({ dialect, options, deferred }: Choices): AdaptOptions {
  return { dialect, ...options, ...(Object.keys(deferred).length === 0 ? {} : { deferred }) };
}

/** Returns the options for tools. Tools keep their format, unless the format of the API is chosen. */
export function toolOptions({ entries }: Document, { dialect, options, shape }: Choices) {
  const format = shape === 'given' ? entries.find((entry) => entry.format !== null)?.format : null;
  return { dialect, ...options, ...(format == null ? {} : { format }) };
}

/** Returns the path to a value of the input. */
function pathTo(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  return `input${steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('')}`;
}

/** Writes a value as JavaScript. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  // The call is pasted into a console, so a string must stay a string literal whatever it contains.
  if (typeof value === 'string') return /^[\w.-]*$/.test(value) ? `'${value}'` : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const asKey = (name: string) => (/^[a-z]\w*$/i.test(name) ? name : JSON.stringify(name));
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${asKey(name)}: ${literal(each)}`)
    .join(', ')} }`;
}
