// The changes that GitHub Copilot Chat makes to the schema of every tool before any model sees it, implemented from its rules
// (toolSchemaNormalizer.ts in microsoft/vscode-copilot-chat). Rules for single families of models are omitted.

import { createRequire } from 'node:module';

import { Ajv } from 'ajv';

const DELETED = ['oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'];
const MAPS = ['properties', 'dependencies', 'patternProperties'];
const SCHEMAS = ['items', 'additionalProperties', 'anyOf', 'allOf', 'oneOf', 'not', 'if', 'then', 'else', 'contains'];

const isValidDraft7 = metaSchema();

/** Compiles draft 7 with coercion (`"1"` is accepted as a number, 1 as a string and so on). It reports all errors, not only the first. */
function metaSchema() {
  const ajv = new Ajv({ coerceTypes: true, strictTypes: true, allowUnionTypes: true, allErrors: true, meta: false });
  ajv.addFormat('uri', (text) => URL.canParse(text));
  ajv.addFormat('uri-reference', true);
  ajv.addFormat('regex', true);
  const draft7 = createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-07.json');
  // A keyword of draft 7 that ajv's copy of the meta-schema lacks and Copilot's copy has.
  return ajv.compile({ ...draft7, properties: { ...draft7.properties, writeOnly: { type: 'boolean' } } });
}

/**
 * Returns the findings that fail the request (`refused`) and the changes (`changed`), each as `{ pointer, message }`. A refused schema
 * has no changes, because the request is lost.
 */
export function normalize(text) {
  const schema = JSON.parse(text);
  if (!isObject(schema) || schema.type !== 'object') {
    return { refused: [], changed: [{ pointer: '', message: 'replaced by an object without properties' }] };
  }
  const spelled = JSON.stringify(schema);
  const refused = refusals(schema);
  // Validation against draft 7 has coerced values, for example strings to numbers.
  const changed = JSON.stringify(schema) === spelled ? [] : [{ pointer: '', message: 'values of another kind' }];
  for (const key of DELETED) if (Object.hasOwn(schema, key)) changed.push({ pointer: `/${key}`, message: 'deleted' });
  const kept = Object.entries(schema).filter(([key]) => !DELETED.includes(key));
  // The added `properties` have no effect, but make every name in `required` unknown.
  const whole = { ...Object.fromEntries(kept), properties: schema.properties || {} };
  for (const [node, pointer] of nodes(whole)) changed.push(...unknownNames(node, pointer));
  return { refused, changed };
}

function refusals(schema) {
  if (!isValidDraft7(schema)) {
    return isValidDraft7.errors.map(({ instancePath, message }) => ({ pointer: instancePath, message: message }));
  }
  return [...nodes(schema)]
    .filter(([node]) => node.type === 'array' && !node.items)
    .map(([, pointer]) => ({ pointer, message: 'array type must have items' }));
}

function unknownNames({ type, properties, required }, pointer) {
  if (type !== 'object' || !properties || !Array.isArray(required)) return [];
  return required
    .map((name, at) => ({ name, pointer: `${pointer}/required/${at}`, message: 'property is not defined' }))
    .filter(({ name }) => properties[name] === undefined);
}

/** Yields every schema that the normalizer visits, with its pointer. It does not visit definitions and `prefixItems`. */
function* nodes(node, pointer = '') {
  if (!isObject(node)) return;
  yield [node, pointer];
  for (const key of MAPS) {
    for (const [name, below] of Object.entries(node[key] ?? {}))
      yield* nodes(below, `${pointer}/${key}/${escaped(name)}`);
  }
  for (const key of SCHEMAS) {
    const below = node[key];
    if (Array.isArray(below)) for (const [at, one] of below.entries()) yield* nodes(one, `${pointer}/${key}/${at}`);
    else yield* nodes(below, `${pointer}/${key}`);
  }
}

function escaped(name) {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
