// An MCP server with the tools of `tools.js`: with all of them, or with those of one fault and a healthy tool. It writes a line for each call
// that it accepts to a file.

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { TOOLS } from './tools.js';

const [log, fault] = process.argv.slice(2);
const tools = TOOLS.filter((tool) => fault === undefined || tool.fault === fault || tool.fault === 'none');
// A server that lists a name twice finds the first tool with it.
const find = (name) => tools.find(({ definition }) => definition.name === name);

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'faults', version: '1' },
  }),
  'tools/list': () => ({ tools: tools.map(({ definition }) => definition) }),
  'tools/call': ({ name, arguments: args = {} }) => {
    const tool = find(name);
    if (!tool?.accepts(args)) {
      return { content: [{ type: 'text', text: `unexpected arguments ${JSON.stringify(args)}` }], isError: true };
    }
    appendFileSync(log, `${tool.mark}\n`);
    return tool.result();
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const body = METHODS[method]
    ? { result: METHODS[method](params ?? {}) }
    : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
});
