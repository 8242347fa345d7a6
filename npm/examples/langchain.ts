// LangChain: the model class accepts the SDK's options, among them `fetch`.

import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { toolwireFetch } from 'toolwire/fetch';
import type { Published } from './vercel-ai.js';

export async function ask(
  baseURL: string,
  published: Published[],
  call: (tool: string, input: unknown) => Promise<string>,
) {
  const configuration = { baseURL, fetch: toolwireFetch({ dialect: 'moonshot' }) };
  const model = new ChatOpenAI({ model: 'kimi-k2', apiKey: 'none', configuration });
  const tools = published.map(
    ({ name, description, inputSchema }) =>
      new DynamicStructuredTool({ name, description, schema: inputSchema, func: (input) => call(name, input) }),
  );
  const question = 'Read README.md of main.';
  const answer = await model.bindTools(tools).invoke(question);
  const results: ToolMessage[] = [];
  for (const one of answer.tool_calls ?? []) {
    const tool = tools.find(({ name }) => name === one.name);
    const content = tool === undefined ? `no tool ${one.name}` : await tool.invoke(one.args);
    results.push(new ToolMessage({ content, tool_call_id: one.id ?? '' }));
  }
  return (await model.bindTools(tools).invoke([{ role: 'user', content: question }, answer, ...results])).text;
}
