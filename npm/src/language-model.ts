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
  fits,
  isCut,
  type PastCall,
  type SentTool,
  type Turn,
} from './framework.js';
import type { CallStream } from './index.js';

type Generating = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0];
type Streaming = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];
type Generated = Awaited<ReturnType<Generating['doGenerate']>>;
type Part = Awaited<ReturnType<Streaming['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;
type ToolCall = Extract<Part, { type: 'tool-call' }>;
/** The parameters of a model call. */
export type Params = Generating['params'];

/** Adapts the model calls of one adapter. */
export class ModelCalls {
  readonly #adapter: Adapter;
  readonly #turns = new WeakMap<Params, Turn>();

  constructor(adapter: Adapter) {
    this.#adapter = adapter;
  }

  /** Returns the parameters as they are sent. {@link generated} and {@link streamed} must receive the same object. */
  sent(params: Params, model: string): Params {
    const [turn, sent] = adapted(params, model, this.#adapter);
    this.#turns.set(sent, turn);
    return sent;
  }

  /** Returns a whole reply with the tools' own names and arguments. */
  generated(result: Generated, sent: Params): Generated {
    const turn = this.#turns.get(sent) as Turn;
    const cut = isCut(result.finishReason.unified);
    const content = result.content.map((part) => (part.type === 'tool-call' ? restored(turn, part, cut) : part));
    return { ...result, content };
  }

  /** Like {@link generated}, for a streamed reply. */
  streamed<R extends { stream: ReadableStream<Part> }>(result: R, sent: Params): R {
    const turn = this.#turns.get(sent) as Turn;
    const open = new Map<string, CallStream>();
    // Calls with blank arguments. They are held back until the finish reason is known, which shows
    // whether they were cut off.
    const blank: ToolCall[] = [];
    const judged = (isWhole: boolean) => blank.splice(0).map((call) => restored(turn, call, !isWhole));
    const pieces = (part: Part): Part[] => {
      if (part.type === 'tool-call' && !part.providerExecuted && part.input.trim() === '') {
        blank.push(part);
        return [];
      }
      if (part.type === 'tool-call') return [restored(turn, part, true)];
      if (part.type === 'finish') return [...judged(!isCut(reasonOf(part))), part];
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
        // An empty delta means that the stream holds text back.
        for (const one of pieces(part))
          if (one.type !== 'tool-input-delta' || one.delta !== '') controller.enqueue(one);
      },
      flush(controller) {
        for (const call of judged(false)) controller.enqueue(call);
      },
    });
    return { ...result, stream: result.stream.pipeThrough(restoring) };
  }

  /** Returns the same tools, but a call that could not be repaired does not run: it fails with the `retryMessage`. */
  guarded<T extends object>(tools: T): T {
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
function restored(turn: Turn, part: ToolCall, cut: boolean): ToolCall {
  if (part.providerExecuted) return part;
  const { name, arguments: input } = turn.call(part.toolCallId, part.toolName, part.input, cut);
  return { ...part, toolName: name, input };
}

/** Returns the parameters as they are sent, and the turn that restores the calls of the reply. */
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
  // A choice of a tool that the API itself runs is unchanged.
  const toolChoice = turn.chosen(found, written);
  const choosing = toolChoice === undefined ? {} : { toolChoice };
  return [turn, { ...rest, prompt, ...(sent.length === 0 ? {} : { tools: sent }), ...choosing }];
}

/** Returns a choice in the form of the AI SDK. */
function written(choice: NonNullable<Choice>): Params['toolChoice'] {
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.name } : { type: choice };
}

/** Returns the prompt with changed calls to the client's tools, and with changed names in their results. */
function recalled(prompt: Params['prompt'], change: (call: PastCall) => PastCall): Params['prompt'] {
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
