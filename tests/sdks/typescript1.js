// The TypeScript SDK 1.x: `typescript1.js server`, or `typescript1.js client VERSION COMMAND…`.

import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { use } from './features.js';

const scenario = JSON.parse(readFileSync(new URL('scenario.json', import.meta.url)));
const text = (said) => ({ content: [{ type: 'text', text: said }] });
let cancelled = 0;

const CALLS = {
  'math.add': ({ a, b }) => ({ ...text(`${a + (b ?? 0)}`), structuredContent: { sum: a + (b ?? 0) } }),
  broken: () => ({ ...text('out of paper'), isError: true }),
  async count(_, { _meta, sendNotification }) {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: _meta?.progressToken, progress, total: 3 };
      await sendNotification({ method: 'notifications/progress', params });
      // The SDKs drop progress that arrives together with the result.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return text('counted');
  },
  wait: (_, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        cancelled += 1;
        resolve(text('cancelled'));
      });
    }),
  cancelled: () => text(`${cancelled}`),
  sample: async (_, { server }) => text((await server.createMessage(scenario.sampling)).content.text),
  async ask(_, { server }) {
    const { action, content } = await server.elicitInput(scenario.elicitation);
    return text(`${action} ${content?.name}`);
  },
  later: () => text('done later'),
  view: () => text('shown'),
};

async function serve() {
  const requests = { tools: { call: {} } };
  const capabilities = { tools: {}, resources: {}, prompts: {}, tasks: { requests, list: {}, cancel: {} } };
  const about = { capabilities, taskStore: new InMemoryTaskStore() };
  const server = new Server({ name: 'typescript1', version: '1' }, about);
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: scenario.tools }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    if (params.task) {
      const task = await extra.taskStore.createTask({ ttl: 60_000, pollInterval: 100 });
      setTimeout(() => extra.taskStore.storeTaskResult(task.taskId, 'completed', text('done later')), 200);
      return { task };
    }
    return CALLS[params.name](params.arguments ?? {}, { ...extra, server });
  });
  const { resources, resourceTemplates, prompts } = scenario;
  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({ resources }));
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
    const found = scenario.contents[uri];
    if (!found) throw new types.McpError(-32002, 'Resource not found');
    return { contents: [found] };
  });
  server.setRequestHandler(types.ListPromptsRequestSchema, () => ({ prompts }));
  server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${params.arguments?.who}` } }],
  }));
  await server.connect(new StdioServerTransport());
}

async function connect(command, args) {
  const capabilities = { sampling: {}, elicitation: { form: {} } };
  const client = new Client({ name: 'typescript1', version: '1' }, { capabilities });
  client.setRequestHandler(types.CreateMessageRequestSchema, () => ({
    role: 'assistant',
    content: { type: 'text', text: 'Rome' },
    model: 'none',
  }));
  client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
  await client.connect(new StdioClientTransport({ command, args }));
  const { callTool } = client;
  client.callTool = (params, options) => callTool.call(client, params, undefined, options);
  client.task = async (name) => {
    const options = { task: { ttl: 60_000 } };
    const stream = client.experimental.tasks.callToolStream({ name, arguments: {} }, undefined, options);
    let isTask = false;
    for await (const message of stream) {
      if (message.type === 'taskCreated') isTask = true;
      if (message.type === 'error') throw message.error;
      if (message.type === 'result' && !isTask) throw new Error('the call was no task');
      if (message.type === 'result') return message.result;
    }
  };
  return client;
}

const [role, , command, ...line] = process.argv.slice(2);
if (role === 'server') await serve();
else await use(() => connect(command, line));
