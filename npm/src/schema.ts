/** A JSON Schema that is an object: any keyword may be there, with any value. */
export type JsonSchema = { [keyword: string]: unknown };

/**
 * A JSON Schema whose root is an object with `properties`: what the SDKs of the model APIs take for a tool's parameters,
 * without a cast.
 */
export type ObjectSchema = JsonSchema & {
  type: 'object';
  properties: { [name: string]: unknown };
};
