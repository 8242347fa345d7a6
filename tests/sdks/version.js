// Limits a peer to one version of MCP: `version.js client VERSION COMMAND…` runs between a client and its server, `version.js server VERSION
// COMMAND…` starts a server. SDKs offer and accept every version that they know.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export const MODERN = '2026-07-28';

/** Returns the message to pass on to the server, or `{ reply }` for the client. */
export function limited(role, version, message) {
  const isModern = version === MODERN;
  if (message.method === 'initialize') {
    if (!isModern) return { ...message, params: { ...message.params, protocolVersion: version } };
    if (role === 'server') {
      const data = { supported: [version], requested: message.params?.protocolVersion };
      return { reply: { jsonrpc: '2.0', id: message.id, error: { code: -32022, message: 'Unsupported', data } } };
    }
  }
  if (role === 'server' && !isModern && message.method === 'server/discover')
    return { reply: { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } } };
  return message;
}

if (process.argv[1]?.endsWith('version.js')) {
  const [role, version, command, ...line] = process.argv.slice(2);
  const child = spawn(command, line, { stdio: ['pipe', 'inherit', 'inherit'] });
  createInterface({ input: process.stdin })
    .on('line', (text) => {
      const found = limited(role, version, JSON.parse(text));
      if (found.reply) process.stdout.write(`${JSON.stringify(found.reply)}\n`);
      else child.stdin.write(`${/"(?:initialize|server\/discover)"/.test(text) ? JSON.stringify(found) : text}\n`);
    })
    .on('close', () => child.stdin.end());
  child.stdin.on('error', () => {});
  child.on('exit', (code) => process.exit(code ?? 1));
  process.on('SIGTERM', () => child.kill());
}
