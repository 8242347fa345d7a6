// Runs the fixtures that all languages share, on every path of this package.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { check, ToolwireError } from '../dist/index.js';
import { casesOf, counts, essentialViolation, folders, isAtFault, statementOf } from './fixtures/cases.js';
import { judgeList, listPathsOf, takesLists } from './fixtures/lists.js';
import { functions, pathsOf, searches, searchPathsOf } from './fixtures/paths.js';
import { canonical } from './fixtures/spelling.js';
import { judgeToolSet } from './fixtures/tool-sets.js';

test('every folder of fixtures is run and counted', () => {
  // test/repair.test.js runs those of `repairArguments`.
  const run = [...functions, 'repairArguments'];
  for (const folder of folders) assert.ok(run.includes(folder), `no test runs tests/fixtures/${folder}`);
  assert.deepEqual(Object.keys(counts).sort(), [...folders].sort());
});

for (const name of functions) {
  test(`fixtures of ${name}`, async (t) => {
    const cases = casesOf(name);
    const paths = takesLists(name) ? listPathsOf(name) : searches(name) ? searchPathsOf(name) : pathsOf(name);
    let runs = 0;
    for (const one of cases) {
      await t.test(one.name, () => {
        for (const path of paths) {
          if (path.takesValue && !one.hasValue) continue;
          runs++;
          if (name === 'sanitizeTools' && path.name !== 'bytes') judgeToolSet(one, path.takesValue, one.where);
          if (takesLists(name)) judgeList(name, path, one);
          else if (searches(name)) judgeSearch(path, one);
          else judge(name, path, one);
        }
      });
    }
    t.diagnostic(`${name}: ${cases.length} cases on ${paths.length} paths, ${runs} runs`);
    assert.equal(cases.length, counts[name] ?? 0, 'count.json differs: change it together with the cases');
  });
}

/** Judges a case of a search. Idempotence is not checked, because the output cannot be used as input. */
function judgeSearch(path, one) {
  const { error, options } = one;
  const where = `${one.where} (${path.name})`;
  const input = frozen(JSON.parse(one.inputText));
  // A string is text, not a value.
  if (path.takesValues && ['call', 'tools'].some((member) => typeof input[member] === 'string')) return;
  if (error !== undefined) {
    assert.throws(() => path.run(input, options), expectedError(error, undefined), where);
    return;
  }
  // Compared as text, so that the order of members counts.
  assert.equal(JSON.stringify(path.run(input, options)), JSON.stringify(JSON.parse(one.expectedText)), where);
}

function judge(name, path, one) {
  const { options } = one;
  const error = path.byPlan && one.refused !== undefined ? one.refused : one.error;
  const where = `${one.where} (${path.name})`;
  const input = path.takesValue ? frozen(JSON.parse(one.inputText)) : path.given(one.inputText);
  if (error !== undefined) {
    assert.throws(() => path.run(input, options, one), expectedError(error, one.changes), where);
    return;
  }
  const before = path.text(input);
  const { output, report } = path.run(input, options, one);
  const text = path.text(output);
  if (name === 'check') {
    const list = JSON.parse(text).map((violation) => essentialViolation(violation, ['constraint', 'pointer']));
    assert.deepEqual(list, JSON.parse(one.expectedText), where);
    return;
  }
  if (name === 'validateArguments' || name === 'validateResult') {
    const { valid, errors } = JSON.parse(text);
    for (const { message } of errors) assert.match(message, /^expected .*, found /, where);
    const essential = errors.map(({ message: _, ...error }) => error);
    assert.equal(JSON.stringify({ valid, errors: essential }), JSON.stringify(JSON.parse(one.expectedText)), where);
    return;
  }
  if (name === 'stripDeferralBetas') {
    assert.equal(text, one.expectedText, where);
    return;
  }
  assert.equal(path.text(input), before, `${where}: the input was changed`);
  compare(text, path, one, where);
  if (name === 'fitResult') compareResultReport(report, one, where);
  else if (report !== undefined) compareReport(report, one, where);
  // Restored arguments are not input for restoring again.
  const again = name === 'restoreArguments' ? output : path.run(output, options, one).output;
  assert.equal(path.text(again), text, `${where}: not idempotent`);
  if (path.takesValue) {
    const containers = containersOf(input);
    const shares = [...containersOf(output)].some((container) => containers.has(container));
    assert.ok(options?.share || !shares, `${where}: shares a container with its input`);
    // A plan has no options, and `fitResult` always copies.
    if (!path.byPlan && name !== 'fitResult') {
      const shared = path.run(input, { ...options, share: true }, one).output;
      assert.equal(path.text(shared), text, `${where}: \`share\` changes the result`);
      if (text === before) assert.equal(shared, input, `${where}: \`share\` copied an unchanged input`);
    }
  } else if (canonical(text) === canonical(before)) {
    assert.equal(output, input, `${where}: the text differs, although nothing was changed`);
  }
  // `codex` emulates one step of Codex: schemas that make Codex drop a tool pass through it, and `check` reports them.
  if (name === 'sanitize' && options.dialect !== 'codex') {
    const violations = path.takesValue ? check(output, options) : check(output, options);
    assert.deepEqual(violations.filter(isAtFault), [], `${where}: the dialect does not accept the result`);
  }
}

/** Compares an output with the expectation. Values lose the spelling of numbers, so for values the expectation is parsed, too. */
function compare(text, path, one, where) {
  if (path.takesValue) assert.equal(text, JSON.stringify(JSON.parse(one.expectedText)), where);
  else if (one.exact) assert.equal(text, one.expectedText, where);
  else assert.equal(canonical(text), canonical(one.expectedText), where);
}

function compareReport(report, { changes, lossless, report: expected }, where) {
  if (changes !== undefined) {
    for (const { reason, message } of report.changes) assert.ok(reason && message, where);
    assert.deepEqual(report.changes.map(essential), changes.map(stated), where);
  }
  if (lossless !== undefined) assert.equal(report.lossless, lossless, where);
  if (expected !== undefined) {
    for (const member of ['loaded', 'hidden', 'warnings']) assert.ok(member in expected, `${where}: no \`${member}\``);
    for (const member of Object.keys(expected))
      assert.deepEqual(report.report[member], expected[member], `${where}: ${member}`);
  }
}

function compareResultReport({ changed, valid, changes, errors }, one, where) {
  assert.equal(changed, changes.length > 0, where);
  for (const { message } of [...changes, ...errors]) assert.notEqual(message, '', where);
  const essential = (list) => list.map(({ message: _, ...rest }) => rest);
  assert.deepEqual({ valid, changes: essential(changes), errors: essential(errors) }, one.report, where);
}

function expectedError({ code, pointer }, changes) {
  return (error) => {
    assert.ok(error instanceof ToolwireError, error);
    assert.deepEqual({ code: error.code, pointer: error.pointer }, { code, pointer }, error.message);
    assert.notEqual(error.message, '');
    if (changes !== undefined) assert.deepEqual(error.changes.map(essential), changes.map(stated));
    return true;
  };
}

function essential({ reason, message: _, ...change }) {
  return stated({ ...change, reason: statementOf(reason) });
}

/** Returns a change as a case states it. */
function stated(change) {
  return { encoded: false, ...change };
}

function containersOf(value, found = new Set()) {
  if (typeof value === 'object' && value !== null) {
    found.add(value);
    for (const member of Object.values(value)) containersOf(member, found);
  }
  return found;
}

function frozen(value) {
  for (const container of containersOf(value)) Object.freeze(container);
  return value;
}
