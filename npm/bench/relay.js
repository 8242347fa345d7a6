// Measures the latency that `toolwire relay` adds, compared with a bare pass-through in Node in the same run. There are two
// measurements: the time for a request with a history of 200 KB and 60 tools, which are new to the relay or known to it, and the delay of
// events in 500 concurrent streams.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { RELEASE } from '../../tests/program.js';

const ROUNDS = 200;
const STREAMS = 500;
const EVENTS = 20;
const EVENT_INTERVAL_MS = 100;
const root = fileURLToPath(new URL('../..', import.meta.url));
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

const event = (delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
const upstream = createServer(async (incoming, response) => {
  let isStream = false;
  for await (const piece of incoming) isStream ||= piece.includes('"stream":true');
  if (!isStream) {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify({
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              tool_calls: [{ id: 'c', type: 'function', function: { name: 'tool_7', arguments: '{"count":"1"}' } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
      }),
    );
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let number = 0; number < EVENTS; number++) {
    response.write(event({ content: `at ${performance.now()}` }));
    await new Promise((resolve) => setTimeout(resolve, EVENT_INTERVAL_MS));
  }
  response.end('data: [DONE]\n\n');
});
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');
const { port } = upstream.address();

/** Starts a program that prints the port on which it listens. */
async function started(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of createInterface({ input: child.stderr })) {
    const found = /127\.0\.0\.1:(\d+)/.exec(line);
    if (found === null) continue;
    child.stderr.resume();
    return { child, port: Number(found[1]) };
  }
  throw new Error(`${command} ${args.join(' ')} does not listen`);
}

const listen = [
  'relay',
  '--listen',
  '127.0.0.1:0',
  '--dialect',
  'openai-chat',
  '--upstream',
  `http://127.0.0.1:${port}`,
];
const places = {
  bare: await started(process.execPath, [`${root}npm/bench/passthrough.js`, String(port)]),
  relay: await started(RELEASE, listen),
};

const schema = {
  type: 'object',
  properties: { path: { type: 'string', description: 'A path.' }, mode: { const: 'x' }, count: { type: 'integer' } },
  required: ['path'],
};
const tools = (start) =>
  Array.from({ length: 60 }, (_, at) => ({
    type: 'function',
    function: { name: `tool.${start + at}`, description: `Tool ${start + at} does something.`, parameters: schema },
  }));
const messages = Array.from({ length: 400 }, (_, at) => ({
  role: at % 2 === 0 ? 'user' : 'assistant',
  content: `${at} ${'words and more words '.repeat(24)}`,
}));
const body = (start, more = {}) => JSON.stringify({ model: 'm', messages, tools: tools(start), ...more });

function post(port, text) {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  const one = request({ port, host: '127.0.0.1', method: 'POST', path: '/v1/chat/completions', headers, agent });
  one.end(text);
  return once(one, 'response').then(([reply]) => reply);
}

async function whole(port, text) {
  const begin = performance.now();
  for await (const _ of await post(port, text));
  return performance.now() - begin;
}

const median = (times) => times.sort((one, other) => one - other)[times.length >> 1];
const shown = (number) => number.toFixed(2);

for (const [what, start] of [
  ['60 known tools, 200 KB', () => 0],
  ['60 new tools, 200 KB', (round) => round + 1],
]) {
  const times = { bare: [], relay: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const text = body(start(round));
    // Both take turns, so that the machine's load affects them equally.
    for (const [name, { port }] of Object.entries(places)) times[name].push(await whole(port, text));
  }
  const [bare, relay] = [median(times.bare), median(times.relay)];
  console.log(`${what}: ${shown(bare)} ms bare, ${shown(relay)} ms with the relay, ${shown(relay - bare)} ms added`);
}

/** Returns the delay of each event of a stream, in milliseconds. */
async function late(port, number) {
  // Staggered, because real agents do not start in the same millisecond.
  await new Promise((resolve) => setTimeout(resolve, (number * 2_000) / STREAMS));
  const text = JSON.stringify({ model: 'm', messages: messages.slice(0, 4), tools: tools(0), stream: true });
  const times = [];
  for await (const piece of await post(port, text)) {
    for (const [, at] of piece.toString().matchAll(/"at ([\d.]+)"/g)) times.push(performance.now() - Number(at));
  }
  return times;
}

for (const [name, { port }] of Object.entries(places)) {
  const times = (await Promise.all(Array.from({ length: STREAMS }, (_, number) => late(port, number)))).flat();
  times.sort((one, other) => one - other);
  const at = (part) => shown(times[Math.min(times.length - 1, Math.floor(times.length * part))]);
  console.log(
    `${STREAMS} streams, ${times.length} events, ${name}: late by ${at(0.5)} ms (median), ${at(0.99)} ms (99 %), ${at(1)} ms at most`,
  );
}
for (const { child } of Object.values(places)) child.kill();
upstream.closeAllConnections();
upstream.close();
agent.destroy();
