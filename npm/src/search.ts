/** Tool search. */

import { callOnText, callOnValues } from './engine/call.js';
import { Kept } from './engine/kept.js';
import type { SearchOptions, Text } from './options.js';

/**
 * The names of the tools that match a query, best first.
 *
 * @param tools - A tool list of any supported format (Anthropic, OpenAI Responses with namespaces, OpenAI Chat
 * Completions, MCP), deferred or not, or an object that has one in `tools`.
 *
 * @example
 * ```ts
 * import { searchTools } from 'toolwire';
 *
 * const names = searchTools(tools, 'a room for our meeting', { limit: 3 });
 * ```
 *
 * @throws {@link ToolwireError} `empty-query`, `invalid-request` if `tools` is no tool list, `unknown-option`,
 * `invalid-option`, `invalid-value`, `too-deep`.
 */
export function searchTools(tools: unknown, query: string, options?: SearchOptions): string[] {
  return callOnValues('searchTools', false, [tools, query], options).value as string[];
}

/**
 * {@link searchTools} in a tool list that is JSON text. The query is itself, not JSON.
 *
 * @throws {@link ToolwireError} as {@link searchTools}, and `invalid-json`.
 */
export function searchToolsJson(tools: string | Uint8Array, query: string, options?: SearchOptions): string[] {
  return JSON.parse(asString(callOnText('searchTools', false, tools, options, query).value));
}

/**
 * Answers a model's call of the tool search, for the next turn; `null` if the call is not a search.
 *
 * The answer holds `tool_reference` blocks, which {@link applyDeferredLoading} turns into text, and loads what they name.
 * `select:Read,Edit` asks for tools by name. If the list defers tools, only those are found, because the model sees the
 * others anyway. A search that fails because of what the model wrote is answered, too, so that the model sees why.
 *
 * @param call - A `tool_use` block (Anthropic; the answer is a `tool_result` block), a `function_call` item (OpenAI
 * Responses; a `function_call_output` item) or an entry of `tool_calls` (Chat Completions; a message with the role
 * `tool`). It is a search if it calls `toolSearchName`. A `tool_search_call` item that is the caller's to answer (OpenAI
 * Responses, `execution: "client"`) is one, too; its answer is a `tool_search_output` item with the definitions.
 *
 * @example
 * ```ts
 * import { answerToolSearch } from 'toolwire';
 *
 * const answer = answerToolSearch(block, tools);
 * if (answer !== null) results.push(answer);
 * ```
 *
 * @throws {@link ToolwireError} `invalid-request` if `tools` is no tool list, `unknown-option`, `invalid-option`,
 * `invalid-value`, `too-deep`.
 */
export function answerToolSearch(
  call: unknown,
  tools: unknown,
  options?: SearchOptions,
): { [name: string]: unknown } | null {
  return callOnValues('answerToolSearch', false, [call, tools], options).value as { [name: string]: unknown } | null;
}

/**
 * {@link answerToolSearch} on JSON text: the answer is text of the call's type.
 *
 * @throws {@link ToolwireError} as {@link answerToolSearch}, and `invalid-json`.
 */
export function answerToolSearchJson(call: string, tools: string | Uint8Array, options?: SearchOptions): string | null;
export function answerToolSearchJson(
  call: Uint8Array,
  tools: string | Uint8Array,
  options?: SearchOptions,
): Uint8Array | null;
export function answerToolSearchJson(
  call: string | Uint8Array,
  tools: string | Uint8Array,
  options?: SearchOptions,
): string | Uint8Array | null {
  const answer = callOnText('answerToolSearch', false, call, options, tools).value;
  return asString(answer) === 'null' ? null : answer;
}

/**
 * A tool list made ready for many searches: read once, never changed. Of several tools with one name the first one counts.
 *
 * It has WebAssembly memory of its own, about a megabyte and what the list takes, which goes when the index does.
 *
 * @example
 * ```ts
 * const index = new ToolIndex(tools);
 * index.search('a room for our meeting', { limit: 3 });
 * ```
 */
export class ToolIndex {
  readonly #kept: Kept;

  /**
   * @param tools - A tool list, as {@link searchTools} takes it.
   *
   * @throws {@link ToolwireError} `invalid-request` if `tools` is no tool list, `invalid-value`, `too-deep`.
   */
  constructor(tools: unknown) {
    this.#kept = tools instanceof Kept ? tools : Kept.ofValue(tools);
  }

  /**
   * Reads a tool list that is JSON text.
   *
   * @throws {@link ToolwireError} as the constructor, and `invalid-json`.
   */
  static fromJson(tools: string | Uint8Array): ToolIndex {
    return new ToolIndex(Kept.ofText('new ToolIndex', tools));
  }

  /** How many tools can be found. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * {@link searchTools} in this list.
   *
   * @throws {@link ToolwireError} `empty-query`, `unknown-option`, `invalid-option`, `invalid-value`.
   */
  search(query: string, options?: SearchOptions): string[] {
    return this.#kept.ask('searchKept', query, options) as string[];
  }

  /**
   * {@link answerToolSearch} from this list.
   *
   * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.
   */
  answer(call: unknown, options?: SearchOptions): { [name: string]: unknown } | null {
    return this.#kept.ask('answerKept', call, options) as { [name: string]: unknown } | null;
  }
}

function asString(text: Text): string {
  return typeof text === 'string' ? text : new TextDecoder().decode(text);
}
