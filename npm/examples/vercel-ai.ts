// The Vercel AI SDK: a provider with `fetch`, and unchanged tools. Names and arguments are restored before `execute` receives them.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import type { JsonSchema } from 'toolwire';
import { toolwireFetch } from 'toolwire/fetch';

export interface Published {
  name: string;
  description: string;
  inputSchema: JsonSchema;
}

export async function ask(
  baseURL: string,
  published: Published[],
  call: (tool: string, input: unknown) => Promise<string>,
  streams: boolean,
) {
  const provider = createOpenAICompatible({ name: 'moonshot', baseURL, fetch: toolwireFetch({ dialect: 'moonshot' }) });
  const tools = Object.fromEntries(
    published.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute: (input) => call(name, input) }),
    ]),
  );
  const request = {
    model: provider('kimi-k2'),
    prompt: 'Read README.md of main.',
    tools,
    stopWhen: isStepCount(5),
  };
  return streams ? await streamText(request).text : (await generateText(request)).text;
}
