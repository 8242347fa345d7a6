// The Vercel AI SDK's own hook for invalid calls: `repairToolCall` (`experimental_repairToolCall` before version 7) repairs
// the arguments. If it cannot, an error becomes the result of the call: the model reads what was expected, and calls
// again.

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

/** Called by the SDK for arguments that are not JSON, and for arguments that a tool's `validate` refuses. */
export const repairToolCall: ToolCallRepairFunction<ToolSet> = async ({ toolCall, inputSchema, error }) => {
  if (NoSuchToolError.isInstance(error)) return null;
  const schema = JSON.stringify(await inputSchema(toolCall));
  try {
    const repaired = repairArguments(toolCall.input, schema, { name: toolCall.toolName });
    if (repaired.valid !== false) return { ...toolCall, input: repaired.arguments };
    // The SDK sends the message of an error to the model.
    throw new Error(repaired.retryMessage ?? undefined);
  } catch (failure) {
    if (!(failure instanceof ToolwireError && failure.code === 'invalid-json')) throw failure;
    throw new Error(`The tool was not run: ${failure.detail}.`);
  }
};

/** Returns a schema that the SDK also validates: `jsonSchema` alone accepts any JSON. */
export function checked(schema: JsonSchema) {
  return jsonSchema(schema, {
    validate: (value) => {
      const { valid, errors } = validateArguments(value, schema);
      // `valid` is null if it cannot be decided. Then the tool's server decides.
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
