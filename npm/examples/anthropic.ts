// The Anthropic SDK with tools from another source: `sanitizeTools` for the request, `restore` for the reply.

import Anthropic from '@anthropic-ai/sdk';
import { sanitizeTools, type Tool } from 'toolwire';

export async function ask(baseURL: string, published: Tool[], call: (tool: string, input: unknown) => Promise<string>) {
  const client = new Anthropic({ baseURL, apiKey: 'none' });
  const { tools, quarantined, restore } = sanitizeTools(published, { dialect: 'anthropic' });
  for (const { name, message } of quarantined) console.warn(`without ${name}: ${message}`);

  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Read README.md of main.' }];
  for (;;) {
    const { content } = await client.messages.create({ model: 'claude', max_tokens: 1000, messages, tools });
    messages.push({ role: 'assistant', content });
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const block of content) {
      if (block.type !== 'tool_use') continue;
      const { name, arguments: input } = restore.call(block.name, block.input);
      results.push({ type: 'tool_result', tool_use_id: block.id, content: await call(name, input) });
    }
    if (results.length === 0) return content;
    messages.push({ role: 'user', content: results });
  }
}
