// A local fake backend: an API that refuses the requests that the real API would refuse, and a model with scripted replies.

import { createServer } from 'node:http';

import { Refusal, validate } from './refuse.js';

const REPLIES = {
  'openai-responses': ({ text, id, name, arguments: given }) => ({
    object: 'response',
    output: [
      text === undefined
        ? {
            type: 'function_call',
            id: `fc_${id}`,
            call_id: id,
            name,
            arguments: JSON.stringify(given),
            status: 'completed',
          }
        : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
    ],
  }),
  'openai-chat': ({ text, id, name, arguments: given }) => {
    const calls = [{ id, type: 'function', function: { name, arguments: JSON.stringify(given) } }];
    const message = text === undefined ? { content: null, tool_calls: calls } : { content: text };
    return { object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', ...message } }] };
  },
};

/** Starts the backend. `answers` are the model's turns, one for each request; `requests` collects the bodies. */
export async function start(api, answers) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const [status, answer] = answerTo(Buffer.concat(chunks).toString(), request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, requests, stop: () => new Promise((resolve) => server.close(resolve)) };

  function answerTo(text, { headers }) {
    const body = JSON.parse(text);
    try {
      // Refuses betas, as a gateway that does not know them.
      if (headers['anthropic-beta']?.includes('tool')) throw new Refusal(`unknown beta ${headers['anthropic-beta']}`);
      validate(api, body);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      return [400, { error: { type: 'invalid_request_error', message: refusal.message } }];
    }
    requests.push(body);
    const next = answers[requests.length - 1];
    return next === undefined ? [500, { error: { message: 'nothing more to say' } }] : [200, REPLIES[api](next)];
  }
}
