/**
 * Adapts parameters and restores replies of language models that have the AI SDK's interface. The adapters of
 * frameworks whose models have this interface use it.
 *
 * @packageDocumentation
 */

import type { LanguageModelMiddleware } from 'ai';
import {
  type Adapter,
  argumentsOf,
  type Choice,
  isCut,
  matchesSchema,
  type PastCall,
  type SentTool,
  type Turn,
} from './framework.js';
import type { CallStream } from './index.js';

type GenerateArguments = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0];
type StreamArguments = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];
type GenerateResult = Awaited<ReturnType<GenerateArguments['doGenerate']>>;
type Part = Awaited<ReturnType<StreamArguments['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;
type ToolCall = Extract<Part, { type: 'tool-call' }>;
/** The parameters of a model call. */
export type Params = GenerateArguments['params'];

/** Adapts the model calls of one adapter. */
export class ModelCalls {
  readonly #adapter: Adapter;
  readonly #turns = new WeakMap<Params, Turn>();

  constructor(adapter: Adapter) {
    this.#adapter = adapter;
  }

  /** Returns the parameters as they are sent. {@link restoreReply} and {@link restoreStream} must receive the same object. */
  adapt(params: Params, model: string): Params {
    const [turn, sent] = adaptParams(params, model, this.#adapter);
    this.#turns.set(sent, turn);
    return sent;
  }

  /** Returns a whole reply with the tools' own names and arguments. */
  restoreReply(result: GenerateResult, sent: Params): GenerateResult {
    const turn = this.#turns.get(sent) as Turn;
    const isTruncated = isCut(result.finishReason.unified);
    const content = result.content.map((part) =>
      part.type === 'tool-call' ? restoreCall(turn, part, isTruncated) : part,
    );
    return { ...result, content };
  }

  /** Like {@link restoreReply}, for a streamed reply. */
  restoreStream<R extends { stream: ReadableStream<Part> }>(result: R, sent: Params): R {
    const turn = this.#turns.get(sent) as Turn;
    const openStreams = new Map<string, CallStream>();
    // Calls with blank arguments. They are held back until the finish reason shows if they were
    // truncated.
    const blank: ToolCall[] = [];
    const restoreBlank = (isWhole: boolean) => blank.splice(0).map((call) => restoreCall(turn, call, !isWhole));
    const restorePart = (part: Part): Part[] => {
      if (part.type === 'tool-call' && !part.providerExecuted && part.input.trim() === '') {
        blank.push(part);
        return [];
      }
      if (part.type === 'tool-call') return [restoreCall(turn, part, true)];
      if (part.type === 'finish') return [...restoreBlank(!isCut(reasonOf(part))), part];
      if (part.type === 'tool-input-start' && !part.providerExecuted && part.inputEncoding !== 'text') {
        openStreams.set(part.id, turn.callStream(part.toolName));
        return [{ ...part, toolName: turn.ownName(part.toolName) }];
      }
      if (part.type !== 'tool-input-delta' && part.type !== 'tool-input-end') return [part];
      const stream = openStreams.get(part.id);
      if (stream === undefined) return [part];
      if (part.type === 'tool-input-delta') return [{ ...part, delta: stream.feed(part.delta) }];
      return [{ type: 'tool-input-delta', id: part.id, delta: stream.finish() }, part];
    };
    const restoring = new TransformStream<Part, Part>({
      transform(part, controller) {
        // An empty delta means that the stream holds text back.
        for (const restored of restorePart(part))
          if (restored.type !== 'tool-input-delta' || restored.delta !== '') controller.enqueue(restored);
      },
      flush(controller) {
        for (const call of restoreBlank(false)) controller.enqueue(call);
      },
    });
    return { ...result, stream: result.stream.pipeThrough(restoring) };
  }

  /** Returns the same tools, but a call that could not be repaired does not run: it fails with the `retryMessage`. */
  guard<T extends object>(tools: T): T {
    const guard = ([name, tool]: [string, { execute?: unknown }]) => {
      const { execute: run } = tool;
      if (typeof run !== 'function') return [name, tool];
      const execute = (input: unknown, context: unknown, ...more: unknown[]) => {
        this.#adapter.refusals.checkValidated(callId(context), name, input);
        return run.call(tool, input, context, ...more);
      };
      // The copy keeps the tool's prototype.
      return [name, Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute })];
    };
    return Object.fromEntries(Object.entries(tools).map(guard));
  }
}

/** Returns the id of a call from the context that the AI SDK or Mastra passes to a tool. */
function callId(context: unknown): string | undefined {
  const { toolCallId, agent } = (context ?? {}) as { toolCallId?: string; agent?: { toolCallId?: string } };
  return toolCallId ?? agent?.toolCallId;
}

/** Returns the reason why a reply ended. Before the AI SDK 6, it is a string. */
function reasonOf({ finishReason }: Extract<Part, { type: 'finish' }>): unknown {
  return (finishReason as { unified?: unknown } | undefined)?.unified ?? finishReason;
}

/** Returns a call with the tool's own name and arguments. */
function restoreCall(turn: Turn, part: ToolCall, isTruncated: boolean): ToolCall {
  if (part.providerExecuted) return part;
  const { name, arguments: input } = turn.call(part.toolCallId, part.toolName, part.input, isTruncated);
  return { ...part, toolName: name, input };
}

/** Returns the parameters as they are sent, and the turn that restores the calls of the reply. */
function adaptParams(params: Params, model: string, adapter: Adapter): [Turn, Params] {
  const { tools = [], toolChoice: frameworkChoice, ...rest } = params;
  const coreTools = tools.map((tool) => {
    if (tool.type !== 'function') return undefined;
    const { name, description, inputSchema: parameters, strict } = tool;
    return { type: 'function', function: { name, description, parameters, strict } };
  });
  const hosted = tools.map((tool) => (tool.type === 'function' ? undefined : tool.name));
  const pastCalls: PastCall[] = [];
  changePrompt(params.prompt, (call) => (pastCalls[pastCalls.length] = call));
  const choice = frameworkChoice?.type === 'tool' ? { name: frameworkChoice.toolName } : frameworkChoice?.type;
  const turn = adapter.turn({ tools: coreTools, hosted, choice, called: pastCalls, model });
  const sent = turn.sentList(tools, coreTools, (tool, { parameters, ...sentMembers }: SentTool) => {
    const { strict: _, inputExamples, ...members } = tool as Extract<typeof tool, { type: 'function' }>;
    const examples = (inputExamples ?? []).filter(({ input }) => matchesSchema(input, parameters));
    return {
      ...members,
      ...sentMembers,
      inputSchema: parameters,
      ...(examples.length === 0 ? {} : { inputExamples: examples }),
    };
  });
  const prompt = changePrompt(params.prompt, (call) => ({
    name: turn.sentName(call.name),
    arguments: turn.sentArguments(call.arguments),
  }));
  // A choice of a tool that the API itself runs is unchanged.
  const toolChoice = turn.sentToolChoice(frameworkChoice, toSdkChoice);
  const choiceMember = toolChoice === undefined ? {} : { toolChoice };
  return [turn, { ...rest, prompt, ...(sent.length === 0 ? {} : { tools: sent }), ...choiceMember }];
}

/** Returns a choice in the form of the AI SDK. */
function toSdkChoice(choice: NonNullable<Choice>): Params['toolChoice'] {
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.name } : { type: choice };
}

/** Returns the prompt with changed calls to the client's tools, and with changed names in their results. */
function changePrompt(prompt: Params['prompt'], change: (call: PastCall) => PastCall): Params['prompt'] {
  return prompt.map((message) => {
    if (message.role !== 'assistant' && message.role !== 'tool') return message;
    const content = message.content.map((part) => {
      if (part.type === 'tool-call' && !part.providerExecuted) {
        const call = change({ name: part.toolName, arguments: part.input });
        // A value, because providers serialize it again.
        return { ...part, toolName: call.name, input: argumentsOf(call.arguments) };
      }
      if (part.type !== 'tool-result' || message.role !== 'tool') return part;
      return { ...part, toolName: change({ name: part.toolName, arguments: {} }).name };
    });
    return { ...message, content } as typeof message;
  });
}
