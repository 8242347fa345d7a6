// Compares toolwire with ajv, the npm package that validates values against JSON Schemas, on the same valid calls to
// real tools (calls.js). ajv compiles each schema to a function and then only runs that function; toolwire's functions
// prepare nothing and read the schema in each call. So ajv is listed twice: precompiled, and compiled for each call.
// Repairing is listed twice, too, because a `Restore` keeps the schemas of a tool list prepared. All contenders take
// turns in every round; the table gives the median round of each, and the ratio to the first contender.

import { readFileSync } from 'node:fs';

import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { repairArguments, sanitizeTools, validateArguments } from '../../dist/index.js';
import { versionOf } from './peers.js';

// Few rounds, because the slowest contender takes two milliseconds per call.
// A test runs each benchmark once.
const ONCE = process.env.TOOLWIRE_BENCH === 'once';
const ROUNDS = ONCE ? 1 : 7;
const [, , data] = process.argv;
if (data === undefined) throw new Error('expected a file with one call per line, found no argument');

// `format` is an annotation, as in toolwire. In its strict mode, ajv would refuse keywords that real tools have.
const options = { strict: false, validateFormats: false, addUsedSchema: false };
const [draft7, draft2020] = [new Ajv(options), new Ajv2020(options)];
const lines = readFileSync(data, 'utf8').trimEnd().split('\n');
const calls = lines.map(prepared).filter(Boolean);
calls.forEach((call, number) => {
  call.name = `t${number}`;
});
const tools = calls.map(({ name, schema }) => ({ name, inputSchema: schema }));
const { restore } = sanitizeTools(tools, { dialect: 'anthropic', repair: true, maxTools: calls.length });

console.log(
  `npm: ${calls.length} valid calls, Node ${process.version}, µs per call, median of ${ROUNDS} rounds; ` +
    `ajv refuses ${lines.length - calls.length} more`,
);
console.log('  ajv: compiles a schema to code (`new Function`); also checks `pattern`; stops at the first violation');
console.log(
  '  toolwire: reports every violation, or that it cannot decide; only a `Restore` prepares anything; needs no `eval`',
);
const ajv = `ajv ${versionOf('ajv')}`;
table('value', [
  [`${ajv}, prepared`, (call) => call.validate(call.arguments)],
  [`${ajv}, prepared for each call`, (call) => afresh(call.schema)(call.arguments)],
  ['toolwire, validateArguments', (call) => validateArguments(call.arguments, call.schema).valid],
  ['toolwire, restore.call with kept schemas', (call) => restore.call(call.name, call.arguments).name === call.name],
  ['toolwire, repairArguments', (call) => repairArguments(call.arguments, call.schema).arguments !== undefined],
]);
table('text', [
  [`JSON.parse + ${ajv}, prepared`, (call) => call.validate(JSON.parse(call.text))],
  [`JSON.parse + ${ajv}, prepared for each call`, (call) => afresh(JSON.parse(call.schemaText))(JSON.parse(call.text))],
  ['toolwire, validateArguments of text', (call) => validateArguments(call.text, call.schemaText).valid],
  ['toolwire, restore.call with kept schemas', (call) => restore.call(call.name, call.text).name === call.name],
  ['toolwire, repairArguments of text', (call) => repairArguments(call.text, call.schemaText).arguments !== undefined],
]);

/** Returns a call with its validator; undefined if ajv refuses the schema or the call. */
function prepared(line) {
  const { schema, arguments: given } = JSON.parse(line);
  try {
    const call = { schema, arguments: given, schemaText: JSON.stringify(schema), text: JSON.stringify(given) };
    call.validate = compiled(schema);
    return call.validate(given) ? call : undefined;
  } catch {
    return undefined;
  }
}

function compiled(schema) {
  return (schema.$schema?.includes('2020-12') ? draft2020 : draft7).compile(schema);
}

/** Compiles a schema again. ajv caches compiled schemas, so this one is removed. */
function afresh(schema) {
  const of = schema.$schema?.includes('2020-12') ? draft2020 : draft7;
  const validate = of.compile(schema);
  of.removeSchema(schema);
  return validate;
}

function table(title, rows) {
  const times = rows.map(() => []);
  for (let round = -1; round < ROUNDS; round++) {
    rows.forEach(([name, run], at) => {
      globalThis.gc?.({ type: 'minor' });
      const start = performance.now();
      let taken = 0;
      for (const call of calls) if (run(call)) taken++;
      const time = performance.now() - start;
      if (taken !== calls.length) throw new Error(`${name}: expected ${calls.length} valid calls, found ${taken}`);
      if (round >= 0) times[at].push((time * 1000) / calls.length);
    });
  }
  const medians = times.map((list) => list.sort((one, two) => one - two)[ROUNDS >> 1]);
  console.log(`\n${title.padEnd(50)} ${'µs'.padStart(9)} ${'to the 1st'.padStart(10)}`);
  rows.forEach(([name], at) => {
    const ratio = `${(medians[at] / medians[0]).toFixed(1)}x`;
    console.log(`${name.padEnd(50)} ${medians[at].toFixed(2).padStart(9)} ${ratio.padStart(10)}`);
  });
}
