/** The tools of MCP servers, asked for through the official SDK, which is only needed here. */

import { stamp } from 'wasm:stamp';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { limited } from './limited.js';
import { endWithoutSecrets, longestSecret, withoutSecrets } from './secrets.js';

const SDK = '@modelcontextprotocol/sdk';
/** The SDK's code for an answer that did not come in time. */
const TIMED_OUT = -32001;
/** More pages than any server has: a cursor that goes round must not go round for ever. */
const PAGES = 10_000;
/** Maximum number of tools: each of them takes kilobytes of findings. */
const TOOLS = 10_000;
/** How many times its limit for one answer a server may take for all pages: those that it makes up must not take days. */
const PATIENCE = 10;
/** Maximum size of all answers of a server at an address, unpacked: objects take a hundred times the memory of their text. */
const MOST = 16 << 20;
/** How much of what a server said is shown if it fails, in bytes. */
const LOG = 16_384;
const NO_ADDRESS = 'expected an address, found something else';
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

/** A server as the core describes it: a program, or an address. Seconds. */
export type Server = (Program | Address) & { secrets?: string[] };

export interface Program {
  timeout: number;
  /** What an error must not repeat. */
  secrets: string[];
  command: string[];
  folder: string | null;
  inherited: string[];
  environment: Record<string, string>;
}

export interface Address {
  timeout: number;
  /** What an error must not repeat. */
  secrets: string[];
  url: string;
  headers: Record<string, string>;
  sse: boolean;
}

/** The tools of all pages of a server's `tools/list`, as it sent them. */
export async function toolsOf(server: Server): Promise<unknown[]> {
  const sdk = await loaded('command' in server ? '-- SERVER' : '--url URL');
  const heard = new Heard(server);
  const failed = (why: string) =>
    new ServerFailure(`the server did not list its tools: ${withoutSecrets(why, server)}`, heard.shown());
  if ('url' in server && !isAddress(server.url)) throw failed(NO_ADDRESS);
  let failure: unknown;
  let exceeded: (error: Error) => void = () => {};
  const tooMuch = new Promise<never>((_, reject) => {
    exceeded = reject;
  });
  tooMuch.catch((error) => {
    failure = error;
  });
  const ask = limited(fetch, MOST, 'answers', exceeded);
  for (const transport of transports(sdk, server, heard, ask)) {
    try {
      return await asked(sdk, transport, server.timeout, tooMuch);
    } catch (error) {
      // Of two ways to reach an address the first one's reason is the better one.
      failure ??= error;
      if (isLate(error)) break;
    }
  }
  const { code, message, cause } = failure as NodeJS.ErrnoException;
  // The SDK's own words around the server's are the same each time.
  const said = message.replace(/^MCP error -?\d+: /, '');
  let why = said;
  if (code === 'ENOENT') why = 'expected a command, found none of that name';
  if (isLate(failure)) why = `expected an answer in ${server.timeout} s, found none`;
  if (message === 'fetch failed') {
    why = `expected a server at that address, found none (${(cause as NodeJS.ErrnoException)?.code ?? said})`;
  }
  throw failed(why);
}

function isAddress(url: string): boolean {
  try {
    return new URL(url).hostname !== '';
  } catch {
    return false;
  }
}

const isLate = (error: unknown) => Number((error as { code?: unknown }).code) === TIMED_OUT;

/** The ways to reach a server, one after the other. */
export function* transports(sdk: Sdk, server: Server, heard: Heard, ask: typeof fetch): Generator<Transport> {
  if ('command' in server) {
    yield program(sdk, server, heard);
    return;
  }
  const url = new URL(server.url);
  const options = { requestInit: { headers: server.headers }, fetch: ask };
  // Types that differ only in whether a missing member may be written as undefined.
  if (!server.sse) yield new sdk.StreamableHTTPClientTransport(url, options) as Transport;
  yield new sdk.SSEClientTransport(url, options) as Transport;
}

/**
 * A server that is started. It is somebody else's program: it gets the variables of the environment that the SDK thinks safe, those of the
 * names that the caller gave, and those that its own declaration has.
 */
function program(sdk: Sdk, server: Program, heard: Heard): Transport {
  const [command = '', ...args] = server.command;
  const env = sdk.getDefaultEnvironment();
  for (const name of server.inherited) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  Object.assign(env, server.environment);
  const folder = server.folder === null ? {} : { cwd: server.folder };
  const transport = new sdk.StdioClientTransport({ command, args, env, stderr: 'pipe', ...folder });
  running = transport;
  transport.stderr?.on('data', (piece: Buffer) => heard.take(piece));
  return transport;
}

/** The end of what a server says on its standard error. */
export class Heard {
  #log: Buffer = Buffer.alloc(0);
  #isCut = false;
  readonly #most: number;

  constructor(readonly server: Server) {
    this.#most = LOG + longestSecret(server);
  }

  take(piece: Buffer): void {
    const log = Buffer.concat([this.#log, piece]);
    this.#isCut ||= log.length > this.#most;
    this.#log = log.subarray(-this.#most);
  }

  /** The end, without secrets. */
  shown(): string {
    const text = this.#log.toString();
    const safe = this.#isCut ? endWithoutSecrets(text, this.server) : withoutSecrets(text, this.server);
    return safe.slice(-LOG);
  }
}

/** @param tooMuch - Fails if the server answers more than may be kept. */
async function asked(sdk: Sdk, transport: Transport, seconds: number, tooMuch: Promise<never>): Promise<unknown[]> {
  const timeout = seconds * 1000;
  const client = new sdk.Client({ name: 'toolwire', version: stamp.split(' ')[1] ?? '' });
  let timer: NodeJS.Timeout | undefined;
  // What opens a stream has no limit of its own.
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('late'), { code: TIMED_OUT })), timeout);
  });
  try {
    await Promise.race([client.connect(transport, { timeout }), late, tooMuch]);
    clearTimeout(timer);
    return await Promise.race([listed(client, sdk.ResultSchema, timeout), tooMuch]);
  } finally {
    clearTimeout(timer);
    // Until it has ended, a signal has to end it.
    try {
      await transport.close();
    } finally {
      running = undefined;
    }
  }
}

async function listed(client: Client, any: Sdk['ResultSchema'], timeout: number): Promise<unknown[]> {
  const tools: unknown[] = [];
  let cursor: unknown;
  const end = performance.now() + PATIENCE * timeout;
  for (let page = 0; page < PAGES; page++) {
    const params = page === 0 ? {} : { cursor };
    // Not `client.listTools`: its result type puts the keys of schemas into another order.
    const result = await client.request({ method: 'tools/list', params }, any, { timeout });
    if (!Array.isArray(result.tools)) throw new Error(NO_LIST);
    if (tools.length + result.tools.length > TOOLS) throw new Error(`expected at most ${TOOLS} tools, found more`);
    for (const tool of result.tools) tools.push(tool);
    cursor = result.nextCursor;
    // At the end it should not be there; some servers write `null` or an empty string.
    if (cursor === undefined || cursor === null || cursor === '') return tools;
    if (performance.now() > end) throw new Error(`expected all pages in ${(PATIENCE * timeout) / 1000} s, found more`);
  }
  throw new Error(`expected at most ${PAGES} pages, found more`);
}

type Sdk = typeof import('@modelcontextprotocol/sdk/client/index.js') &
  typeof import('@modelcontextprotocol/sdk/client/stdio.js') &
  typeof import('@modelcontextprotocol/sdk/client/sse.js') &
  typeof import('@modelcontextprotocol/sdk/client/streamableHttp.js') &
  typeof import('@modelcontextprotocol/sdk/types.js');

/** The SDK beside this package. Never one of the folder that the command is run in, which may be somebody else's repository. */
export async function loaded(server: string): Promise<Sdk> {
  const files = ['client/index.js', 'client/stdio.js', 'client/sse.js', 'client/streamableHttp.js', 'types.js'];
  const modules = files.map((name) => `${SDK}/${name}`);
  try {
    return Object.assign({}, ...(await Promise.all(modules.map((name) => import(name)))));
  } catch {
    const line = `npx -y -p toolwire -p ${SDK} toolwire … ${server}`;
    throw new Error(
      `expected the package ${SDK}, which speaks with servers, found none: run \`${line}\`, or install it`,
    );
  }
}
