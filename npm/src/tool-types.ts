import type { DialectFormats } from './dialect-names.js';
import type { Dialect, ToolFormat, ToolsOptions } from './options.js';
import type { ObjectSchema } from './schema.js';

/** A tool as some API has it, where it is not known which. */
// biome-ignore lint/suspicious/noExplicitAny: the SDKs of the APIs have types of their own for it, which nothing else fits.
export type Tool = any;

/** A tool as MCP's `tools/list` has it. */
export interface McpTool {
  /** The name that the model calls. */
  name: string;
  /** What the model reads of it. */
  description?: string;
  /** Its arguments. */
  inputSchema: ObjectSchema;
}

/** A tool as Anthropic Messages has it. */
export interface AnthropicTool {
  /** The name that the model calls. */
  name: string;
  /** What the model reads of it. */
  description?: string;
  /** Its arguments. */
  input_schema: ObjectSchema;
  /** Whether the API enforces the schema. */
  strict?: boolean;
}

/** A tool as OpenAI Chat Completions, and what took it over, has it. */
export interface OpenAIChatTool {
  /** What kind of tool it is. */
  type: 'function';
  /** The function: its name, what the model reads of it, its arguments. */
  function: { name: string; description?: string; parameters?: ObjectSchema; strict?: boolean };
}

/** A tool as OpenAI Responses has it. */
export interface OpenAIResponsesTool {
  /** What kind of tool it is. */
  type: 'function';
  /** The name that the model calls. */
  name: string;
  /** What the model reads of it. */
  description?: string;
  /** Its arguments. */
  parameters: ObjectSchema;
  /** Whether the API enforces the schema. */
  strict: boolean;
}

/** All tools of a request to Gemini, with schemas in Google's own form. */
export interface GeminiTools {
  /** A tool without arguments has no `parameters`. */
  // biome-ignore lint/suspicious/noExplicitAny: Google's SDK writes the names of types as an enum, which no string literal fits.
  functionDeclarations: { name: string; description?: string; parameters?: any }[];
}

/** All tools of a request to Gemini, with JSON Schemas. */
export interface GeminiJsonSchemaTools {
  /** A tool without arguments has no `parametersJsonSchema`. */
  functionDeclarations: { name: string; description?: string; parametersJsonSchema?: ObjectSchema }[];
}

/** A tool as Gemini Interactions has it. */
export interface GeminiInteractionsTool {
  /** A function that the caller runs. */
  type: 'function';
  /** What calls call it. */
  name: string;
  /** What the model reads of it. */
  description?: string;
  /** The schema of its arguments. */
  parameters: ObjectSchema;
}

/** A tool as Bedrock's Converse has it. */
export interface BedrockTool {
  /** The tool: its name, what the model reads of it, its arguments. */
  // biome-ignore lint/suspicious/noExplicitAny: AWS's SDK has a type of its own for JSON, which knows no `unknown`.
  toolSpec: { name: string; description?: string; inputSchema: { json: any } };
}

/** The entries of the list that `sanitizeTools` writes, by format. */
export interface ToolsByFormat {
  /** McpTool. */
  mcp: McpTool;
  /** AnthropicTool. */
  anthropic: AnthropicTool;
  /** OpenAIChatTool. */
  'openai-chat': OpenAIChatTool;
  /** OpenAIResponsesTool. */
  'openai-responses': OpenAIResponsesTool;
  /** GeminiTools. */
  gemini: GeminiTools;
  /** GeminiJsonSchemaTools. */
  'gemini-json-schema': GeminiJsonSchemaTools;
  /** GeminiInteractionsTool. */
  'gemini-interactions': GeminiInteractionsTool;
  /** BedrockTool. */
  bedrock: BedrockTool;
}

/**
 * An entry of the list that `sanitizeTools` writes with certain options: by `format`, or else by the dialect. Where both are known at
 * run time only, as after `dialectFor`, it is {@link Tool}. What the API runs itself is passed on as it is, and is not described.
 */
export type ToolFor<O extends ToolsOptions> = O extends { format: infer F extends ToolFormat }
  ? ToolFormat extends F
    ? Tool
    : ToolsByFormat[F]
  : Dialect extends O['dialect']
    ? Tool
    : ToolsByFormat[DialectFormats[O['dialect']]];
