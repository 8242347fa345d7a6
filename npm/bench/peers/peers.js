// The other npm packages that make tool schemas fit an API, what each of them does, and our dialect for the same purpose.
// Omitted, because they send schemas unchanged: @ai-sdk/openai, and @ai-sdk/google since version 4 (version 3 is listed).

import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const modules = new URL('node_modules/', import.meta.url);

/**
 * The contenders. The function that `load` returns must not change its input, like ours. `spelled` converts spellings that the
 * API also accepts into ours, so that only schemas that the API would refuse count as refused.
 */
export const PEERS = [
  {
    name: 'openai',
    description: 'toStrictJsonSchema: closes objects, refuses what it would have to narrow',
    dialect: 'openai-strict',
    load: async () => (await import('openai/lib/transform')).toStrictJsonSchema,
  },
  {
    name: '@openai/agents-core',
    description: 'toOpenAIStrictToolSchema: closes objects, optional properties become nullable',
    dialect: 'openai-strict',
    // Not exported, so imported from its file.
    load: async () => (await inside('@openai/agents-core/dist/utils/strictToolSchema.mjs')).toOpenAIStrictToolSchema,
  },
  {
    name: '@anthropic-ai/sdk',
    description: 'transformJSONSchema: closes objects, lists dropped keywords in descriptions',
    dialect: 'anthropic-strict',
    load: async () => (await import('@anthropic-ai/sdk/lib/transform-json-schema')).transformJSONSchema,
  },
  {
    name: '@ai-sdk/google',
    description: 'convertJSONSchemaToOpenAPISchema: the OpenAPI subset; inlines references',
    dialect: 'gemini',
    load: async () => (await inside('@ai-sdk/google/dist/index.mjs', 'convertJSONSchemaToOpenAPISchema')).exposed,
    // A tool without arguments is sent without parameters.
    spelled: (schema) => schema ?? { type: 'object', properties: {} },
  },
  {
    name: '@google/genai',
    description: 'processJsonSchema: keeps known keywords, upper-case types; leaves references',
    dialect: 'gemini',
    load: async () => (await inside('@google/genai/dist/node/index.mjs', 'processJsonSchema')).exposed,
    spelled: withSmallTypes,
  },
  {
    name: '@langchain/google-common',
    description: 'jsonSchemaToGeminiParameters: drops some keywords, refuses unions',
    dialect: 'gemini',
    load: async () => (await import('@langchain/google-common')).jsonSchemaToGeminiParameters,
  },
];

/** Returns the installed version. */
export function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`${name}/package.json`, modules), 'utf8')).version;
}

/** Lower-cases type names: `type: "OBJECT"` means `type: "object"` to Google's API. */
function withSmallTypes(schema) {
  if (Array.isArray(schema)) return schema.map(withSmallTypes);
  if (schema === null || typeof schema !== 'object') return schema;
  const small = (key, value) =>
    key === 'type' && typeof value === 'string' ? value.toLowerCase() : withSmallTypes(value);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, small(key, value)]));
}

/** Imports a file that a package does not export, with a function that the file may not export either. */
async function inside(path, hidden) {
  let file = new URL(path, modules);
  if (hidden !== undefined) {
    const text = readFileSync(file, 'utf8');
    file = new URL(file.href.replace(/\.mjs$/, '.exposed.mjs'));
    writeFileSync(file, `${text}\nexport { ${hidden} as exposed };\n`);
  }
  return import(pathToFileURL(file.pathname).href);
}
