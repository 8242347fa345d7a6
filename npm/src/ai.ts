/**
 * The Vercel AI SDK, version 7: a middleware for `wrapLanguageModel`. Tools are sent in a dialect, calls come back with the tools' own names and
 * arguments, whole and streamed.
 *
 * @packageDocumentation
 */

import type { LanguageModelMiddleware, ToolCallRepairFunction, ToolSet } from 'ai';
import {
  Adapter,
  argumentsOf,
  type Choice,
  type FrameworkOptions,
  fits,
  isCut,
  type PastCall,
  type SentTool,
  type Turn,
} from './framework.js';
import { type CallStream, ToolwireError } from './index.js';

export type { FrameworkOptions, SentTool, SentTools } from './framework.js';

type Params = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params'];
type Streaming = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];
type Part = Awaited<ReturnType<Streaming['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;
type ToolCall = Extract<Part, { type: 'tool-call' }>;

/** The middleware, and what hands the model `retryMessage` for calls that could not be repaired (`repair`). */
export interface ToolwireMiddleware extends LanguageModelMiddleware {
  /** For the option of that name: the error of a call that the AI SDK refuses is the `retryMessage`. */
  repairToolCall: ToolCallRepairFunction<ToolSet>;
  /** The same tools, except that a call that could not be repaired does not run: its error is the `retryMessage`. */
  guarded<T extends ToolSet>(tools: T): T;
}

/**
 * A middleware that sends tools in a dialect and restores the calls.
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
  const { refusals } = adapter;
  const turns = new WeakMap<Params, Turn>();
  const restored = (turn: Turn, part: ToolCall, cut: boolean): ToolCall => {
    if (part.providerExecuted) return part;
    const { name, arguments: input } = turn.call(part.toolCallId, part.toolName, part.input, cut);
    return { ...part, toolName: name, input };
  };
  return {
    specificationVersion: 'v4',
    async transformParams({ params, model }) {
      if (model.specificationVersion !== 'v4') {
        const message = `expected the AI SDK 7 (models of specification v4), found ${model.specificationVersion}: run \`npm install ai@7\``;
        throw new ToolwireError('invalid-option', '', message);
      }
      const [turn, transformed] = adapted(params, model.modelId, adapter);
      turns.set(transformed, turn);
      return transformed;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const turn = turns.get(params) as Turn;
      const cut = isCut(result.finishReason.unified);
      return {
        ...result,
        content: result.content.map((part) => (part.type === 'tool-call' ? restored(turn, part, cut) : part)),
      };
    },
    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const turn = turns.get(params) as Turn;
      const open = new Map<string, CallStream>();
      const pieces = (part: Part): Part[] => {
        // Why the stream ended is told later: then, the AI SDK runs no call of a reply that was cut off.
        if (part.type === 'tool-call') return [restored(turn, part, part.input.trim() !== '')];
        if (part.type === 'tool-input-start' && !part.providerExecuted && part.inputEncoding !== 'text') {
          open.set(part.id, turn.callStream(part.toolName));
          return [{ ...part, toolName: turn.ownName(part.toolName) }];
        }
        if (part.type !== 'tool-input-delta' && part.type !== 'tool-input-end') return [part];
        const stream = open.get(part.id);
        if (stream === undefined) return [part];
        if (part.type === 'tool-input-delta') return [{ ...part, delta: stream.feed(part.delta) }];
        return [{ type: 'tool-input-delta', id: part.id, delta: stream.finish() }, part];
      };
      const restoring = new TransformStream<Part, Part>({
        transform(part, controller) {
          // A piece that is held back is no piece.
          for (const one of pieces(part))
            if (one.type !== 'tool-input-delta' || one.delta !== '') controller.enqueue(one);
        },
      });
      return { ...result, stream: result.stream.pipeThrough(restoring) };
    },
    async repairToolCall({ toolCall }) {
      refusals.check(toolCall.toolCallId, toolCall.toolName, toolCall.input);
      return null;
    },
    guarded(tools) {
      const guard = ([name, tool]: [string, ToolSet[string]]) => {
        const { execute: run } = tool;
        if (run === undefined) return [name, tool];
        const execute: typeof run = (input: unknown, call: { toolCallId: string }) => {
          refusals.checkValidated(call.toolCallId, name, input);
          return run.call(tool, input as never, call as never);
        };
        // With what the tool's class has.
        return [name, Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute })];
      };
      return Object.fromEntries(Object.entries(tools).map(guard));
    },
  };
}

/** The parameters as they are sent, and what restores the calls of the reply. */
function adapted(params: Params, model: string, adapter: Adapter): [Turn, Params] {
  const { tools = [], toolChoice: found, ...rest } = params;
  const given = tools.map((tool) => {
    if (tool.type !== 'function') return undefined;
    const { name, description, inputSchema: parameters, strict } = tool;
    return { type: 'function', function: { name, description, parameters, strict } };
  });
  const hosted = tools.map((tool) => (tool.type === 'function' ? undefined : tool.name));
  const called: PastCall[] = [];
  recalled(params.prompt, (call) => (called[called.length] = call));
  const choice = found?.type === 'tool' ? { name: found.toolName } : found?.type;
  const turn = adapter.turn({ tools: given, hosted, choice, called, model });
  const sent = turn.listed(tools, given, (tool, { parameters, ...own }: SentTool) => {
    const { strict: _, inputExamples, ...kept } = tool as Extract<typeof tool, { type: 'function' }>;
    const examples = (inputExamples ?? []).filter(({ input }) => fits(input, parameters));
    return { ...kept, ...own, inputSchema: parameters, ...(examples.length === 0 ? {} : { inputExamples: examples }) };
  });
  const prompt = recalled(params.prompt, (call) => ({
    name: turn.sentName(call.name),
    arguments: turn.sentArguments(call.arguments),
  }));
  // The choice of a tool that the API itself runs stays.
  const toolChoice = turn.chosen(found, written);
  const choosing = toolChoice === undefined ? {} : { toolChoice };
  return [turn, { ...rest, prompt, ...(sent.length === 0 ? {} : { tools: sent }), ...choosing }];
}

/** A choice in the form of the AI SDK. */
function written(choice: NonNullable<Choice>): Params['toolChoice'] {
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.name } : { type: choice };
}

/** The prompt with other calls of those that the client runs, and other names of their results. */
function recalled(prompt: Params['prompt'], change: (call: PastCall) => PastCall): Params['prompt'] {
  return prompt.map((message) => {
    if (message.role !== 'assistant' && message.role !== 'tool') return message;
    const content = message.content.map((part) => {
      if (part.type === 'tool-call' && !part.providerExecuted) {
        const call = change({ name: part.toolName, arguments: part.input });
        // Providers make text of it once more.
        return { ...part, toolName: call.name, input: argumentsOf(call.arguments) };
      }
      if (part.type !== 'tool-result' || message.role !== 'tool') return part;
      return { ...part, toolName: change({ name: part.toolName, arguments: {} }).name };
    });
    return { ...message, content } as typeof message;
  });
}
