/**
 * Middleware for the Vercel AI SDK, version 7 (`wrapLanguageModel`). It sends tools in a dialect, and restores the
 * tools' own names and arguments in calls, whole and streamed.
 *
 * @packageDocumentation
 */

import type { LanguageModelMiddleware, ToolCallRepairFunction, ToolSet } from 'ai';
import { Adapter, type FrameworkOptions } from './framework.js';
import { ToolwireError } from './index.js';
import { ModelCalls } from './language-model.js';

export type { FrameworkOptions, SentTool, SentTools } from './framework.js';

/** The middleware, and two functions that give the model the `retryMessage` of calls that could not be repaired. */
export interface ToolwireMiddleware extends LanguageModelMiddleware {
  /** Function for the AI SDK's option of the same name. A call that the SDK refuses fails with the `retryMessage`. */
  repairToolCall: ToolCallRepairFunction<ToolSet>;
  /** Returns the same tools, but a call that could not be repaired does not run: it fails with the `retryMessage`. */
  guarded<T extends ToolSet>(tools: T): T;
}

/**
 * Returns a middleware that sends tools in a dialect and restores their calls.
 *
 * @example
 * ```ts
 * const toolwire = toolwireMiddleware({ dialect: 'moonshot', repair: true });
 * const model = wrapLanguageModel({ model: provider('kimi-k2'), middleware: toolwire });
 * await generateText({ model, prompt, tools: toolwire.guarded(tools), repairToolCall: toolwire.repairToolCall });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`; `invalid-option` on a call in an AI SDK before 7.
 */
export function toolwireMiddleware(options: FrameworkOptions): ToolwireMiddleware {
  const adapter = new Adapter(options);
  const calls = new ModelCalls(adapter);
  return {
    specificationVersion: 'v4',
    async transformParams({ params, model }) {
      if (model.specificationVersion !== 'v4') {
        const message = `expected the AI SDK 7 (models of specification v4), found ${model.specificationVersion}: run \`npm install ai@7\``;
        throw new ToolwireError('invalid-option', '', message);
      }
      return calls.adapt(params, model.modelId);
    },
    wrapGenerate: async ({ doGenerate, params }) => calls.restoreReply(await doGenerate(), params),
    wrapStream: async ({ doStream, params }) => calls.restoreStream(await doStream(), params),
    async repairToolCall({ toolCall }) {
      adapter.refusals.check(toolCall.toolCallId, toolCall.toolName, toolCall.input);
      return null;
    },
    guarded: (tools) => calls.guard(tools),
  };
}
