// The results of `sanitize`, `sanitizeTools` and `ToolSet` have the SDKs' parameter types, without a cast. Compiled, never run.

import type Anthropic from '@anthropic-ai/sdk';
import type { FunctionDeclaration, Tool } from '@google/genai';
import { jsonSchema } from 'ai';
import type OpenAI from 'openai';
import { sanitize, sanitizeTools, ToolSet } from 'toolwire';

const schema = { type: 'object', properties: { city: { type: 'string' } } };

export const anthropic: Anthropic.Tool = { name: 'a', input_schema: sanitize(schema, { dialect: 'anthropic' }).schema };
export const chat: OpenAI.FunctionDefinition = {
  name: 'a',
  parameters: sanitize(schema, { dialect: 'openai-chat' }).schema,
};
export const responses: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'a',
  parameters: sanitize(schema, { dialect: 'openai-strict' }).schema,
  strict: true,
};
export const google: FunctionDeclaration = {
  name: 'a',
  parametersJsonSchema: sanitize(schema, { dialect: 'gemini-json-schema' }).schema,
};
export const vercel = jsonSchema(sanitize(schema, { dialect: 'moonshot' }).schema);

const listed = [{ name: 'a', inputSchema: schema }];

export const anthropicTools: Anthropic.Tool[] = sanitizeTools(listed, { dialect: 'anthropic' }).tools;
export const chatTools: OpenAI.ChatCompletionTool[] = sanitizeTools(listed, { dialect: 'openai-chat' }).tools;
export const responsesTools: OpenAI.Responses.Tool[] = sanitizeTools(listed, { dialect: 'openai-responses' }).tools;
export const googleTools: Tool[] = sanitizeTools(listed, { dialect: 'gemini' }).tools;
export const googleJsonTools: Tool[] = sanitizeTools(listed, { dialect: 'gemini-json-schema' }).tools;

const set = new ToolSet(listed);

export const anthropicSet: Anthropic.Tool[] = set.sanitize({ dialect: 'anthropic' }).tools;
export const chatSet: OpenAI.ChatCompletionTool[] = set.sanitize({ dialect: 'openai-chat' }).tools;
export const responsesSet: OpenAI.Responses.Tool[] = set.sanitize({ dialect: 'openai-responses' }).tools;
export const googleSet: Tool[] = set.sanitize({ dialect: 'gemini' }).tools;
export const googleJsonSet: Tool[] = set.sanitize({ dialect: 'gemini-json-schema' }).tools;
// A request as it is sent: `messages.create` and similar methods accept the same types.
const { tools } = set.sanitize({ dialect: 'anthropic' });
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Rain in Rome?' }];
export const request: Anthropic.MessageCreateParams = { model: 'claude', max_tokens: 1, messages, tools };
