import type { Dialect } from './options.js';

/** A JSON Schema that is an object: any keyword may be there, with any value. */
export type JsonSchema = { [keyword: string]: unknown };

/**
 * A JSON Schema whose root is an object with `properties`: what the SDKs of the model APIs take for a tool's parameters,
 * without a cast.
 */
export type ObjectSchema = JsonSchema & {
  type: 'object';
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs have types of their own for schemas, which `unknown` does not fit.
  properties: { [name: string]: any };
};

/** The dialects that promise an object root: tool parameters of their APIs are an object and nothing else. */
export type ObjectRootDialect = Exclude<Dialect, 'codex' | 'codex-wire'>;

/** What `sanitize` returns for a dialect, so that it fits the SDKs' parameter types without a cast. */
export type SchemaFor<D extends Dialect> = D extends ObjectRootDialect ? ObjectSchema : JsonSchema;
