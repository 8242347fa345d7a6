// A structured answer from an API without response schemas: DeepSeek's Chat Completions refuses `response_format` with
// a schema. With `formats: 'ladder'`, the model is forced to call a function with that schema instead, and the SDK receives
// the call as the text of the answer.

import OpenAI from 'openai';
import { toolwireFetch } from 'toolwire/fetch';

export const format = {
  type: 'json_schema',
  json_schema: { name: 'cities', schema: { type: 'array', items: { type: 'string' } } },
} as const;

export async function cities(baseURL: string, streams: boolean): Promise<unknown> {
  const client = new OpenAI({
    baseURL,
    apiKey: 'none',
    fetch: toolwireFetch({ dialect: 'deepseek', formats: 'ladder' }),
  });
  const messages = [{ role: 'user' as const, content: 'The two largest cities of Norway?' }];
  const request = { model: 'deepseek-chat', messages, response_format: format };
  if (!streams) {
    const { choices } = await client.chat.completions.create(request);
    return JSON.parse(choices[0]?.message.content ?? '');
  }
  let text = '';
  for await (const { choices } of await client.chat.completions.create({ ...request, stream: true })) {
    text += choices[0]?.delta.content ?? '';
  }
  return JSON.parse(text);
}
