// One strict tool of your own for OpenAI Responses: `sanitize` returns a schema that the SDK's type accepts without a cast, and
// the plan with which `restoreArguments` removes what strict mode made the model write.

import OpenAI from 'openai';
import { restoreArguments, sanitize } from 'toolwire';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
};
const { schema: parameters, restorePlan } = sanitize(schema, { dialect: 'openai-strict' });

export async function forecast(baseURL: string) {
  const client = new OpenAI({ baseURL, apiKey: 'none' });
  const tool: OpenAI.Responses.FunctionTool = {
    type: 'function',
    name: 'forecast',
    description: 'What the weather will be',
    parameters,
    strict: true,
  };
  const { output } = await client.responses.create({ model: 'gpt-5', input: 'The weather in Oslo?', tools: [tool] });
  const call = output.find((item) => item.type === 'function_call');
  if (call === undefined) return undefined;
  // Strict schemas require every property, so the model writes null for a property that it would omit.
  return restoreArguments(JSON.parse(call.arguments), restorePlan);
}
