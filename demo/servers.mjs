// Starts real MCP servers over stdio, records their tool lists exactly as they sent them, and ends the servers.
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';

const require = createRequire(import.meta.url);
const PATIENCE_MS = 30_000;
const LOGS = fileURLToPath(new URL('../target/logs/', import.meta.url));

/** They list their tools without network or credentials; the Notion server only requires that a token is set. */
export const SERVERS = [
  { name: 'everything', npm: '@modelcontextprotocol/server-everything', args: ['stdio'] },
  { name: 'playwright', npm: '@playwright/mcp', args: ['--headless'] },
  { name: 'notion', npm: '@notionhq/notion-mcp-server', args: [], env: { NOTION_TOKEN: 'not-a-real-token' } },
];

/** The package's version and the program it installs. */
function installed(npm) {
  const manifest = require.resolve(`${npm}/package.json`);
  const { version, bin } = require(manifest);
  return { version, program: join(dirname(manifest), typeof bin === 'string' ? bin : Object.values(bin)[0]) };
}

/** The command line of a server, relative to this folder, and the environment that it needs. */
export function commandOf(wanted) {
  const { npm, args, env } = SERVERS.find(({ name }) => name === wanted);
  const program = relative(fileURLToPath(new URL('.', import.meta.url)), installed(npm).program);
  return { line: ['node', program, ...args], env };
}

/**
 * Lists the tools of all servers: `[{ name, npm, version, tools }]`. The standard error of each server is written to a separate log. No
 * server outlives the call or this process.
 */
export async function listTools() {
  mkdirSync(LOGS, { recursive: true });
  const transports = new Set();
  // Last resort if the process exits early: the SDK ends its child processes only on request.
  const kill = () => {
    for (const { pid } of transports) if (pid) process.kill(pid, 'SIGKILL');
  };
  process.on('exit', kill);
  try {
    return await Promise.all(SERVERS.map((server) => listOne(server, transports)));
  } finally {
    await Promise.all([...transports].map((transport) => transport.close()));
    process.off('exit', kill);
  }
}

async function listOne(server, transports) {
  const { version, program } = installed(server.npm);
  const logPath = join(LOGS, `demo-${server.name}.log`);
  const log = openSync(logPath, 'w');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, ...server.args],
    env: { ...getDefaultEnvironment(), ...server.env },
    stderr: log,
  });
  transports.add(transport);
  const client = new Client({ name: 'toolwire-demo', version: '0.1.0' });
  const options = { timeout: PATIENCE_MS };
  try {
    await client.connect(transport, options);
    const tools = [];
    let cursor;
    do {
      // Not `client.listTools`: its result type puts the keys of schemas into a different order.
      const page = await client.request(
        { method: 'tools/list', params: cursor ? { cursor } : {} },
        ResultSchema,
        options,
      );
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor);
    return { ...server, version, tools };
  } catch (error) {
    const problem = `${server.npm} ${version} did not list its tools: ${error.message}`;
    throw new Error(`${problem}\n  its standard error is in ${logPath}`, { cause: error });
  } finally {
    closeSync(log);
  }
}
