import type { Dialect } from './options.js';

/** A JSON Schema that is an object, with any keywords and values. */
export type JsonSchema = { [keyword: string]: unknown };

/**
 * A JSON Schema whose root is an object with `properties`: the type that the SDKs of the model APIs accept for a tool's parameters
 * without a cast.
 */
export type ObjectSchema = JsonSchema & {
  type: 'object';
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs have their own types for schemas, to which `unknown` is not assignable.
  properties: { [name: string]: any };
};

/** The dialects that guarantee an object root, because their APIs accept nothing else as tool parameters. */
export type ObjectRootDialect = Exclude<Dialect, 'codex' | 'codex-wire'>;

/** The type of the schema that `sanitize` returns for a dialect, which fits the SDKs' parameter types without a cast. */
export type SchemaFor<D extends Dialect> = D extends ObjectRootDialect ? ObjectSchema : JsonSchema;
