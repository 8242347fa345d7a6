// Clients of both MCP SDKs in front of `toolwire proxy --listen`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as next from '@modelcontextprotocol/client';
import * as stable from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { PROGRAM } from '../../../tests/program.js';

const SERVER = fileURLToPath(new URL('../fake/many-tools.js', import.meta.url));
let proxy;
let url;

before(async () => {
  const line = ['proxy', '--listen', '127.0.0.1:0', '--client', 'typescript-sdk', '--', process.execPath, SERVER];
  proxy = spawn(PROGRAM, line, { stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const text of createInterface({ input: proxy.stderr })) {
    url = text.match(/listening on (\S+)/)?.[1];
    if (url) break;
  }
});

after(async () => {
  proxy.kill();
  await once(proxy, 'exit');
});

const info = { name: 'client', version: '1' };
const KINDS = {
  'the stable SDK': () => [new stable.Client(info), new StreamableHTTPClientTransport(new URL(url))],
  'the next SDK': () => [new next.Client(info), new next.StreamableHTTPClientTransport(new URL(url))],
  'the next SDK, which asks for the version': () => [
    new next.Client(info, { versionNegotiation: { mode: 'auto' } }),
    new next.StreamableHTTPClientTransport(new URL(url)),
  ],
};

for (const [name, create] of Object.entries(KINDS)) {
  test(`${name} lists and calls tools`, async () => {
    const [client, transport] = create();
    await client.connect(transport);
    const { tools } = await client.listTools();
    assert.equal(tools.length, 120);
    const result = await client.callTool({ name: 'task_close', arguments: { id: '7' } });
    // The argument is repaired.
    assert.deepEqual(JSON.parse(result.content[0].text), { name: 'task_close', arguments: { id: 7 } });
    await client.close();
  });
}
