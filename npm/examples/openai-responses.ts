// One tool of your own for OpenAI Responses, strict: `sanitize` writes a schema that the SDK's type takes without a cast, and
// leaves the plan by which `restoreArguments` takes out what the strict mode made the model write.

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
  // Strict schemas require everything, so the model says null for what it leaves out.
  return restoreArguments(JSON.parse(call.arguments), restorePlan);
}
