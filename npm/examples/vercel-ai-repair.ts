// The Vercel AI SDK's own seam for calls that went wrong: `repairToolCall` (`experimental_repairToolCall` before
// version 7) mends arguments. What it cannot mend is the result of the call: the model reads what was expected, and
// calls again.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  isStepCount,
  jsonSchema,
  NoSuchToolError,
  type ToolCallRepairFunction,
  type ToolSet,
  tool,
} from 'ai';
import { type JsonSchema, repairArguments, ToolwireError, validateArguments } from 'toolwire';

/** The SDK asks it for what is no JSON, and for what a tool's `validate` refuses. */
export const repairToolCall: ToolCallRepairFunction<ToolSet> = async ({ toolCall, inputSchema, error }) => {
  if (NoSuchToolError.isInstance(error)) return null;
  const schema = JSON.stringify(await inputSchema(toolCall));
  try {
    const repaired = repairArguments(toolCall.input, schema, { name: toolCall.toolName });
    if (repaired.valid !== false) return { ...toolCall, input: repaired.arguments };
    // The SDK hands the message of an error to the model.
    throw new Error(repaired.retryMessage ?? undefined);
  } catch (unread) {
    if (!(unread instanceof ToolwireError && unread.code === 'invalid-json')) throw unread;
    throw new Error(`The tool was not run: ${unread.detail}.`);
  }
};

/** A schema that the SDK also checks: `jsonSchema` alone takes every JSON. */
export function checked(schema: JsonSchema) {
  return jsonSchema(schema, {
    validate: (value) => {
      const { valid, errors } = validateArguments(value, schema);
      // `valid` is null where that cannot be told. The tool's server decides then.
      return valid === false
        ? { success: false, error: new Error(errors.map(({ message }) => message).join('\n')) }
        : { success: true, value };
    },
  });
}

export async function clean(baseURL: string, call: (input: unknown) => string) {
  const provider = createOpenAICompatible({ name: 'backend', baseURL });
  const inputSchema = checked({
    type: 'object',
    properties: { paths: { type: 'array', items: { type: 'string' } }, dry_run: { type: 'boolean' } },
    required: ['paths'],
    additionalProperties: false,
  });
  const { text } = await generateText({
    model: provider('a-model'),
    prompt: 'Delete a.txt and b.txt.',
    tools: { delete_files: tool({ description: 'Deletes files', inputSchema, execute: call }) },
    repairToolCall,
    stopWhen: isStepCount(10),
  });
  return text;
}
