/** An MCP server's tools, asked for over stdio through the official SDK, which is only needed here. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stamp } from 'wasm:stamp';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const SDK = '@modelcontextprotocol/sdk';
/** `npx` may have to download the server first. */
const PATIENCE_MS = 120_000;
/** More pages than any server has: a cursor that goes round must not go round for ever. */
const PAGES = 10_000;
/** How much of what a server said is kept, in case it fails. */
const LOG = 16_384;
const NO_LIST = 'expected an answer with a list in `tools`, found none';

/** The server did not list its tools. */
export class ServerFailure extends Error {
  /** @param log - What the server said on its standard error, last. */
  constructor(
    message: string,
    readonly log: string,
  ) {
    super(message);
  }
}

let running: StdioClientTransport | undefined;

/** Ends the server at once, if one runs. */
export function stopServer(): void {
  const pid = running?.pid;
  if (pid == null) return;
  try {
    process.kill(pid);
  } catch {
    // It has ended by itself.
  }
}

/**
 * Starts a server, and gives the tools of all pages of its `tools/list` as it sent them. A server is somebody else's program: it gets the
 * variables of the environment that the SDK thinks safe, and those of these names.
 */
export async function toolsOf([command = '', ...args]: string[], names: string[]): Promise<unknown[]> {
  const sdk = await loaded([command, ...args]);
  const env = sdk.getDefaultEnvironment();
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const transport = new sdk.StdioClientTransport({ command, args, env, stderr: 'pipe' });
  running = transport;
  let log = '';
  transport.stderr?.on('data', (piece: Buffer) => {
    log = (log + piece.toString()).slice(-LOG);
  });
  const client = new sdk.Client({ name: 'toolwire', version: stamp.split(' ')[1] ?? '' });
  try {
    await client.connect(transport, { timeout: PATIENCE_MS });
    return await listed(client, sdk.ResultSchema);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The SDK's own words around the server's are the same each time.
    const said = message.replace(/^MCP error -?\d+: /, '');
    const why = code === 'ENOENT' ? 'expected a command, found none of that name' : said;
    throw new ServerFailure(`the server did not list its tools: ${why}`, log);
  } finally {
    running = undefined;
    await transport.close();
  }
}

async function listed(client: Client, any: Sdk['ResultSchema']): Promise<unknown[]> {
  const tools: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < PAGES; page++) {
    const params = page === 0 ? {} : { cursor };
    // Not `client.listTools`: its result type puts the keys of schemas into another order.
    const result = await client.request({ method: 'tools/list', params }, any, { timeout: PATIENCE_MS });
    if (!Array.isArray(result.tools)) throw new Error(NO_LIST);
    for (const tool of result.tools) tools.push(tool);
    cursor = result.nextCursor;
    // At the end it should not be there; some servers write `null` or an empty string.
    if (cursor === undefined || cursor === null || cursor === '') return tools;
  }
  throw new Error(`expected at most ${PAGES} pages, found more`);
}

type Sdk = typeof import('@modelcontextprotocol/sdk/client/index.js') &
  typeof import('@modelcontextprotocol/sdk/client/stdio.js') &
  typeof import('@modelcontextprotocol/sdk/types.js');

/** The SDK: the one beside this package, or else the one of the project that the command is run in. */
async function loaded(server: string[]): Promise<Sdk> {
  const modules = ['client/index.js', 'client/stdio.js', 'types.js'].map((name) => `${SDK}/${name}`);
  const project = createRequire(join(process.cwd(), 'package.json'));
  const load = async (name: string) => {
    try {
      return await import(name);
    } catch {
      return import(pathToFileURL(project.resolve(name)).href);
    }
  };
  try {
    return Object.assign({}, ...(await Promise.all(modules.map(load))));
  } catch {
    const line = `npx -y -p toolwire -p ${SDK} toolwire … -- ${server.join(' ')}`;
    throw new Error(
      `expected the package ${SDK}, which speaks with servers, found none: run \`${line}\`, or install it`,
    );
  }
}
