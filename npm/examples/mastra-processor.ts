// Mastra's agents with an input processor: for any model, including those that Mastra's router creates from a name.

import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { createTool } from '@mastra/core/tools';
import { type FrameworkOptions, toolwireProcessor } from 'toolwire/mastra';

interface Published {
  name: string;
  description: string;
  inputSchema: { type: 'object' };
}

export async function ask(
  model: MastraModelConfig,
  published: Published[],
  call: (tool: string, input: unknown) => Promise<string>,
  streams: boolean,
  options: Omit<FrameworkOptions, 'dialect'> = {},
) {
  const tools = Object.fromEntries(
    published.map(({ name, description, inputSchema }) => [
      name,
      createTool({ id: name, description, inputSchema, execute: (input) => call(name, input) }),
    ]),
  );
  const agent = new Agent({
    id: 'reader',
    name: 'reader',
    instructions: 'Read README.md of main.',
    model,
    tools,
    inputProcessors: [toolwireProcessor({ dialect: 'moonshot', repair: true, ...options })],
  });
  return streams ? await (await agent.stream('Read.')).text : (await agent.generate('Read.')).text;
}
