// The Vercel AI SDK 7 with middleware: for a model whose provider has no `fetch` option, or a model that other code created.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModelMiddleware,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai';
import { type FrameworkOptions, toolwireMiddleware } from 'toolwire/ai';
import type { Published } from './vercel-ai.js';

export async function ask(
  baseURL: string,
  published: Published[],
  call: (tool: string, input: unknown) => Promise<string>,
  streams: boolean,
  options: Omit<FrameworkOptions, 'dialect'> = {},
) {
  const toolwire = toolwireMiddleware({ dialect: 'moonshot', repair: true, ...options });
  const provider = createOpenAICompatible({ name: 'moonshot', baseURL });
  const tools = Object.fromEntries(
    published.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute: (input) => call(name, input) }),
    ]),
  );
  const request = {
    model: wrapLanguageModel({ model: provider('kimi-k2'), middleware: toolwire satisfies LanguageModelMiddleware }),
    prompt: 'Read README.md of main.',
    // A call that could not be repaired does not run: the model reads what was expected.
    tools: toolwire.guarded(tools),
    repairToolCall: toolwire.repairToolCall,
    stopWhen: isStepCount(5),
  };
  return streams ? await streamText(request).text : (await generateText(request)).text;
}
