// A structured answer from a Claude model without response formats: models before Claude 4.5 refuse `output_config.format`. With
// `formats: 'ladder'`, the model is forced to call a function with that schema instead, and the SDK receives the call as a text block.

import Anthropic from '@anthropic-ai/sdk';
import { toolwireFetch } from 'toolwire/fetch';

const schema = { type: 'array', items: { type: 'string' } };

export async function cities(baseURL: string, streams: boolean): Promise<unknown> {
  const fetch = toolwireFetch({ dialect: 'anthropic', formats: 'ladder' });
  const client = new Anthropic({ baseURL, apiKey: 'none', fetch });
  const request = {
    model: 'anthropic/claude-3.7-sonnet',
    max_tokens: 1000,
    messages: [{ role: 'user' as const, content: 'The two largest cities of Norway?' }],
    output_config: { format: { type: 'json_schema' as const, schema } },
  };
  const { content } = streams
    ? await client.messages.stream(request).finalMessage()
    : await client.messages.create(request);
  return JSON.parse(content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
}
