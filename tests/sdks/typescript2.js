// The TypeScript SDK 2.x: `typescript2.js server`, or `typescript2.js client VERSION COMMAND…`.

import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { inputRequired, ProtocolError, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { use } from './features.js';
import { MODERN } from './version.js';

const scenario = JSON.parse(readFileSync(new URL('scenario.json', import.meta.url)));
const text = (said) => ({ content: [{ type: 'text', text: said }] });
let cancelled = 0;

const CALLS = {
  'math.add': ({ a, b }) => ({ ...text(`${a + (b ?? 0)}`), structuredContent: { sum: a + (b ?? 0) } }),
  broken: () => ({ ...text('out of paper'), isError: true }),
  async count(_, { mcpReq }) {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: mcpReq._meta?.progressToken, progress, total: 3 };
      await mcpReq.notify({ method: 'notifications/progress', params });
      // The SDKs drop progress that arrives together with the result.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return text('counted');
  },
  wait: (_, { mcpReq }) =>
    new Promise((resolve) => {
      mcpReq.signal.addEventListener('abort', () => {
        cancelled += 1;
        resolve(text('cancelled'));
      });
    }),
  cancelled: () => text(`${cancelled}`),
  sample(_, { mcpReq }) {
    const answer = mcpReq.inputResponses?.city;
    if (answer) return text(answer.content.text);
    return inputRequired({ inputRequests: { city: inputRequired.createMessage(scenario.sampling) } });
  },
  ask(_, { mcpReq }) {
    const answer = mcpReq.inputResponses?.name;
    if (answer) return text(`${answer.action} ${answer.content?.name}`);
    return inputRequired({ inputRequests: { name: inputRequired.elicit(scenario.elicitation) } });
  },
  later: () => text('done now'),
  view: () => text('shown'),
};

function create() {
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const server = new Server({ name: 'typescript2', version: '1' }, { capabilities });
  server.setRequestHandler('tools/list', () => ({ tools: scenario.tools }));
  server.setRequestHandler('tools/call', ({ params }, context) => CALLS[params.name](params.arguments ?? {}, context));
  const { resources, resourceTemplates, prompts } = scenario;
  server.setRequestHandler('resources/list', () => ({ resources }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = scenario.contents[uri];
    if (!found) throw new ProtocolError(-32602, 'Resource not found');
    return { contents: [found] };
  });
  server.setRequestHandler('prompts/list', () => ({ prompts }));
  server.setRequestHandler('prompts/get', ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${params.arguments?.who}` } }],
  }));
  return server;
}

async function connect(version, command, args) {
  const capabilities = { sampling: {}, elicitation: { form: {} } };
  const versionNegotiation = { mode: version === MODERN ? { pin: MODERN } : 'legacy' };
  const client = new Client({ name: 'typescript2', version: '1' }, { capabilities, versionNegotiation });
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    content: { type: 'text', text: 'Rome' },
    model: 'none',
  }));
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
  await client.connect(new StdioClientTransport({ command, args }));
  client.task = async (name) => {
    const session = createTaskSessionFromClient(client, { endpointId: 'server' });
    const execution = await session.callTool(name, {});
    const { outcome } = await execution.settle();
    const result = resultFromTaskOutcome(outcome);
    await session.close();
    return result;
  };
  return client;
}

const [role, version, command, ...line] = process.argv.slice(2);
if (role === 'server') serveStdio(create, { legacy: 'serve' });
else await use(() => connect(version, command, line));
