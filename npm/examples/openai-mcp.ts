// The tools of an MCP server with OpenAI Chat Completions, or any API with that protocol: `tools/list`, `sanitizeTools`, the call,
// `restore`, `tools/call`.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import OpenAI from 'openai';
import { type Dialect, sanitizeTools } from 'toolwire';

export async function ask(baseURL: string, server: Client, dialect: Dialect) {
  const client = new OpenAI({ baseURL, apiKey: 'none' });
  const { tools, quarantined, restore } = sanitizeTools(await server.listTools(), { dialect });
  for (const { name, message } of quarantined) console.warn(`without ${name}: ${message}`);

  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Read README.md of main.' }];
  for (;;) {
    const { choices } = await client.chat.completions.create({ model: 'kimi-k2', messages, tools });
    const message = choices[0]?.message;
    if (!message?.tool_calls?.length) return message?.content;
    messages.push(message);
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue;
      const { name, arguments: text } = restore.call(call.function.name, call.function.arguments);
      const { content } = await server.callTool({ name, arguments: JSON.parse(text) });
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(content) });
    }
  }
}
