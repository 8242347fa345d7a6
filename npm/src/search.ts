/** Tool search. */

import { callForValue, callOnTwo, callOnValues } from './engine/call.js';
import { decodeUtf8, encodeLike, isBytes, isText } from './engine/text.js';
import { StoredIndex } from './engine/tool-index.js';
import type { SearchOptions, Text, Written } from './options.js';

/**
 * Returns the names of the tools that match a query, best match first.
 *
 * @param tools - A tool list of any supported format (Anthropic, OpenAI Responses with namespaces, OpenAI Chat
 * Completions, MCP), deferred or not, or an object with such a list in `tools`; a value or JSON text.
 *
 * @example
 * ```ts
 * import { searchTools } from 'toolwire';
 *
 * const names = searchTools(tools, 'a room for our meeting', { limit: 3 });
 * ```
 *
 * @throws {@link ToolwireError} `empty-query`, `invalid-request` if `tools` is not a tool list, `unknown-option`,
 * `invalid-option`, `invalid-value`, `too-deep`.
 */
export function searchTools(tools: unknown, query: string, options?: SearchOptions): string[] {
  return callOnValues('searchTools', [bytesToString(tools), query], options).value as string[];
}

/**
 * Answers a model's call to the tool search, for the next turn. Returns `null` if the call is not a search.
 *
 * The answer contains `tool_reference` blocks, which {@link applyDeferredLoading} turns into text, and which load the tools that they
 * name. `select:Read,Edit` requests tools by name. If the list has deferred tools, only those are found, because the model sees the
 * others anyway. A search that fails because of the model's input is answered, too, so that the model reads the reason.
 *
 * @param call - A `tool_use` block (Anthropic; the answer is a `tool_result` block), a `function_call` item (OpenAI
 * Responses; a `function_call_output` item) or an entry of `tool_calls` (Chat Completions; a message with the role
 * `tool`). It is a search if it calls `toolSearchName`. So is a `tool_search_call` item that the caller has to answer (OpenAI
 * Responses, `execution: "client"`); its answer is a `tool_search_output` item with the definitions.
 *
 * @example
 * ```ts
 * import { answerToolSearch } from 'toolwire';
 *
 * const answer = answerToolSearch(block, tools);
 * if (answer !== null) results.push(answer);
 * ```
 *
 * @throws {@link ToolwireError} `invalid-request` if `tools` is not a tool list, `unknown-option`, `invalid-option`,
 * `invalid-value`, `too-deep`.
 */
export function answerToolSearch<T>(call: T, tools: unknown, options?: SearchOptions): ToolSearchAnswer<T> {
  const { value } = callOnTwo('answerToolSearch', call, tools, options);
  return (isText(value) && textToString(value) === 'null' ? null : value) as ToolSearchAnswer<T>;
}

/** An answer to a tool search: text of the call's type if the call is JSON text; `null` if the call is not a search. */
export type ToolSearchAnswer<T> = Written<T, { [name: string]: unknown }> | null;

function textToString(text: Text): string | undefined {
  return typeof text === 'string' ? text : decodeUtf8(text);
}

/** Parses JSON text. For invalid text the core throws its error, with code and position. */
function parseJson(text: Text): unknown {
  try {
    return JSON.parse(textToString(text) as string);
  } catch (error) {
    callForValue('check', text, { dialect: 'portable' });
    throw error;
  }
}

/** Returns bytes as a string, which the core reads as JSON text. */
function bytesToString(tools: unknown): unknown {
  if (!isBytes(tools)) return tools;
  // The core refuses bytes that are not UTF-8.
  return decodeUtf8(tools) ?? callForValue('check', tools, { dialect: 'portable' });
}

/**
 * A tool list prepared for many searches. It is read once and never changes. Of several tools with the same name, the first is used.
 *
 * Each index has its own WebAssembly memory, about one megabyte plus the size of the list, which is freed with the index.
 *
 * @example
 * ```ts
 * const index = new ToolIndex(tools);
 * index.search('a room for our meeting', { limit: 3 });
 * ```
 */
export class ToolIndex {
  readonly #index: StoredIndex;

  /**
   * @param tools - A tool list in any form that {@link searchTools} accepts.
   *
   * @throws {@link ToolwireError} `invalid-request` if `tools` is not a tool list, `invalid-value`, `too-deep`.
   */
  constructor(tools: unknown) {
    this.#index = StoredIndex.of('new ToolIndex', tools);
  }

  /** Number of tools that can be found. */
  get size(): number {
    return this.#index.size;
  }

  /**
   * Does the same as {@link searchTools}, in this list.
   *
   * @throws {@link ToolwireError} `empty-query`, `unknown-option`, `invalid-option`, `invalid-value`.
   */
  search(query: string, options?: SearchOptions): string[] {
    return this.#index.ask('searchIndex', query, options) as string[];
  }

  /**
   * Does the same as {@link answerToolSearch}, with this list.
   *
   * @throws {@link ToolwireError} `unknown-option`, `invalid-option`, `invalid-value`, `too-deep`.
   */
  answer<T>(call: T, options?: SearchOptions): ToolSearchAnswer<T> {
    if (!isText(call)) return this.#index.ask('answerFromIndex', call, options) as ToolSearchAnswer<T>;
    const answer = this.#index.ask('answerFromIndex', parseJson(call), options);
    if (answer === null) return null;
    const text = JSON.stringify(answer);
    return (typeof call === 'string' ? text : encodeLike(call, text)) as ToolSearchAnswer<T>;
  }
}
