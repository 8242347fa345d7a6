// Codex in front of a backend that knows Chat Completions only: what a gateway does with one request and its reply. Codex speaks
// Responses: its tools stand in namespaces, some are `custom` tools without a schema, and with *Responses Lite* all of them come in an
// item of the history. (How the reply is streamed to the client is the gateway's own business: `restore.callStream`.)

import OpenAI from 'openai';
import { adaptRequest, type ClientCall } from 'toolwire';

export async function answered(baseURL: string, request: object) {
  const client = new OpenAI({ baseURL, apiKey: 'none' });
  const adapted = adaptRequest(request, { dialect: 'openai-chat', deferred: { target: 'openai-chat' } });
  const body = adapted.request as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
  const { id, created, model, choices } = await client.chat.completions.create({ ...body, stream: false });
  const output = choices.flatMap(({ message }) => [...said(id, message.content), ...called(message.tool_calls)]);
  // In the form of the client's own API: a call of `exec` is a `custom_tool_call`, one of a namespace's tool names it.
  function called(calls: OpenAI.Chat.ChatCompletionMessageToolCall[] = []): ClientCall[] {
    return calls.map((call) => adapted.restore.clientCall(call).call);
  }
  return { id, object: 'response', created_at: created, model, status: 'completed', output };
}

function said(id: string, text: string | null) {
  if (text === null) return [];
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }];
}
