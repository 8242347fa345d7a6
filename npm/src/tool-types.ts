import type { DialectFormats } from './dialect-names.js';
import type { Dialect, ToolFormat, ToolsOptions } from './options.js';
import type { ObjectSchema } from './schema.js';

/** A tool of an API that is not known at compile time. */
// biome-ignore lint/suspicious/noExplicitAny: the SDKs of the APIs have their own types for tools, to which nothing else is assignable.
export type Tool = any;

/** A tool in the format of MCP's `tools/list`. */
export interface McpTool {
  /** The name that the model calls. */
  name: string;
  /** The description that the model reads. */
  description?: string;
  /** The schema of its arguments. */
  inputSchema: ObjectSchema;
}

/** A tool in the format of Anthropic Messages. */
export interface AnthropicTool {
  /** The name that the model calls. */
  name: string;
  /** The description that the model reads. */
  description?: string;
  /** The schema of its arguments. */
  input_schema: ObjectSchema;
  /** True if the API enforces the schema. */
  strict?: boolean;
}

/** A tool in the format of OpenAI Chat Completions, which many other APIs share. */
export interface OpenAIChatTool {
  /** The kind of tool. */
  type: 'function';
  /** The function: its name, its description, the schema of its arguments. */
  function: { name: string; description?: string; parameters?: ObjectSchema; strict?: boolean };
}

/** A tool in the format of OpenAI Responses. */
export interface OpenAIResponsesTool {
  /** The kind of tool. */
  type: 'function';
  /** The name that the model calls. */
  name: string;
  /** The description that the model reads. */
  description?: string;
  /** The schema of its arguments. */
  parameters: ObjectSchema;
  /** True if the API enforces the schema. */
  strict: boolean;
}

/** All tools of a request to Gemini, with schemas in Google's own form. */
export interface GeminiTools {
  /** A tool without arguments has no `parameters`. */
  // biome-ignore lint/suspicious/noExplicitAny: Google's SDK has an enum for type names, to which no string is assignable.
  functionDeclarations: { name: string; description?: string; parameters?: any }[];
}

/** All tools of a request to Gemini, with JSON Schemas. */
export interface GeminiJsonSchemaTools {
  /** A tool without arguments has no `parametersJsonSchema`. */
  functionDeclarations: { name: string; description?: string; parametersJsonSchema?: ObjectSchema }[];
}

/** A tool in the format of Gemini Interactions. */
export interface GeminiInteractionsTool {
  /** A function that the caller runs. */
  type: 'function';
  /** The name that the model calls. */
  name: string;
  /** The description that the model reads. */
  description?: string;
  /** The schema of its arguments. */
  parameters: ObjectSchema;
}

/** A tool in the format of Bedrock's Converse. */
export interface BedrockTool {
  /** The tool: its name, its description, the schema of its arguments. */
  // biome-ignore lint/suspicious/noExplicitAny: AWS's SDK has its own type for JSON, to which `unknown` is not assignable.
  toolSpec: { name: string; description?: string; inputSchema: { json: any } };
}

/** The entries of the list that `sanitizeTools` writes, by format. */
export interface ToolsByFormat {
  /** Format of MCP. */
  mcp: McpTool;
  /** Format of Anthropic Messages. */
  anthropic: AnthropicTool;
  /** Format of OpenAI Chat Completions. */
  'openai-chat': OpenAIChatTool;
  /** Format of OpenAI Responses. */
  'openai-responses': OpenAIResponsesTool;
  /** Format of Gemini, with schemas in Google's own form. */
  gemini: GeminiTools;
  /** Format of Gemini, with JSON Schemas. */
  'gemini-json-schema': GeminiJsonSchemaTools;
  /** Format of Gemini Interactions. */
  'gemini-interactions': GeminiInteractionsTool;
  /** Format of Bedrock's Converse. */
  bedrock: BedrockTool;
}

/**
 * The type of an entry of the list that `sanitizeTools` writes with certain options: by `format`, or else by the dialect. It is
 * {@link Tool} if these are only known at run time, as after `dialectFor`. Tools that the API runs itself are passed on unchanged, and
 * are not covered by this type.
 */
export type ToolFor<O extends ToolsOptions> = O extends { format: infer F extends ToolFormat }
  ? ToolFormat extends F
    ? Tool
    : ToolsByFormat[F]
  : Dialect extends O['dialect']
    ? Tool
    : ToolsByFormat[DialectFormats[O['dialect']]];
