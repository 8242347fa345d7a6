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
  type FrameworkOptions,
  fits,
  type GivenTool,
  isCut,
  type SentTool,
  type Turn,
  unread,
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
      const core = await installed();
      const [turn, sent] = adapted(request, adapter, core);
      const response = await handler(sent);
      const restore = <M>(one: M) => (core.isAIMessage(one) ? restored(turn, one, adapter) : one);
      // If the answer is structured, the message is an element of a list.
      const { messages } = response as { messages?: unknown };
      if (!Array.isArray(messages)) return restore(response);
      return { ...response, messages: messages.map(restore) } as unknown as typeof response;
    },
    async wrapToolCall(request, handler) {
      const { id, name, args } = request.toolCall;
      const content = adapter.refusals.get(id, name, args);
      if (content === undefined) return handler(request);
      const { ToolMessage } = await installed();
      return new ToolMessage({ content, tool_call_id: id ?? '', name, status: 'error' }) as ToolMessage;
    },
  };
  return middleware as AgentMiddleware;
}

type Core = Awaited<ReturnType<typeof installed>>;
type Call = NonNullable<AIMessage['tool_calls']>[number];
type UnreadCall = NonNullable<AIMessage['invalid_tool_calls']>[number];

/** Imports LangChain's classes. */
async function installed() {
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
function given(tool: Tool, { convertToOpenAITool }: Core): GivenTool | undefined {
  const found = tool as AnyTool;
  if (isClient(found)) {
    const isOther = found.extras?.providerToolDefinition ?? found.metadata?.customTool;
    return isOther ? undefined : convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
  }
  return found.type === 'function' || found.input_schema !== undefined ? (tool as GivenTool) : undefined;
}

/** Returns a tool as it is sent, in the same form as the given tool. */
function written(tool: Tool, sent: SentTool): Tool {
  const found = tool as AnyTool;
  const { parameters, ...own } = sent;
  const { description: _, strict: __, ...kept } = exampled(found, sent);
  if (found.input_schema !== undefined) return { ...kept, ...own, input_schema: parameters } as Tool;
  if (isClient(found)) {
    if (!found.extras) return { type: 'function', function: sent };
    // Only this form keeps `extras`, which providers' packages read.
    const extras = exampled(found.extras, sent);
    return { name: own.name, description: own.description, schema: parameters, extras } as Tool;
  }
  return (found.function === undefined ? { ...kept, ...sent } : { ...found, function: sent }) as Tool;
}

/** Returns the members of a tool, without the examples that do not match the schema as sent. */
function exampled<T extends { input_examples?: unknown }>({ input_examples: found, ...kept }: T, sent: SentTool) {
  const fitting = Array.isArray(found) ? found.filter((one) => fits(one, sent.parameters)) : [];
  return fitting.length === 0 ? kept : { ...kept, input_examples: fitting };
}

/** Returns the request as it is sent, and the turn that restores the calls of the response. */
function adapted(request: Request, adapter: Adapter, core: Core): [Turn, Request] {
  const tools = request.tools.map((tool) => given(tool, core));
  const hosted = request.tools.map((tool, at) => (tools[at] ? undefined : (tool as AnyTool).name));
  const called = request.messages
    .flatMap((one) => (core.isAIMessage(one) ? callsOf(one) : []))
    .map(({ name = '', args }) => ({ name, arguments: args }));
  const { model, modelName } = request.model as { model?: string; modelName?: string };
  const { toolChoice: found, ...rest } = request;
  const turn = adapter.turn({ tools, hosted, choice: found, called, model: model ?? modelName ?? '' });
  const toolChoice = turn.chosen<Request['toolChoice']>(found, (choice) =>
    typeof choice === 'object' ? { type: 'function', function: choice } : choice,
  );
  const sent = {
    ...rest,
    tools: turn.listed(request.tools, tools, written),
    messages: request.messages.map((one) => renamed(turn, one, core)),
  };
  return [turn, toolChoice === undefined ? sent : { ...sent, toolChoice }];
}

/** Returns the calls of a message, including those that LangChain could not parse. */
function callsOf({ tool_calls: calls = [], invalid_tool_calls: unread = [] }: AIMessage): (Call | UnreadCall)[] {
  return [...calls, ...unread];
}

/** Returns the response with the tools' own names and arguments. */
function restored(turn: Turn, message: AIMessage, adapter: Adapter): AIMessage {
  const ends = message.response_metadata as { [member: string]: unknown };
  const cut = ENDS.some((member) => isCut(ends[member]));
  const texts = textsOf(message);
  const last = cut && texts === undefined ? message.tool_calls?.at(-1) : undefined;
  return recalled(message, (call) => {
    const text = texts?.get(call);
    // LangChain completes truncated JSON in a stream.
    const isClosed = text !== undefined && argumentsOf(text) === undefined && (cut || text.trim() !== '');
    const found = turn.call<unknown>(call.id, call.name ?? '', isClosed ? text : (call.args ?? ''), isClosed || cut);
    const args = argumentsOf(found.arguments);
    // An invalid call would end the agent. If there is a `retryMessage`, it becomes the result of a valid call instead.
    if (args === undefined && !found.retryMessage)
      return { ...call, type: 'invalid_tool_call', name: found.name, args: found.arguments } as UnreadCall;
    if (args === undefined) adapter.refusals.keep(call.id, found.name, {}, found.retryMessage);
    // LangChain may have completed the truncated arguments of this call.
    else if (call === last) adapter.refusals.keep(call.id, found.name, args, found.retryMessage ?? unread(found.name));
    const own = { type: 'tool_call' as const, name: found.name, args: args ?? {} };
    return call.id === undefined ? own : { id: call.id, ...own };
  });
}

/** Members in which providers' packages report why a reply ended. */
const ENDS = ['finish_reason', 'finishReason', 'stop_reason', 'stopReason', 'done_reason', 'status'];

/**
 * Returns the arguments of a streamed message's calls exactly as the model wrote them, or `undefined` if the message's
 * chunks do not match its calls. Ids may repeat: calls with the same id are in the order of their chunks, except for
 * calls that LangChain could not parse.
 */
function textsOf(message: AIMessage): Map<Call | UnreadCall, string> | undefined {
  const { tool_calls: calls = [], invalid_tool_calls: unread = [] } = message;
  const pieces = [...((message as { tool_call_chunks?: Piece[] }).tool_call_chunks ?? [])];
  const texts = new Map<Call | UnreadCall, string>();
  if (pieces.length === 0) return texts;
  const take = (call: Call | UnreadCall, isOwn: (piece: Piece) => boolean) => {
    const at = pieces.findIndex((piece) => piece.id === call.id && isOwn(piece));
    const [piece] = at < 0 ? [] : pieces.splice(at, 1);
    if (piece !== undefined && !piece.isCustomTool && typeof piece.args === 'string') texts.set(call, piece.args);
    return piece !== undefined;
  };
  const isRead = (call: UnreadCall) => take(call, ({ args }) => (String(args ?? '').trim() || '{}') === call.args);
  const areOwn = [...unread.map(isRead), ...calls.map((call) => take(call, () => true))];
  return pieces.length === 0 && areOwn.every(Boolean) ? texts : undefined;
}

/** The members of a chunk of a streamed call that this module reads. */
interface Piece {
  id?: string;
  args?: unknown;
  isCustomTool?: boolean;
}

/** Returns a message of the history with the names and arguments that are sent. */
function renamed(turn: Turn, message: BaseMessage, core: Core): BaseMessage {
  if (core.isToolMessage(message)) {
    return message.name === undefined ? message : copied(message, { name: turn.sentName(message.name) });
  }
  if (!core.isAIMessage(message) || callsOf(message).length === 0) return message;
  return recalled(message, (call) => {
    const sent = turn.sentArguments<unknown>(call.args ?? '');
    const args = call.type === 'invalid_tool_call' ? sent : argumentsOf(sent);
    return { ...call, name: turn.sentName(call.name ?? ''), args } as Call | UnreadCall;
  });
}

/** Returns a copy of a message with changed calls, including those in `content` (`output_version: "v1"` repeats them there). */
function recalled(message: AIMessage, change: (call: Call | UnreadCall) => Call | UnreadCall) {
  const calls = callsOf(message);
  const changed = calls.map(change);
  const rest = calls.map((call, at) => ({ call, now: changed[at] as Call | UnreadCall }));
  const block = (found: { type?: unknown; id?: unknown; name?: unknown }) => {
    if (found.type !== 'tool_call' && found.type !== 'invalid_tool_call') return found;
    const at = rest.findIndex(({ call: { id, name } }) => id === found.id && name === found.name);
    return at < 0 ? found : { ...found, ...rest.splice(at, 1)[0]?.now };
  };
  const { content } = message;
  const isUnread = (call: Call | UnreadCall): call is UnreadCall => call.type === 'invalid_tool_call';
  return copied(message, {
    tool_calls: changed.filter((call): call is Call => !isUnread(call)),
    ...(changed.some(isUnread) || calls.some(isUnread) ? { invalid_tool_calls: changed.filter(isUnread) } : {}),
    ...(Array.isArray(content) ? { content: content.map(block) as typeof content } : {}),
    // Drops the chunks of a streamed message, which contain the original calls.
    ...('tool_call_chunks' in message ? { tool_call_chunks: [] } : {}),
  });
}

/** Returns a copy of a message. Does not use the constructor, which changes the content that it is given. */
function copied<M extends BaseMessage>(message: M, changed: Partial<M>): M {
  const lc_kwargs = { ...message.lc_kwargs, ...changed };
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, changed, { lc_kwargs });
}
