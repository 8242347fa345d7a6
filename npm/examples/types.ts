// What `sanitize` returns fits what the SDKs take for a tool's parameters, without a cast. Compiled, never run.

import type Anthropic from '@anthropic-ai/sdk';
import type { FunctionDeclaration } from '@google/genai';
import { jsonSchema } from 'ai';
import type OpenAI from 'openai';
import { sanitize } from 'toolwire';

const schema = { type: 'object', properties: { city: { type: 'string' } } };

export const anthropic: Anthropic.Tool = { name: 'a', input_schema: sanitize(schema, { dialect: 'anthropic' }) };
export const chat: OpenAI.FunctionDefinition = { name: 'a', parameters: sanitize(schema, { dialect: 'openai-chat' }) };
export const responses: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'a',
  parameters: sanitize(schema, { dialect: 'openai-strict' }),
  strict: true,
};
export const google: FunctionDeclaration = {
  name: 'a',
  parametersJsonSchema: sanitize(schema, { dialect: 'gemini-json-schema' }),
};
export const vercel = jsonSchema(sanitize(schema, { dialect: 'moonshot' }));
