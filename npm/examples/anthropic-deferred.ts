// Deferred tools and Anthropic's own tool search, with a backend that implements Anthropic's protocol but neither of these features.
// The only line specific to toolwire is `fetch`.

import Anthropic from '@anthropic-ai/sdk';
import { toolwireFetch } from 'toolwire/fetch';

/** The tools of three servers could be here; the model only sees those that it has found. */
const tools: Anthropic.ToolUnion[] = [
  { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
  {
    name: 'book.room',
    description: 'Books a meeting room',
    input_schema: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
    defer_loading: true,
  },
  {
    name: 'mail.send',
    description: 'Sends a letter to somebody',
    input_schema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    defer_loading: true,
  },
];

export async function book(baseURL: string, streams: boolean, call: (tool: string, input: unknown) => string) {
  const client = new Anthropic({ baseURL, apiKey: 'none', fetch: toolwireFetch({ dialect: 'moonshot' }) });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'A room in Oslo, please.' }];
  for (;;) {
    const request = { model: 'kimi-k2', max_tokens: 1000, messages, tools };
    const message = await (streams ? client.messages.stream(request).finalMessage() : client.messages.create(request));
    // The content includes the searches as Anthropic's blocks, so the next request shows which tools were found.
    messages.push({ role: 'assistant', content: message.content });
    const results = message.content
      .filter((block) => block.type === 'tool_use')
      .map(({ id, name, input }): Anthropic.ToolResultBlockParam => {
        return { type: 'tool_result', tool_use_id: id, content: call(name, input) };
      });
    if (results.length === 0) return messages;
    messages.push({ role: 'user', content: results });
  }
}
