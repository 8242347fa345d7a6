// Passes every request on to a port, and the reply back, unchanged: the baseline of a relay that does nothing.

import { Agent, createServer, request } from 'node:http';
import { pipeline } from 'node:stream';

const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, response) => {
  const { method, url: path, rawHeaders: headers } = incoming;
  const onward = request({ host: '127.0.0.1', port: process.argv[2], method, path, headers, agent }, (reply) => {
    response.writeHead(reply.statusCode, reply.rawHeaders);
    response.flushHeaders();
    pipeline(reply, response, () => {});
  });
  pipeline(incoming, onward, () => {});
});
server.listen(0, '127.0.0.1', () => console.error(`127.0.0.1:${server.address().port}`));
