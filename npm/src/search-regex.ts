/**
 * Everything that `toolwire/search` has, and patterns: `mode: "regex"` searches names and descriptions with a regular
 * expression, in the spelling of Python's `re.search` as far as an engine has it that takes linear time. An entry of its
 * own, because that engine is as large as all the rest.
 *
 * @example
 * ```ts
 * import { searchTools } from 'toolwire/search/regex';
 *
 * searchTools(tools, '^get_.*_data$', { mode: 'regex' });
 * ```
 *
 * @packageDocumentation
 */

export * from './search.js';
