// Codex with a backend that only supports Chat Completions: a gateway's work for one request and its reply. Codex uses Responses: its
// tools are in namespaces, some are `custom` tools without a schema, and with *Responses Lite* all of them are in an item of the
// history. (To stream the reply to the client, a gateway uses `restore.callStream`.)

import OpenAI from 'openai';
import { adaptRequest, type ClientCall } from 'toolwire';

export async function answered(baseURL: string, request: object) {
  const client = new OpenAI({ baseURL, apiKey: 'none' });
  const adapted = adaptRequest(request, { dialect: 'openai-chat', deferred: { target: 'openai-chat' } });
  const body = adapted.request as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
  const { id, created, model, choices } = await client.chat.completions.create({ ...body, stream: false });
  const output = choices.flatMap(({ message }) => [...messageOf(id, message.content), ...called(message.tool_calls)]);
  // Returns calls in the format of the client's API: a call to `exec` is a `custom_tool_call`, and
  // a call to a tool in a namespace has that namespace.
  function called(calls: OpenAI.Chat.ChatCompletionMessageToolCall[] = []): ClientCall[] {
    return calls.map((call) => adapted.restore.clientCall(call).call);
  }
  return { id, object: 'response', created_at: created, model, status: 'completed', output };
}

function messageOf(id: string, text: string | null) {
  if (text === null) return [];
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }];
}
