// Tests malformed requests (tests/malformed-requests): any JSON value anywhere in a request, as an option, a tool list
// or a call.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { answerToolSearch, applyDeferredLoading, searchTools, ToolIndex, ToolwireError } from '../dist/index.js';

const inputs = JSON.parse(
  readFileSync(new URL('../../tests/malformed-requests/requests.json', import.meta.url), 'utf8'),
);
const call = { type: 'tool_use', id: 't', name: 'tool_search', input: { query: 'a d' } };

/** Returns the result of a call as text, or the error that it throws. */
function outcome(run) {
  try {
    return { text: run() };
  } catch (error) {
    assert.ok(error instanceof ToolwireError, String(error));
    assert.notEqual(error.message, '');
    return { error: [error.code, error.pointer, error.detail] };
  }
}

/** Returns a request in which the value at a location is replaced. */
function disturbed(request, place, value) {
  if (place === '') return structuredClone(value);
  const steps = place.slice(1).split('/');
  const copy = structuredClone(request);
  const last = steps.pop();
  steps.reduce((node, step) => node[step], copy)[last] = structuredClone(value);
  return copy;
}

test('a malformed value anywhere in a request is accepted or refused', (t) => {
  let accepted = 0;
  let refused = 0;
  for (const { request, places } of inputs.requests) {
    for (const place of places) {
      for (const value of inputs.values) {
        const input = disturbed(request, place, value);
        // A string is text, not a value.
        if (typeof input === 'string') continue;
        const text = JSON.stringify(input);
        for (const options of inputs.options) {
          const about = () => `${place} of ${text} with ${JSON.stringify(options)}`;
          const given = outcome(() => JSON.stringify(applyDeferredLoading(input, options).request));
          // Compared before asserting, because the message would be built in each of thousands of runs.
          const same = outcome(() => applyDeferredLoading(text, options).request);
          if (JSON.stringify(same) !== JSON.stringify(given)) assert.deepEqual(same, given, about());
          if (given.text === undefined) refused++;
          else if (applyDeferredLoading(given.text, options).request !== given.text)
            assert.fail(`not idempotent: ${about()}`);
          else accepted++;
        }
        assert.equal(JSON.stringify(input), text, 'the input was changed');
      }
    }
  }
  t.diagnostic(`${accepted} accepted, ${refused} refused`);
  assert.ok(accepted > 20_000 && refused > 1_000);
});

test('a malformed option is accepted, or an error names it', () => {
  for (const name of inputs.optionNames) {
    for (const value of inputs.values) {
      const { error } = outcome(() =>
        JSON.stringify(applyDeferredLoading({ messages: [] }, { [name]: value }).request),
      );
      if (error !== undefined) {
        assert.ok(['invalid-option', 'unknown-option', 'invalid-request'].includes(error[0]), String(error));
        if (error[0] !== 'invalid-request') assert.ok(error[1].startsWith(`/${name}`), String(error));
      }
    }
  }
  for (const value of inputs.values)
    outcome(() => JSON.stringify(applyDeferredLoading({ messages: [] }, value).request));
});

test('malformed tool lists and calls are searched or refused', () => {
  for (const value of inputs.values) {
    for (const tools of [value, [value], { tools: value }, { tools: [value, value] }]) {
      const found = outcome(() => JSON.stringify(searchTools(tools, 'a d')));
      assert.deepEqual(
        outcome(() => JSON.stringify(new ToolIndex(tools).search('a d'))),
        found,
      );
      const answered = outcome(() => JSON.stringify(answerToolSearch(call, tools)));
      if (found.error === undefined) assert.equal(JSON.stringify(new ToolIndex(tools).answer(call)), answered.text);
      else assert.deepEqual(answered, found);
    }
    outcome(() => JSON.stringify(answerToolSearch(value, [])));
  }
});
