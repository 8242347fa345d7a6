// Prints calls to real tools that their schemas accept, one `{ schema, arguments }` per line: the input for measuring
// validators in every language. Usage: calls.js TOOLS FOLDER…: a file with one tool per line, each of which is called with
// every argument, and folders with recorded calls. (core/tests/it/repair_recovery/calls.rs collects and generates calls in the
// same way.)

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { validateArguments } from '../../dist/index.js';

const FILES = [
  'deferred_requests.jsonl',
  'deferred_cases.json',
  'deferred_native_cases.json',
  'more/deferred_native_cases.json',
  'more/deferred_cases.json',
];
const SCHEMAS = ['input_schema', 'parameters', 'inputSchema', 'parametersJsonSchema'];

const [, , tools, ...folders] = process.argv;
if (tools === undefined) throw new Error('expected a file with one tool per line, found no argument');
const seen = new Set();
for (const { inputSchema } of rows(readFileSync(tools, 'utf8')))
  print(inputSchema, instance(inputSchema, inputSchema, 8));
for (const path of folders.flatMap((folder) => FILES.map((file) => join(folder, file)))) {
  if (existsSync(path)) for (const row of rows(readFileSync(path, 'utf8'))) printRecorded(row);
}

/** Prints a call once, and only if the schema accepts it. */
function print(schema, input) {
  const line = JSON.stringify({ schema, arguments: input });
  if (!isObject(input) || seen.has(line) || validateArguments(input, schema).valid !== true) return;
  seen.add(line);
  console.log(line);
}

function printRecorded(row) {
  const tools = [];
  const calls = [];
  gather(row, tools, calls);
  for (const call of calls) {
    for (const { schema } of tools.filter(({ name }) => name === call.name)) print(schema, call.input);
  }
}

/** Returns the rows of a JSON or JSON Lines file. */
function rows(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
}

/** Collects every tool and every call in a request of any format. */
function gather(value, tools, calls) {
  if (!isObject(value) && !Array.isArray(value)) return;
  if (typeof value.name === 'string') {
    for (const key of SCHEMAS) if (isObject(value[key])) tools.push({ name: value.name, schema: value[key] });
    for (const key of ['input', 'arguments', 'args']) {
      const input = typeof value[key] === 'string' ? parsed(value[key]) : value[key];
      if (isObject(input)) calls.push({ name: value.name, input });
    }
  }
  for (const inner of Object.values(value)) gather(inner, tools, calls);
}

/** Returns a value for a schema: the first value that the schema lists, or one of its type. */
function instance(root, schema, fuel) {
  if (fuel === 0 || !isObject(schema)) return null;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [named] = [schema.const, schema.default ?? undefined].filter((value) => value !== undefined);
  if (named !== undefined) return named;
  const branch = pointed(root, schema.$ref) ?? schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (branch !== undefined && schema.properties === undefined) return instance(root, branch, fuel - 1);
  const [kind = schema.properties === undefined ? 'string' : 'object'] = [schema.type ?? []].flat();
  if (kind === 'object') {
    const members = Object.entries(schema.properties ?? {});
    return Object.fromEntries(members.map(([name, inner]) => [name, instance(root, inner, fuel - 1)]));
  }
  if (kind === 'array') {
    return Array.from({ length: Math.max(2, schema.minItems ?? 0) }, () => instance(root, schema.items, fuel - 1));
  }
  if (kind === 'integer' || kind === 'number') return schema.minimum ?? 3;
  return kind === 'boolean' ? true : kind === 'null' ? null : 'src/main.rs';
}

function pointed(root, reference) {
  if (!/^#\//.test(reference ?? '')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce((inner, name) => inner?.[name], root);
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
