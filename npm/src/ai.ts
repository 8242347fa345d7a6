/**
 * The Vercel AI SDK, version 7: a middleware for `wrapLanguageModel`. Tools are sent in a dialect, calls come back with the tools' own names and
 * arguments, whole and streamed.
 *
 * @packageDocumentation
 */

import type { LanguageModelMiddleware, ToolCallRepairFunction, ToolSet } from 'ai';
import { type FrameworkOptions, type GivenTool, Refusals, Turn } from './framework.js';
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
  // Wrong options fail here, not with the first request.
  new Turn([], { called: [], model: '' }, { ...options, onReport: undefined });
  const turns = new WeakMap<Params, Turn>();
  const refusals = new Refusals();
  const restored = (turn: Turn, part: ToolCall): ToolCall => {
    if (part.providerExecuted) return part;
    const { name, arguments: input, retryMessage } = turn.call(part.toolCallId, part.toolName, part.input);
    refusals.keep(part.toolCallId, retryMessage);
    return { ...part, toolName: name, input };
  };
  return {
    specificationVersion: 'v4',
    async transformParams({ params, model }) {
      if (model.specificationVersion !== 'v4') {
        const message = `expected the AI SDK 7 (models of specification v4), found ${model.specificationVersion}: run \`npm install ai@7\``;
        throw new ToolwireError('invalid-option', '', message);
      }
      const [turn, transformed] = adapted(params, model.modelId, options);
      turns.set(transformed, turn);
      return transformed;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const turn = turns.get(params) as Turn;
      return {
        ...result,
        content: result.content.map((part) => (part.type === 'tool-call' ? restored(turn, part) : part)),
      };
    },
    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const turn = turns.get(params) as Turn;
      const open = new Map<string, CallStream>();
      const pieces = (part: Part): Part[] => {
        if (part.type === 'tool-call') return [restored(turn, part)];
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
      refusals.check(toolCall.toolCallId);
      return null;
    },
    guarded(tools) {
      const guard = ({ execute: run, ...tool }: ToolSet[string]) => {
        const execute: typeof run = (input: unknown, call: { toolCallId: string }) => {
          refusals.check(call.toolCallId);
          return run?.(input as never, call as never);
        };
        return run === undefined ? tool : { ...tool, execute };
      };
      return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, guard(tool)])) as typeof tools;
    },
  };
}

/** The parameters as they are sent, and what restores the calls of the reply. */
function adapted(params: Params, model: string, options: FrameworkOptions): [Turn, Params] {
  const { tools = [], toolChoice: found, ...rest } = params;
  const functions = tools.filter((tool) => tool.type === 'function');
  const given = functions.map(({ inputSchema: schema, ...tool }): GivenTool => ({ ...tool, schema }));
  const forced = found?.type === 'tool' ? functions.find(({ name }) => name === found.toolName) : undefined;
  // The choice of a tool that the API itself runs stays.
  const choice = forced ?? (found?.type === 'tool' || functions.length === 0 ? undefined : found?.type);
  const called: string[] = [];
  renamed(params.prompt, (name) => (called[called.length] = name));
  const turn = new Turn(given, { choice, called, model }, options);
  const sent = tools.flatMap((tool): typeof tools => {
    if (tool.type !== 'function') return [tool];
    const { parameters, ...own } = turn.sentTool(tool.name) ?? {};
    const { strict: _, ...kept } = tool;
    return parameters === undefined ? [] : [{ ...kept, ...own, inputSchema: parameters }];
  });
  const prompt = renamed(params.prompt, (name) => turn.sentName(name));
  const sentChoice = choice === undefined ? found : choiceOf(turn);
  const choosing = sentChoice === undefined ? {} : { toolChoice: sentChoice };
  return [turn, { ...rest, prompt, ...(sent.length === 0 ? {} : { tools: sent }), ...choosing }];
}

/** The choice as it is sent. */
function choiceOf({ choice }: Turn): Params['toolChoice'] {
  if (choice === undefined) return undefined;
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.name } : { type: choice };
}

/** The prompt with other names of the calls that the client runs, and of their results. */
function renamed(prompt: Params['prompt'], rename: (name: string) => string): Params['prompt'] {
  return prompt.map((message) => {
    if (message.role !== 'assistant' && message.role !== 'tool') return message;
    const content = message.content.map((part) => {
      const isOurs =
        part.type === 'tool-call' ? !part.providerExecuted : part.type === 'tool-result' && message.role === 'tool';
      return isOurs ? { ...part, toolName: rename((part as { toolName: string }).toolName) } : part;
    });
    return { ...message, content } as typeof message;
  });
}
