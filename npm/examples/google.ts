// The Google SDK: function declarations from MCP tools, and the call restored. (Uses `parametersJsonSchema`, because the SDK rewrites
// `parameters`.)

import { GoogleGenAI } from '@google/genai';
import { sanitizeTools, type Tool } from 'toolwire';

export async function ask(baseUrl: string, published: Tool[]) {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } });
  const { tools, restore } = sanitizeTools(published, { dialect: 'gemini-json-schema' });
  const reply = await client.models.generateContent({
    model: 'gemini-3-pro',
    contents: 'Read README.md of main.',
    config: { tools },
  });
  return reply.functionCalls?.map(({ name = '', args }) => restore.call(name, args));
}
