// Compares the object path with the text paths, on real tools.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import * as toolwire from '../dist/index.js';

/** The sample in this repository, and all data if it is next to the checkout. */
const sources = ['../../tests/sample', '../../../shared/data']
  .map((folder) => ({ folder, file: new URL(`${folder}/mcp_tools.jsonl`, import.meta.url) }))
  .filter(({ folder, file }) => folder.endsWith('sample') || existsSync(file))
  .map(({ folder, file }) => ({
    folder,
    schemas: readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).inputSchema),
  }));

/** A function, the conversion of a schema to its input, and its options. */
const calls = [
  ['sanitize', (schema) => schema, { dialect: 'codex' }],
  ['sanitize', (schema) => schema, { dialect: 'codex-wire' }],
  ['normalizeEnvelope', (schema) => schema, {}],
  ['applyDeferredLoading', asRequest, {}],
  ['applyDeferredLoading', asRequest, { target: 'openai-responses' }],
  ['check', (schema) => schema, { dialect: 'codex-wire' }],
];

function asRequest(input_schema, at) {
  const tool = { name: `tool_${at}`, description: 'd', input_schema, defer_loading: at % 2 === 0 };
  const result = {
    type: 'tool_result',
    tool_use_id: 't',
    content: [{ type: 'tool_reference', tool_name: `tool_${at}` }],
  };
  const use = { type: 'tool_use', id: 't', name: 'search', input: {} };
  const messages = [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: [use] },
    { role: 'user', content: at % 4 === 0 ? [result] : 'hello' },
  ];
  return { model: 'm', max_tokens: 10, messages, tools: [{ name: 'search', input_schema: { type: 'object' } }, tool] };
}

for (const [{ folder, schemas }, [name, inputOf, options]] of sources.flatMap((source) =>
  calls.map((call) => [source, call]),
)) {
  test(`${name} ${JSON.stringify(options)}: every real tool of ${folder}, values and text agree`, (t) => {
    assert.ok(schemas.length > 100);
    let changed = 0;
    for (const [at, schema] of schemas.entries()) {
      const value = inputOf(schema, at);
      const text = JSON.stringify(value);
      const outcome = attempt(() => JSON.stringify(writtenOf(toolwire[name](value, options))));
      assert.equal(JSON.stringify(value), text);
      const fromText = (input) => asText(writtenOf(toolwire[name](input, options)));
      assert.equal(
        attempt(() => fromText(text)),
        outcome,
      );
      assert.equal(
        attempt(() => fromText(new TextEncoder().encode(text))),
        outcome,
      );
      assert.equal(
        attempt(() => JSON.stringify(writtenOf(toolwire[name](value, { ...options, share: true })))),
        outcome,
      );
      if (name !== 'check') {
        const onValue = attempt(() => JSON.stringify(reportOf(toolwire[name](value, options))));
        assert.equal(
          attempt(() => JSON.stringify(reportOf(toolwire[name](text, options)))),
          onValue,
        );
      }
      if (outcome !== text) changed++;
    }
    t.diagnostic(`${schemas.length} tools, ${changed} of them changed`);
  });
}

/** Returns the value that a function wrote, or its answer. */
function writtenOf(result) {
  return result.schema ?? result.request ?? result;
}

/** Returns the rest of a function's result. */
function reportOf(result) {
  return { ...result, schema: undefined, request: undefined };
}

function asText(output) {
  if (typeof output === 'string') return output;
  return output instanceof Uint8Array ? new TextDecoder().decode(output) : JSON.stringify(output);
}

function attempt(call) {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof toolwire.ToolwireError)) throw error;
    return JSON.stringify([error.code, error.pointer, error.detail]);
  }
}
