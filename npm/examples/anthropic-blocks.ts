// Converts the reply of a Chat Completions backend into blocks of Anthropic's API with their events: text, thinking, calls and searches.

import { randomBytes } from 'node:crypto';
import type OpenAI from 'openai';
import { type CallStream, type Restore, ToolIndex } from 'toolwire';

export type Json = { type: string; name?: unknown; input?: unknown; [member: string]: unknown };
type Delta = OpenAI.Chat.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string | null };
type SearchAnswer = { is_error?: boolean; content: Json[] };
type Call = OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall;

/** One block (or the two blocks of a search), as far as it has arrived. */
interface Part {
  kind: 'text' | 'thinking' | 'call' | 'search';
  text: string;
  started?: boolean;
  /** `own` is the id that the client receives. */
  call?: { index: number; id: string | undefined; own: string; name: string; stream: CallStream };
}

/**
 * Anthropic's SDKs expect each block to end before the next one starts. In Chat Completions, the
 * pieces of several calls may be interleaved, and nothing marks the end of a call. So only one
 * block is open at a time, and the pieces of later blocks are held back.
 */
export class Blocks {
  readonly #parts: Part[] = [];
  #open = 0;

  /** Appends to `content`. `search` is the name of the function that replaces the hosted search, `history` the messages as JSON. */
  constructor(
    readonly content: Json[],
    readonly tools: unknown,
    readonly restore: Restore,
    readonly search: string | undefined,
    readonly history: string,
  ) {}

  has(kind: Part['kind']) {
    return this.#parts.some((part) => part.kind === kind);
  }

  *take(delta: Delta, thinks: boolean): Generator<Json> {
    if (thinks && delta.reasoning_content) yield* this.#add(this.#last('thinking'), delta.reasoning_content);
    const text = delta.content || delta.refusal;
    if (text) yield* this.#add(this.#last('text'), text);
    for (const call of delta.tool_calls ?? []) yield* this.#add(this.#called(call), call.function?.arguments ?? '');
  }

  /** Ends each complete block, and starts the next block. */
  *advance(ended: boolean): Generator<Json> {
    for (let part = this.#parts[this.#open]; part !== undefined; part = this.#parts[this.#open]) {
      if (!part.started) yield* this.#start(part);
      if (!ended && (part === this.#parts.at(-1) || !complete(part))) return;
      yield* part.kind === 'search' ? this.#searched(part) : this.#end(part);
      this.#open += 1;
    }
  }

  #last(kind: 'text' | 'thinking'): Part {
    const last = this.#parts.at(-1);
    return last?.kind === kind ? last : { kind, text: '' };
  }

  #called({ index, id, function: called }: Call): Part {
    // Some backends give every call the index 0, so a different id means a different call.
    const known = this.#parts.findLast(({ call }) => call?.index === index && (!id || call.id === id));
    if (known !== undefined) return known;
    const name = called?.name ?? '';
    const call = { index, id, own: this.#id(id), name, stream: this.restore.callStream(name) };
    return { kind: name === this.search ? 'search' : 'call', text: '', call };
  }

  /**
   * Keeps the backend's id, which Kimi's models read, unless an earlier call has it: some backends number the calls of each reply
   * from 0.
   */
  #id(id: string | undefined) {
    const taken = (own: string) =>
      this.history.includes(`"${own}"`) || this.#parts.some(({ call }) => call?.own === own);
    return !id || taken(id) || taken(hosted(id)) ? `call_${randomBytes(12).toString('hex')}` : id;
  }

  *#add(part: Part, piece: string): Generator<Json> {
    if (!this.#parts.includes(part)) {
      this.#parts.push(part);
      yield* this.advance(false);
    }
    part.text += piece;
    if (part === this.#parts[this.#open]) yield* this.#piece(part, piece);
  }

  *#start(part: Part): Generator<Json> {
    part.started = true;
    if (part.kind !== 'search') yield this.#event('start', { content_block: this.#block(part, '') });
    yield* this.#piece(part, part.text);
  }

  *#piece({ kind, call }: Part, piece: string): Generator<Json> {
    const text = kind === 'search' ? '' : (call?.stream.feed(piece) ?? piece);
    if (text !== '') yield this.#event('delta', { delta: delta(kind, text) });
  }

  *#end(part: Part): Generator<Json> {
    const rest = part.call?.stream.finish() ?? '';
    if (rest !== '') yield this.#event('delta', { delta: delta(part.kind, rest) });
    yield this.#event('stop', {});
    this.content.push(this.#block(part, part.text));
  }

  #block({ kind, call }: Part, text: string): Json {
    // In the form of the client: with the tool's own name, and with arguments that match its own schema.
    if (call) return this.restore.clientCall({ id: call.own, name: call.name, arguments: text || '{}' }).call as Json;
    return kind === 'text' ? { type: 'text', text } : { type: 'thinking', thinking: text, signature: '' };
  }

  /** Emits the search and its result in the form of Anthropic's servers. The client sends both with its next request. */
  *#searched(part: Part): Generator<Json> {
    const tools = this.tools as Json[];
    const call = this.#block(part, part.text);
    const answer = new ToolIndex(tools).answer(call, { toolSearchName: String(call.name) }) as SearchAnswer;
    const id = hosted(part.call?.own ?? '');
    const name = tools.find(({ type }) => type?.startsWith('tool_search_tool_'))?.name;
    const input = typeof call.input === 'string' ? {} : call.input;
    yield this.#event('start', { content_block: { type: 'server_tool_use', id, name, input: {} } });
    yield this.#event('delta', { delta: delta('search', JSON.stringify(input)) });
    yield this.#event('stop', {});
    this.content.push({ type: 'server_tool_use', id, name, input });
    const content = answer.is_error
      ? { type: 'tool_search_tool_result_error', error_code: 'invalid_tool_input' }
      : {
          type: 'tool_search_tool_search_result',
          tool_references: answer.content.filter(({ type }) => type === 'tool_reference'),
        };
    const result = { type: 'tool_search_tool_result', tool_use_id: id, content };
    yield this.#event('start', { content_block: result });
    yield this.#event('stop', {});
    this.content.push(result);
  }

  #event(kind: string, members: object): Json {
    return { type: `content_block_${kind}`, index: this.content.length, ...members };
  }
}

/** Returns an id in the form that Anthropic's servers give to calls that they run themselves. */
function hosted(id: string) {
  return `srvtoolu_${id.replace(/\W/g, '_')}`;
}

function delta(kind: Part['kind'], text: string): Json {
  if (kind === 'text') return { type: 'text_delta', text };
  if (kind === 'thinking') return { type: 'thinking_delta', thinking: text };
  return { type: 'input_json_delta', partial_json: text };
}

/**
 * Returns true if a part is complete, given that another part follows it: text always is, a call
 * once its arguments are JSON.
 */
function complete({ call, text }: Part) {
  try {
    return call === undefined || JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}
