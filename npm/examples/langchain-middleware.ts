// LangChain's agents with middleware: for a model class without a `fetch` option, or a model that other code created.

import { ChatOpenAI } from '@langchain/openai';
import { createAgent, DynamicStructuredTool } from 'langchain';
import { type FrameworkOptions, toolwireMiddleware } from 'toolwire/langchain';
import type { Published } from './vercel-ai.js';

export async function ask(
  baseURL: string,
  published: Published[],
  call: (tool: string, input: unknown) => Promise<string>,
  streams: boolean,
  options: Omit<FrameworkOptions, 'dialect'> = {},
) {
  const model = new ChatOpenAI({ model: 'kimi-k2', apiKey: 'none', configuration: { baseURL } });
  const tools = published.map(
    ({ name, description, inputSchema }) =>
      new DynamicStructuredTool({ name, description, schema: inputSchema, func: (input) => call(name, input) }),
  );
  const middleware = [toolwireMiddleware({ dialect: 'moonshot', repair: true, ...options })];
  const agent = createAgent({ model, tools, middleware });
  const input = { messages: [{ role: 'user' as const, content: 'Read README.md of main.' }] };
  if (!streams) return (await agent.invoke(input)).messages.at(-1)?.text;
  let text = '';
  for await (const [, part] of await agent.stream(input, { streamMode: ['messages'] })) {
    const [piece, { langgraph_node: node }] = part;
    // Only the model's last text is returned: a tool's result begins another step.
    text = node === 'tools' ? '' : text + piece.text;
  }
  return text;
}
