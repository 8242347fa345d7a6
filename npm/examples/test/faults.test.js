// The logic of `make faults`, with a client of the SDK in place of Claude Code, Codex and opencode.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { chat, messages, responses, Seen } from '../../../tests/clients/faults/model.js';
import { counted, summary } from '../../../tests/clients/faults/report.js';
import { FAULTS, isUnreachable, sample, TOOLS } from '../../../tests/clients/faults/tools.js';
import { PROGRAM } from '../../../tests/program.js';

const SERVER = fileURLToPath(new URL('../../../tests/clients/faults/server.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolwire-faults-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const log = join(folder, 'calls.txt');
writeFileSync(log, '');

async function connected(command, args) {
  const client = new Client({ name: 'client', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  after(() => client.close());
  return client;
}

test('there are 12 kinds of faults, and a healthy tool', () => {
  assert.equal(FAULTS.length, 13);
  assert.equal(TOOLS.filter((tool) => !isUnreachable(tool)).length, 15);
});

test('a client of the SDK gets no tool directly, and uses all of them through the proxy', async () => {
  const alone = await connected(process.execPath, [SERVER, log]);
  await assert.rejects(alone.listTools());
  const line = ['proxy', '--client', 'typescript-sdk', '--max-result', '20000', '--', process.execPath, SERVER, log];
  const client = await connected(PROGRAM, line);
  const { tools } = await client.listTools();
  const seen = new Seen();
  const shown = tools.map(({ name, description, inputSchema: schema }) => ({ name, description, schema }));
  for (const { id, name, input } of seen.next(shown))
    seen.result(id, JSON.stringify(await client.callTool({ name, arguments: input })));
  const found = counted(seen, readFileSync(log, 'utf8').split('\n'), []);
  assert.deepEqual(found, { tools: 15, succeeded: 15, lost: [], refused: [] });
});

test('a lost call through the proxy fails the suite, and one without it does not', () => {
  const [tool] = TOOLS;
  const seen = new Seen();
  const [call] = seen.next([{ name: 'a', description: tool.definition.description, schema: {} }]);
  seen.result(call.id, `a result with ${tool.mark}`);
  // The server did not accept the arguments.
  assert.equal(counted(seen, [], []).succeeded, 0);
  const found = counted(seen, [tool.mark], []);
  assert.equal(found.succeeded, 1);
  assert.equal(found.lost.length, 14);
  const session = { name: 'c', isOne: true, ...found };
  assert.equal(summary([{ ...session, isProxied: true }]).failures, 1);
  assert.equal(summary([{ ...session, isProxied: false }]).failures, 0);
});

test('the model calls each tool once, in every format, and reads the results', () => {
  const description = '[mark-a-0] A tool.';
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  for (const [format, body, result] of [
    [
      messages,
      { tools: [{ name: 'a', description, input_schema: schema }], messages: [] },
      (id) => ({
        messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'mark-a-0' }] }],
      }),
    ],
    [
      responses,
      { tools: [{ type: 'namespace', name: 's', tools: [{ name: 'a', description, parameters: schema }] }], input: [] },
      (id) => ({ input: [{ type: 'function_call_output', call_id: id, output: 'mark-a-0' }] }),
    ],
    [
      chat,
      { tools: [{ type: 'function', function: { name: 'a', description, parameters: schema } }], messages: [] },
      (id) => ({ messages: [{ role: 'tool', tool_call_id: id, content: 'mark-a-0' }] }),
    ],
  ]) {
    const seen = new Seen();
    const first = JSON.stringify(format(body, seen));
    const [id] = seen.calls.keys();
    assert.match(first, new RegExp(id));
    assert.deepEqual(seen.succeeded(), []);
    const second = JSON.stringify(format({ ...body, ...result(id) }, seen));
    assert.match(second, /Done\./);
    assert.deepEqual(seen.succeeded(), ['mark-a-0']);
  }
});

test('a value follows its schema', () => {
  const place = { type: 'object', properties: { city: { type: 'string' } } };
  for (const [schema, expected] of [
    [{ type: 'object', properties: { at: { $ref: '#/$defs/place' } }, $defs: { place } }, { at: { city: 'Rome' } }],
    [{ type: 'object', properties: {}, anyOf: [place] }, { city: 'Rome' }],
    [{ anyOf: [{ type: 'null' }, { type: 'string', enum: ['c'] }] }, 'c'],
    [{ type: ['array', 'null'], items: { type: 'integer' } }, [3]],
    [{ type: 'null' }, null],
  ])
    assert.deepEqual(sample(schema), expected);
});
