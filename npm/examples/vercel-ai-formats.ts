// A structured answer with the Vercel AI SDK and an API without response schemas: the SDK sends `response_format`, the
// API receives a function that the model is forced to call, and the SDK receives the call as text.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, streamText } from 'ai';
import { toolwireFetch } from 'toolwire/fetch';

const schema = jsonSchema<{ city: string }>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
});

export async function place(
  baseURL: string,
  streams: boolean,
  fetch = toolwireFetch({ dialect: 'deepseek', formats: 'ladder' }),
) {
  const provider = createOpenAICompatible({ name: 'deepseek', baseURL, fetch, supportsStructuredOutputs: true });
  const request = {
    model: provider('deepseek-chat'),
    prompt: 'Where is the Colosseum?',
    output: Output.object({ schema }),
    maxRetries: 0,
  };
  return streams ? await streamText(request).output : (await generateText(request)).output;
}
