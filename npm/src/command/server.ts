/** Lists the tools of MCP servers through the official SDK, which is loaded only if a command needs it. */

import { stamp } from 'wasm:stamp';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { limited } from './limited.js';
import { endWithoutSecrets, longestSecret, withoutSecrets } from './secrets.js';

const SDK = '@modelcontextprotocol/sdk';
/** The SDK's error code for an answer that did not arrive in time. */
const TIMED_OUT = -32001;
/** Maximum number of pages, more than any server has. It bounds cyclic cursors. */
const PAGES = 10_000;
/** Maximum number of tools. It bounds memory: the findings about each tool take kilobytes. */
const TOOLS = 10_000;
/**
 * Time limit for all pages, as a multiple of the limit for one answer, because endless pages must
 * not take days.
 */
const PATIENCE = 10;
/**
 * Maximum total size of a remote server's answers in bytes, after decompression: objects take a hundred times the
 * memory of their text.
 */
const MAX_ANSWERS = 16 << 20;
/** Maximum size of the part of a server's standard error that is shown if the server fails, in bytes. */
const LOG = 16_384;
const NO_ADDRESS = 'expected an address, found something else';
const NO_LIST = 'expected an answer with a list in `tools`, found none';

/** Error of a server that did not list its tools. */
export class ServerFailure extends Error {
  /** @param log - The end of the server's standard error. */
  constructor(
    message: string,
    readonly log: string,
  ) {
    super(message);
  }
}

let running: StdioClientTransport | undefined;

/** Ends the running server immediately, if there is one. */
export function stopServer(): void {
  const pid = running?.pid;
  if (pid == null) return;
  try {
    process.kill(pid);
  } catch {
    // The process has already ended.
  }
}

/** A server as the core describes it: a program or a URL. Timeouts are in seconds. */
export type Server = (Program | Address) & { secrets?: string[] };

export interface Program {
  timeout: number;
  /** Values that an error must not repeat. */
  secrets: string[];
  command: string[];
  folder: string | null;
  inherited: string[];
  environment: Record<string, string>;
}

export interface Address {
  timeout: number;
  /** Values that an error must not repeat. */
  secrets: string[];
  url: string;
  headers: Record<string, string>;
  sse: boolean;
}

/** Returns the tools of all pages of a server's `tools/list`, exactly as the server sent them. */
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
  const ask = limited(fetch, MAX_ANSWERS, 'answers', exceeded);
  for (const transport of transports(sdk, server, heard, ask)) {
    try {
      return await listTools(sdk, transport, server.timeout, tooMuch);
    } catch (error) {
      // If both transports fail, the first error is the more useful one.
      failure ??= error;
      if (isLate(error)) break;
    }
  }
  const { code, message, cause } = failure as NodeJS.ErrnoException;
  // The SDK adds the same prefix to every error of a server.
  const detail = message.replace(/^MCP error -?\d+: /, '');
  let why = detail;
  if (code === 'ENOENT') why = 'expected a command, found none with this name';
  if (isLate(failure)) why = `expected an answer in ${server.timeout} s, found none`;
  if (message === 'fetch failed') {
    why = `expected a server at that address, found none (${(cause as NodeJS.ErrnoException)?.code ?? detail})`;
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

/** Yields the transports to try for a server, in order. */
export function* transports(sdk: Sdk, server: Server, heard: Heard, ask: typeof fetch): Generator<Transport> {
  if ('command' in server) {
    yield program(sdk, server, heard);
    return;
  }
  const url = new URL(server.url);
  const options = { requestInit: { headers: server.headers }, fetch: ask };
  // The cast is safe, because the types differ only in whether a missing member may be undefined.
  if (!server.sse) yield new sdk.StreamableHTTPClientTransport(url, options) as Transport;
  yield new sdk.SSEClientTransport(url, options) as Transport;
}

/**
 * Returns the transport to a server that is started as a program. The program is third-party code: it receives only the
 * environment variables that the SDK considers safe, those that the caller named, and those of its own configuration.
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

/** Collects the end of a server's standard error. */
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

  /** Returns the collected text, without secrets. */
  shown(): string {
    const text = this.#log.toString();
    const safe = this.#isCut ? endWithoutSecrets(text, this.server) : withoutSecrets(text, this.server);
    return safe.slice(-LOG);
  }
}

/**
 * Connects to a server, and returns its tools.
 *
 * @param tooMuch - Rejects if the server's answers exceed the size limit.
 */
async function listTools(sdk: Sdk, transport: Transport, seconds: number, tooMuch: Promise<never>): Promise<unknown[]> {
  const timeout = seconds * 1000;
  const client = new sdk.Client({ name: 'toolwire', version: stamp.split(' ')[1] ?? '' });
  let timer: NodeJS.Timeout | undefined;
  // The SDK does not limit the time for opening an event stream.
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('late'), { code: TIMED_OUT })), timeout);
  });
  try {
    await Promise.race([client.connect(transport, { timeout }), late, tooMuch]);
    clearTimeout(timer);
    return await Promise.race([listed(client, sdk.ResultSchema, timeout), tooMuch]);
  } finally {
    clearTimeout(timer);
    // `running` is kept until the server has ended, so that a signal can still end it.
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
    // `client.listTools` is not used, because its result type reorders the keys of schemas.
    const result = await client.request({ method: 'tools/list', params }, any, { timeout });
    if (!Array.isArray(result.tools)) throw new Error(NO_LIST);
    if (tools.length + result.tools.length > TOOLS) throw new Error(`expected at most ${TOOLS} tools, found more`);
    for (const tool of result.tools) tools.push(tool);
    cursor = result.nextCursor;
    // The last page should have no cursor, but some servers write `null` or an empty string.
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

/** Loads the SDK next to this package, never from the working directory, which may be an untrusted repository. */
export async function loaded(server: string): Promise<Sdk> {
  const files = ['client/index.js', 'client/stdio.js', 'client/sse.js', 'client/streamableHttp.js', 'types.js'];
  const modules = files.map((name) => `${SDK}/${name}`);
  try {
    return Object.assign({}, ...(await Promise.all(modules.map((name) => import(name)))));
  } catch {
    const line = `npx -y -p toolwire -p ${SDK} toolwire … ${server}`;
    throw new Error(
      `expected the package ${SDK}, which connects to servers, found none: run \`${line}\`, or install it`,
    );
  }
}
