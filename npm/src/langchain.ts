/**
 * LangChain's agents, version 1: a middleware for `createAgent`. Tools are sent in a dialect, calls come back with the tools' own names and
 * arguments.
 *
 * @packageDocumentation
 */

import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages';
import type { AgentMiddleware } from 'langchain';
import { type Choice, type FrameworkOptions, type GivenTool, Refusals, Turn } from './framework.js';

export type { FrameworkOptions, SentTool, SentTools } from './framework.js';

type Request = Parameters<NonNullable<AgentMiddleware['wrapModelCall']>>[0];
type Tool = Request['tools'][number];

/**
 * A middleware that sends an agent's tools in a dialect and restores the calls. With `repair`, a call that could not be repaired does not run:
 * its result is the `retryMessage`, so that the model reads what was expected.
 *
 * @example
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [toolwireMiddleware({ dialect: 'moonshot', repair: true })] });
 * ```
 *
 * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `unknown-dialect`.
 */
export function toolwireMiddleware(options: FrameworkOptions): AgentMiddleware {
  // Wrong options fail here, not with the first request.
  new Turn([], { called: [], model: '' }, { ...options, onReport: undefined });
  const refusals = new Refusals();
  const middleware: Omit<AgentMiddleware, '~middlewareTypes'> = {
    name: 'Toolwire',
    async wrapModelCall(request, handler) {
      const core = await installed();
      const given = await Promise.all(request.tools.map((tool) => functionOf(tool, core)));
      const [turn, sent] = adapted(request, given, options, core);
      const response = await handler(sent);
      return core.isAIMessage(response) ? restored(turn, response, refusals, core) : response;
    },
    async wrapToolCall(request, handler) {
      const { id = '', name } = request.toolCall;
      const content = refusals.get(id);
      if (content === undefined) return handler(request);
      const { ToolMessage } = await installed();
      return new ToolMessage({ content, tool_call_id: id, name, status: 'error' }) as ToolMessage;
    },
  };
  return middleware as AgentMiddleware;
}

type Core = Awaited<ReturnType<typeof installed>>;

/** LangChain's own classes. */
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

/** A tool as toolwire takes it; `undefined` if the provider runs it. */
async function functionOf(tool: Tool, { convertToOpenAITool }: Core): Promise<GivenTool | undefined> {
  const isClient = 'schema' in tool && typeof tool.name === 'string';
  if (!isClient && (tool as { type?: unknown }).type !== 'function') return undefined;
  const written = isClient ? convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]) : tool;
  const { parameters: schema, ...own } = (written as { function: GivenTool & { parameters: unknown } }).function;
  return { ...own, schema };
}

/** The request as it is sent, and what restores the calls of the response. */
function adapted(
  request: Request,
  given: (GivenTool | undefined)[],
  options: FrameworkOptions,
  core: Core,
): [Turn, Request] {
  const functions = given.filter((tool) => tool !== undefined);
  const found = request.toolChoice;
  const choice: Choice = functions.length === 0 ? undefined : typeof found === 'object' ? found.function : found;
  const called = request.messages.flatMap((one) => (core.isAIMessage(one) ? callsOf(one) : [])).map(({ name }) => name);
  const { model, modelName } = request.model as { model?: string; modelName?: string };
  const turn = new Turn(functions, { choice, called, model: model ?? modelName ?? '' }, options);
  const tools = request.tools.flatMap((tool, at): Tool[] => {
    const own = given[at];
    if (own === undefined) return [tool];
    const sent = turn.sentTool(own.name);
    return sent === undefined ? [] : [{ type: 'function', function: sent }];
  });
  const messages = request.messages.map((one) => renamed(turn, one, core));
  const { toolChoice: _, ...rest } = request;
  const sentChoice = typeof turn.choice === 'object' ? chosen(turn.choice.name) : turn.choice;
  const toolChoice = choice === undefined ? found : sentChoice;
  return [turn, { ...rest, tools, messages, ...(toolChoice === undefined ? {} : { toolChoice }) }];
}

function chosen(name: string) {
  return { type: 'function' as const, function: { name } };
}

function callsOf({ tool_calls = [] }: AIMessage): NonNullable<AIMessage['tool_calls']> {
  return tool_calls;
}

/** The response with the tools' own names and arguments. */
function restored(turn: Turn, message: AIMessage, refusals: Refusals, core: Core): AIMessage {
  const calls: NonNullable<AIMessage['tool_calls']> = [];
  const unread: NonNullable<AIMessage['invalid_tool_calls']> = [];
  for (const call of [...callsOf(message), ...(message.invalid_tool_calls ?? [])]) {
    const found = turn.call<unknown>(call.id ?? '', call.name ?? '', call.args ?? '');
    refusals.keep(call.id ?? '', found.retryMessage);
    const args = argumentsOf(found.arguments);
    // A call that LangChain could not read would end the agent: its result says what is wrong.
    if (args === undefined && !found.retryMessage)
      unread.push({ ...call, name: found.name } as (typeof unread)[number]);
    else
      calls.push({
        ...(call.id === undefined ? {} : { id: call.id }),
        type: 'tool_call',
        name: found.name,
        args: args ?? {},
      });
  }
  return copied(message, { tool_calls: calls, invalid_tool_calls: unread }, core);
}

/** The arguments of a call as an object; `undefined` if they are none. */
function argumentsOf(found: unknown): Record<string, unknown> | undefined {
  try {
    const value = typeof found === 'string' ? JSON.parse(found) : found;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A message of the history with the names that are sent. */
function renamed(turn: Turn, message: BaseMessage, core: Core): BaseMessage {
  if (!core.isAIMessage(message)) return message;
  const calls = callsOf(message).map((call) => ({ ...call, name: turn.sentName(call.name) }));
  return calls.length === 0 ? message : copied(message, { tool_calls: calls }, core);
}

function copied(
  message: AIMessage,
  changed: Partial<Pick<AIMessage, 'tool_calls' | 'invalid_tool_calls'>>,
  core: Core,
) {
  const { content, additional_kwargs, response_metadata, id, name, usage_metadata, tool_calls, invalid_tool_calls } =
    message;
  const fields = {
    content,
    additional_kwargs,
    response_metadata,
    id,
    name,
    usage_metadata,
    tool_calls,
    invalid_tool_calls,
  };
  return new core.AIMessage({ ...fields, ...changed } as ConstructorParameters<Core['AIMessage']>[0]) as AIMessage;
}
