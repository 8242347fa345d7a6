/**
 * Middleware for LangChain's agents, version 1 (`createAgent`). It sends tools in a dialect, and restores the tools'
 * own names and arguments in calls.
 *
 * @packageDocumentation
 */

import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages';
import type { AgentMiddleware } from 'langchain';
import {
  Adapter,
  argumentsOf,
  type CoreTool,
  type FrameworkOptions,
  isCut,
  matchesSchema,
  type SentTool,
  type Turn,
  unreadMessage,
} from './framework.js';

export type { FrameworkOptions, SentTool, SentTools } from './framework.js';

type Request = Parameters<NonNullable<AgentMiddleware['wrapModelCall']>>[0];
type Tool = Request['tools'][number];

/**
 * Returns a middleware that sends an agent's tools in a dialect and restores their calls. With `repair`, a call that
 * could not be repaired does not run: its result is the `retryMessage`, which tells the model what was expected.
 *
 * @example
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [toolwireMiddleware({ dialect: 'moonshot', repair: true })] });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`.
 */
export function toolwireMiddleware(options: FrameworkOptions): AgentMiddleware {
  const adapter = new Adapter(options);
  const middleware: Omit<AgentMiddleware, '~middlewareTypes'> = {
    name: 'Toolwire',
    async wrapModelCall(request, handler) {
      const core = await importCore();
      const [turn, sent] = adaptRequest(request, adapter, core);
      const response = await handler(sent);
      const restore = <M>(message: M) => (core.isAIMessage(message) ? restoreMessage(turn, message, adapter) : message);
      // If the answer is structured, the message is an element of a list.
      const { messages } = response as { messages?: unknown };
      if (!Array.isArray(messages)) return restore(response);
      return { ...response, messages: messages.map(restore) } as unknown as typeof response;
    },
    async wrapToolCall(request, handler) {
      const { id, name, args } = request.toolCall;
      const content = adapter.refusals.get(id, name, args);
      if (content === undefined) return handler(request);
      const { ToolMessage } = await importCore();
      return new ToolMessage({ content, tool_call_id: id ?? '', name, status: 'error' }) as ToolMessage;
    },
  };
  return middleware as AgentMiddleware;
}

type Core = Awaited<ReturnType<typeof importCore>>;
type Call = NonNullable<AIMessage['tool_calls']>[number];
type UnparsedCall = NonNullable<AIMessage['invalid_tool_calls']>[number];

/** Imports LangChain's classes. */
async function importCore() {
  try {
    const messages = await import('@langchain/core/messages');
    const { convertToOpenAITool } = await import('@langchain/core/utils/function_calling');
    const isAIMessage = (value: unknown): value is AIMessage => messages.AIMessage.isInstance(value);
    const isToolMessage = (value: unknown): value is ToolMessage => messages.ToolMessage.isInstance(value);
    return { ...messages, isAIMessage, isToolMessage, convertToOpenAITool };
  } catch (cause) {
    throw new Error('toolwire: expected LangChain 1: run `npm install langchain @langchain/core`', { cause });
  }
}

/** The members that this module reads of a tool, which is either LangChain's own or in the format of a request. */
interface AnyTool {
  name?: string;
  description?: string;
  strict?: unknown;
  type?: unknown;
  schema?: unknown;
  input_schema?: unknown;
  input_examples?: unknown;
  function?: { name: string };
  extras?: { providerToolDefinition?: unknown; input_examples?: unknown };
  metadata?: { customTool?: unknown };
}

function isClient({ schema, name }: AnyTool): boolean {
  return schema !== undefined && typeof name === 'string';
}

/** Returns a tool in a form that toolwire accepts, or `undefined` if the provider runs it or it is not a function. */
function toCoreTool(tool: Tool, { convertToOpenAITool }: Core): CoreTool | undefined {
  const anyTool = tool as AnyTool;
  if (isClient(anyTool)) {
    const isNotFunction = anyTool.extras?.providerToolDefinition ?? anyTool.metadata?.customTool;
    return isNotFunction ? undefined : convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
  }
  return anyTool.type === 'function' || anyTool.input_schema !== undefined ? (tool as CoreTool) : undefined;
}

/** Returns a tool as it is sent, in the same form as the given tool. */
function toSentTool(tool: Tool, sent: SentTool): Tool {
  const anyTool = tool as AnyTool;
  const { parameters, ...own } = sent;
  const { description: _, strict: __, ...kept } = withFittingExamples(anyTool, sent);
  if (anyTool.input_schema !== undefined) return { ...kept, ...own, input_schema: parameters } as Tool;
  if (isClient(anyTool)) {
    if (!anyTool.extras) return { type: 'function', function: sent };
    // Only this form keeps `extras`, which providers' packages read.
    const extras = withFittingExamples(anyTool.extras, sent);
    return { name: own.name, description: own.description, schema: parameters, extras } as Tool;
  }
  return (anyTool.function === undefined ? { ...kept, ...sent } : { ...anyTool, function: sent }) as Tool;
}

/** Returns the members of a tool, without the examples that do not match the schema that is sent. */
function withFittingExamples<T extends { input_examples?: unknown }>(
  { input_examples: examples, ...members }: T,
  sent: SentTool,
) {
  const fitting = Array.isArray(examples) ? examples.filter((example) => matchesSchema(example, sent.parameters)) : [];
  return fitting.length === 0 ? members : { ...members, input_examples: fitting };
}

/** Returns the request as it is sent, and the turn that restores the calls of the response. */
function adaptRequest(request: Request, adapter: Adapter, core: Core): [Turn, Request] {
  const tools = request.tools.map((tool) => toCoreTool(tool, core));
  const hosted = request.tools.map((tool, at) => (tools[at] ? undefined : (tool as AnyTool).name));
  const called = request.messages
    .flatMap((message) => (core.isAIMessage(message) ? callsOf(message) : []))
    .map(({ name = '', args }) => ({ name, arguments: args }));
  const { model, modelName } = request.model as { model?: string; modelName?: string };
  const { toolChoice: frameworkChoice, ...rest } = request;
  const turn = adapter.turn({ tools, hosted, choice: frameworkChoice, called, model: model ?? modelName ?? '' });
  const toolChoice = turn.sentToolChoice<Request['toolChoice']>(frameworkChoice, (choice) =>
    typeof choice === 'object' ? { type: 'function', function: choice } : choice,
  );
  const sent = {
    ...rest,
    tools: turn.sentList(request.tools, tools, toSentTool),
    messages: request.messages.map((message) => renameCalls(turn, message, core)),
  };
  return [turn, toolChoice === undefined ? sent : { ...sent, toolChoice }];
}

/** Returns the calls of a message, including those that LangChain could not parse. */
function callsOf({ tool_calls: calls = [], invalid_tool_calls: unparsed = [] }: AIMessage): (Call | UnparsedCall)[] {
  return [...calls, ...unparsed];
}

/** Returns the response with the tools' own names and arguments. */
function restoreMessage(turn: Turn, message: AIMessage, adapter: Adapter): AIMessage {
  const metadata = message.response_metadata as { [member: string]: unknown };
  const isTruncated = REASON_MEMBERS.some((member) => isCut(metadata[member]));
  const texts = textsOf(message);
  const last = isTruncated && texts === undefined ? message.tool_calls?.at(-1) : undefined;
  return changeCalls(message, (call) => {
    const text = texts?.get(call);
    // LangChain completes truncated JSON in a stream.
    const isClosed = text !== undefined && argumentsOf(text) === undefined && (isTruncated || text.trim() !== '');
    const restored = turn.call<unknown>(
      call.id,
      call.name ?? '',
      isClosed ? text : (call.args ?? ''),
      isClosed || isTruncated,
    );
    const args = argumentsOf(restored.arguments);
    // An invalid call would end the agent. If there is a `retryMessage`, it becomes the result of a valid call instead.
    if (args === undefined && !restored.retryMessage)
      return { ...call, type: 'invalid_tool_call', name: restored.name, args: restored.arguments } as UnparsedCall;
    if (args === undefined) adapter.refusals.record(call.id, restored.name, {}, restored.retryMessage);
    // LangChain may have completed the truncated arguments of this call.
    else if (call === last)
      adapter.refusals.record(call.id, restored.name, args, restored.retryMessage ?? unreadMessage(restored.name));
    const own = { type: 'tool_call' as const, name: restored.name, args: args ?? {} };
    return call.id === undefined ? own : { id: call.id, ...own };
  });
}

/** Members in which providers' packages report why a reply ended. */
const REASON_MEMBERS = ['finish_reason', 'finishReason', 'stop_reason', 'stopReason', 'done_reason', 'status'];

/**
 * Returns the arguments of a streamed message's calls exactly as the model wrote them, or `undefined` if the message's
 * chunks do not match its calls. Ids may repeat: calls with the same id are in the order of their chunks, except for
 * calls that LangChain could not parse.
 */
function textsOf(message: AIMessage): Map<Call | UnparsedCall, string> | undefined {
  const { tool_calls: calls = [], invalid_tool_calls: unparsed = [] } = message;
  const pieces = [...((message as { tool_call_chunks?: Piece[] }).tool_call_chunks ?? [])];
  const texts = new Map<Call | UnparsedCall, string>();
  if (pieces.length === 0) return texts;
  const takePiece = (call: Call | UnparsedCall, matches: (piece: Piece) => boolean) => {
    const at = pieces.findIndex((piece) => piece.id === call.id && matches(piece));
    const [piece] = at < 0 ? [] : pieces.splice(at, 1);
    if (piece !== undefined && !piece.isCustomTool && typeof piece.args === 'string') texts.set(call, piece.args);
    return piece !== undefined;
  };
  const takeUnparsed = (call: UnparsedCall) =>
    takePiece(call, ({ args }) => (String(args ?? '').trim() || '{}') === call.args);
  const matched = [...unparsed.map(takeUnparsed), ...calls.map((call) => takePiece(call, () => true))];
  return pieces.length === 0 && matched.every(Boolean) ? texts : undefined;
}

/** The members of a chunk of a streamed call that this module reads. */
interface Piece {
  id?: string;
  args?: unknown;
  isCustomTool?: boolean;
}

/** Returns a message of the history with the names and arguments that are sent. */
function renameCalls(turn: Turn, message: BaseMessage, core: Core): BaseMessage {
  if (core.isToolMessage(message)) {
    return message.name === undefined ? message : copyMessage(message, { name: turn.sentName(message.name) });
  }
  if (!core.isAIMessage(message) || callsOf(message).length === 0) return message;
  return changeCalls(message, (call) => {
    const sent = turn.sentArguments<unknown>(call.args ?? '');
    const args = call.type === 'invalid_tool_call' ? sent : argumentsOf(sent);
    return { ...call, name: turn.sentName(call.name ?? ''), args } as Call | UnparsedCall;
  });
}

/** Returns a copy of a message with changed calls, including those in `content` (`output_version: "v1"` repeats them there). */
function changeCalls(message: AIMessage, change: (call: Call | UnparsedCall) => Call | UnparsedCall) {
  const calls = callsOf(message);
  const changed = calls.map(change);
  const pending = calls.map((call, at) => ({ call, changed: changed[at] as Call | UnparsedCall }));
  const block = (part: { type?: unknown; id?: unknown; name?: unknown }) => {
    if (part.type !== 'tool_call' && part.type !== 'invalid_tool_call') return part;
    const at = pending.findIndex(({ call: { id, name } }) => id === part.id && name === part.name);
    return at < 0 ? part : { ...part, ...pending.splice(at, 1)[0]?.changed };
  };
  const { content } = message;
  const isUnparsed = (call: Call | UnparsedCall): call is UnparsedCall => call.type === 'invalid_tool_call';
  return copyMessage(message, {
    tool_calls: changed.filter((call): call is Call => !isUnparsed(call)),
    ...(changed.some(isUnparsed) || calls.some(isUnparsed) ? { invalid_tool_calls: changed.filter(isUnparsed) } : {}),
    ...(Array.isArray(content) ? { content: content.map(block) as typeof content } : {}),
    // Drops the chunks of a streamed message, which contain the original calls.
    ...('tool_call_chunks' in message ? { tool_call_chunks: [] } : {}),
  });
}

/** Returns a copy of a message. Does not use the constructor, which changes the content. */
function copyMessage<M extends BaseMessage>(message: M, changed: Partial<M>): M {
  const lc_kwargs = { ...message.lc_kwargs, ...changed };
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, changed, { lc_kwargs });
}
