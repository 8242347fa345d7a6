// An MCP server with a tool for each rule of the Inspector's `--strict`, in an input and an output, and the tools of a file, if there is one.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const BAD = {
  'boolean schema': { any: true, never: false, list: { type: 'array', items: true } },
  'type union': { unit: { type: ['string', 'null'], enum: ['c', 'f', null] }, days: { type: ['integer', 'string'] } },
  'remote reference': { place: { $ref: 'https://example.com/place.json' } },
  'untyped schema': { value: {}, described: { description: 'Anything.' } },
};

export const tools = Object.entries(BAD).flatMap(([rule, properties], at) => {
  const schema = { type: 'object', properties };
  return [
    { name: `input_${at}`, description: rule, inputSchema: schema },
    { name: `output_${at}`, description: rule, inputSchema: { type: 'object' }, outputSchema: schema },
  ];
});

if (process.argv[1]?.endsWith('server.js')) {
  const [file] = process.argv.slice(2);
  const listed = file ? JSON.parse(readFileSync(file)) : tools;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const results = {
      initialize: () => ({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'bad', version: '1' },
      }),
      'tools/list': () => ({ tools: listed }),
    };
    if (id === undefined) return;
    const body = results[method]
      ? { result: results[method]() }
      : { error: { code: -32601, message: 'Method not found' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
  });
}
