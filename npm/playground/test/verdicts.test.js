// Compares what the page reads and judges with the command line: with the installed program for the inputs of its own cases, and with one
// run over all dialects for the fixtures.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { checkTools } from 'toolwire/slim';

import { PROGRAM } from '../../../tests/program.js';
import { startEngine } from './engine.js';

const TESTS = new URL('../../../tests/', import.meta.url);
const ALL = ['matrix', '--profile', 'all', '--json'];

const cases = (folder, names = readdirSync(new URL(folder, TESTS))) =>
  names.flatMap((name) => JSON.parse(readFileSync(new URL(`${folder}${name}`, TESTS), 'utf8')));

/** Returns text from a command's case: a string, a list of lines, or a JSON value. */
function textOf(value) {
  if (typeof value === 'string') return value;
  const isLines = Array.isArray(value) && value.every((line) => typeof line === 'string');
  return isLines ? value.map((line) => `${line}\n`).join('') : JSON.stringify(value);
}

const commandInputs = () => {
  const read = cases('command/', ['input.json', 'matrix.json', 'check.json']);
  const given = read.flatMap(({ stdin, files = {} }) => [
    ...(stdin === undefined ? [] : [stdin]),
    ...Object.values(files),
  ]);
  return [...new Set(given.map(textOf))];
};
const fixtures = () => {
  const read = ['checkTools', 'sanitizeTools', 'check'].flatMap((name) => cases(`fixtures/${name}/`));
  const texts = read.map(({ input, inputText }) => inputText ?? JSON.stringify(input));
  // Longer texts test time and memory.
  return [...new Set(texts)].filter((text) => text !== undefined && text.length < 20_000);
};

/** The effects of notes from harmless to fatal, and the outcomes whose names differ from those of the effects. */
const EFFECTS = 'info same moved encoded closed not-strict lost wider narrower refused'.split(' ');
const OUTCOMES = { undefined: 'unchanged', info: 'unchanged', same: 'lossless', moved: 'lossless' };
/** Dialects that convert, are strict, or limit lists. */
const JUDGED = 'codex openai-strict azure-strict gemini anthropic moonshot cohere-strict mcp-typescript'.split(' ');

describe('the page and the command line reach the same verdicts', () => {
  let engine;
  let run;
  let rowOf;
  let outcomeOf;
  let names;
  before(async () => {
    engine = await startEngine();
    const [own, row, dialects, rewrite] = await engine.load(
      'engine/engine',
      'calls/row',
      'calls/dialects',
      'calls/rewrite',
    );
    run = own.run;
    outcomeOf = rewrite.outcomeOf;
    rowOf = row.rowOf;
    names = dialects.DIALECT_NAMES;
  });
  after(() => engine.stop());

  /** Compares the verdicts on text, and returns the number of tools that were judged. */
  function compare(text, { stdout, stderr }) {
    const document = engine.documentOf(text);
    if (stdout === '') {
      if (document.refused !== undefined) assert.ok(stderr.trim().endsWith(document.refused.message), stderr);
      assert.deepEqual(rowOf(document, names[0]), { refused: stderr.trim() });
      return 0;
    }
    assert.equal(document.refused, undefined, text.slice(0, 200));
    const { tools, dialects } = JSON.parse(stdout);
    assert.deepEqual(
      document.entries.map(({ name, line, pointer }) => [name, line, pointer]),
      tools.map(({ name, line, pointer }) => [name, line, pointer]),
    );
    for (const { name } of dialects) {
      const expected = tools.map((tool) => {
        const { outcome, accepted, reinterpreted, ignored, reasons, losses } = tool.dialects.find(
          ({ dialect }) => dialect === name,
        );
        return { outcome, accepted, reinterpreted, ignored, reasons: reasons.length, losses: losses.length };
      });
      assert.deepEqual(rowOf(document, name), { cells: expected }, `${name}: ${text.slice(0, 200)}`);
    }
    return tools.length * dialects.length;
  }

  test("on the inputs of the command line's test cases, with the installed program", () => {
    let [judged, refused] = [0, 0];
    for (const text of commandInputs()) {
      const output = { stdout: '', stderr: '' };
      try {
        output.stdout = execFileSync(PROGRAM, ALL, { input: text, stdio: 'pipe' }).toString();
      } catch (error) {
        // 1 is a finding, and 2 an unusable input.
        if (error.status === 1) output.stdout = error.stdout.toString();
        else output.stderr = error.stderr.toString();
      }
      const found = compare(text, output);
      judged += found;
      refused += found === 0 ? 1 : 0;
    }
    console.log(`# ${judged} verdicts compared, ${refused} inputs refused`);
    assert.ok(judged > 500 && refused > 5);
  });

  test('on the fixtures of lists and schemas, with one run of `toolwire matrix` over all dialects', () => {
    let judged = 0;
    for (const text of fixtures()) judged += compare(text, run(ALL, text));
    console.log(`# ${judged} verdicts compared`);
    assert.ok(judged > 10_000);
  });

  test('the notes of `check` are the findings of `checkTools`, with what is reinterpreted or ignored', () => {
    const properties = { to: { type: 'string', format: 'email', minLength: 3 } };
    const tool = { name: 'send', inputSchema: { type: 'object', properties } };
    for (const dialect of names) {
      const choices = { fn: 'check', dialect, options: {}, shape: 'api', deferred: {} };
      const { notes } = outcomeOf(engine.documentOf(JSON.stringify([tool])), choices);
      const listed = (found) => found.map(({ rule, constraint = rule, pointer }) => `${constraint} ${pointer}`).sort();
      const findings = checkTools([tool], { dialects: [dialect] });
      assert.deepEqual(listed(notes), listed(findings), dialect);
      if (dialect === 'ollama') assert.equal(notes.length, 2);
    }
  });

  test("the worst effect of a tool's notes is the outcome in the matrix", () => {
    let compared = 0;
    for (const text of [...commandInputs(), ...fixtures()]) {
      const document = engine.documentOf(text);
      if (!['tool', 'tools', 'schema', 'schemas'].includes(document.kind)) continue;
      const namesMember = /"function_?[dD]eclarations"/.test(text);
      for (const dialect of JUDGED) {
        // The matrix writes a schema into the member of the dialect; the page keeps the member that the list names.
        if (namesMember && /^(gemini|vertex)/.test(dialect)) continue;
        const row = rowOf(document, dialect);
        const choices = { fn: 'sanitize', dialect, options: {}, shape: 'api', deferred: {} };
        const { notes, failed } = outcomeOf(document, choices);
        // One of several schemas cannot be rewritten, and the function has no result for the others.
        if ('refused' in row || failed) continue;
        document.entries.forEach(({ line, pointer }, at) => {
          const own = notes.filter(
            (note) => note.line === line && (note.pointer === pointer || note.pointer.startsWith(`${pointer}/`)),
          );
          const worst = own.reduce((worst, { effect }) => Math.max(worst, EFFECTS.indexOf(effect)), -1);
          const effect = EFFECTS[worst];
          const { outcome } = row.cells[at];
          assert.equal(OUTCOMES[effect] ?? effect, outcome, `${dialect}: ${pointer} of ${text.slice(0, 200)}`);
          compared++;
        });
      }
    }
    console.log(`# ${compared} outcomes compared`);
    assert.ok(compared > 3_000);
  });
});
