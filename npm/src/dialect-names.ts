// Generated: `cargo xtask pages`. Edit the tables, not this file.

/** The names of the dialects, one for each surface of a model API. `dialects()` describes them. */
export type Dialect =
  /** OpenAI Codex, only its schema sanitizer: unknown keywords are kept. */
  | 'codex'
  /** OpenAI Codex, everything it does before it sends a request. */
  | 'codex-wire'
  /** OpenAI Responses, function tools with `strict: false`, GPT-5 and later. */
  | 'openai-responses'
  /** OpenAI Chat Completions, non-strict function tools; Responses with models before GPT-5. */
  | 'openai-chat'
  /** OpenAI Chat Completions and Responses, function tools with `strict: true`. */
  | 'openai-strict'
  /** Azure OpenAI (Microsoft Foundry), function tools with `strict: true`. */
  | 'azure-strict'
  /** Intersection of OpenAI, Anthropic, Gemini (JSON Schema), Moonshot, DeepSeek and Mistral, non-strict. */
  | 'portable'
  /** Anthropic Messages API, non-strict tools. */
  | 'anthropic'
  /** Anthropic Messages API, tools with `strict: true`. */
  | 'anthropic-strict'
  /** Gemini API, `functionDeclarations[].parameters` (the Schema message, an OpenAPI 3.0 subset). */
  | 'gemini'
  /** Gemini API, `functionDeclarations[].parametersJsonSchema`. */
  | 'gemini-json-schema'
  /** Gemini API, Interactions, `tools[].parameters`. */
  | 'gemini-interactions'
  /** Vertex AI, Gemini's `functionDeclarations[].parameters` (the Schema message, an OpenAPI 3.0 subset). */
  | 'vertex'
  /** Vertex AI, Gemini's `functionDeclarations[].parametersJsonSchema`. */
  | 'vertex-json-schema'
  /** Moonshot AI (Kimi), Chat Completions tools: Moonshot-flavored JSON Schema. */
  | 'moonshot'
  /** xAI (Grok), Chat Completions and Responses, function tools. */
  | 'xai'
  /** DeepSeek Chat Completions, non-strict tools. */
  | 'deepseek'
  /** DeepSeek Chat Completions at `/beta`, tools with `strict: true`. */
  | 'deepseek-strict'
  /** Amazon Bedrock, Converse, `toolSpec.inputSchema.json`, except for Claude. */
  | 'bedrock'
  /** Amazon Bedrock, Converse, `toolSpec.inputSchema.json` for Claude. */
  | 'bedrock-anthropic'
  /** Amazon Bedrock, Converse, `toolSpec` with `strict: true`. */
  | 'bedrock-strict'
  /** Mistral Chat Completions, function tools. */
  | 'mistral'
  /** Groq Chat Completions, non-strict function tools. */
  | 'groq'
  /** Groq Chat Completions, function tools with `strict: true` (gpt-oss). */
  | 'groq-strict'
  /** Cerebras Chat Completions, function tools. */
  | 'cerebras'
  /** Cerebras Chat Completions, function tools with `strict: true`. */
  | 'cerebras-strict'
  /** Fireworks Chat Completions, function tools. */
  | 'fireworks'
  /** Cohere Chat v2, function tools without `strict_tools`. */
  | 'cohere'
  /** Cohere Chat v2, function tools with `strict_tools: true`. */
  | 'cohere-strict'
  /** llama.cpp's server: tools become a grammar (GBNF). */
  | 'llama-cpp'
  /** Ollama's chat API, and its OpenAI and Anthropic endpoints: the part of a tool that the model sees. */
  | 'ollama'
  /** vLLM's server: tools become a grammar (if `tool_choice` names a tool or is `required`). */
  | 'vllm'
  /** SGLang's server, non-strict function tools. */
  | 'sglang'
  /** GitHub Copilot Chat in VS Code, tools of MCP servers: what VS Code lets through. */
  | 'vscode'
  /** MCP clients with the TypeScript SDK: the tools that `client.listTools()` returns. */
  | 'mcp-typescript'
  /** Claude Desktop, tools of MCP servers: what reaches the model's API. */
  | 'claude-desktop'
  /** Claude Code, tools of MCP servers: what reaches the model's API. */
  | 'claude-code'
  /** Cursor, tools of MCP servers: what reaches the model's API. */
  | 'cursor'
  /** Cowork in Claude Desktop, tools of local MCP servers: what reaches the model's API. */
  | 'cowork';

/** The format in which `sanitizeTools` writes tools for a dialect, unless `format` selects another. */
export interface DialectFormats {
  /** `codex` is written in the format `openai-responses`. */
  codex: 'openai-responses';
  /** `codex-wire` is written in the format `openai-responses`. */
  'codex-wire': 'openai-responses';
  /** `openai-responses` is written in the format `openai-responses`. */
  'openai-responses': 'openai-responses';
  /** `openai-chat` is written in the format `openai-chat`. */
  'openai-chat': 'openai-chat';
  /** `openai-strict` is written in the format `openai-chat`. */
  'openai-strict': 'openai-chat';
  /** `azure-strict` is written in the format `openai-chat`. */
  'azure-strict': 'openai-chat';
  /** `portable` is written in the format `mcp`. */
  portable: 'mcp';
  /** `anthropic` is written in the format `anthropic`. */
  anthropic: 'anthropic';
  /** `anthropic-strict` is written in the format `anthropic`. */
  'anthropic-strict': 'anthropic';
  /** `gemini` is written in the format `gemini`. */
  gemini: 'gemini';
  /** `gemini-json-schema` is written in the format `gemini-json-schema`. */
  'gemini-json-schema': 'gemini-json-schema';
  /** `gemini-interactions` is written in the format `gemini-interactions`. */
  'gemini-interactions': 'gemini-interactions';
  /** `vertex` is written in the format `gemini`. */
  vertex: 'gemini';
  /** `vertex-json-schema` is written in the format `gemini-json-schema`. */
  'vertex-json-schema': 'gemini-json-schema';
  /** `moonshot` is written in the format `openai-chat`. */
  moonshot: 'openai-chat';
  /** `xai` is written in the format `openai-chat`. */
  xai: 'openai-chat';
  /** `deepseek` is written in the format `openai-chat`. */
  deepseek: 'openai-chat';
  /** `deepseek-strict` is written in the format `openai-chat`. */
  'deepseek-strict': 'openai-chat';
  /** `bedrock` is written in the format `bedrock`. */
  bedrock: 'bedrock';
  /** `bedrock-anthropic` is written in the format `bedrock`. */
  'bedrock-anthropic': 'bedrock';
  /** `bedrock-strict` is written in the format `bedrock`. */
  'bedrock-strict': 'bedrock';
  /** `mistral` is written in the format `openai-chat`. */
  mistral: 'openai-chat';
  /** `groq` is written in the format `openai-chat`. */
  groq: 'openai-chat';
  /** `groq-strict` is written in the format `openai-chat`. */
  'groq-strict': 'openai-chat';
  /** `cerebras` is written in the format `openai-chat`. */
  cerebras: 'openai-chat';
  /** `cerebras-strict` is written in the format `openai-chat`. */
  'cerebras-strict': 'openai-chat';
  /** `fireworks` is written in the format `openai-chat`. */
  fireworks: 'openai-chat';
  /** `cohere` is written in the format `openai-chat`. */
  cohere: 'openai-chat';
  /** `cohere-strict` is written in the format `openai-chat`. */
  'cohere-strict': 'openai-chat';
  /** `llama-cpp` is written in the format `openai-chat`. */
  'llama-cpp': 'openai-chat';
  /** `ollama` is written in the format `openai-chat`. */
  ollama: 'openai-chat';
  /** `vllm` is written in the format `openai-chat`. */
  vllm: 'openai-chat';
  /** `sglang` is written in the format `openai-chat`. */
  sglang: 'openai-chat';
  /** `vscode` is written in the format `mcp`. */
  vscode: 'mcp';
  /** `mcp-typescript` is written in the format `mcp`. */
  'mcp-typescript': 'mcp';
  /** `claude-desktop` is written in the format `mcp`. */
  'claude-desktop': 'mcp';
  /** `claude-code` is written in the format `mcp`. */
  'claude-code': 'mcp';
  /** `cursor` is written in the format `mcp`. */
  cursor: 'mcp';
  /** `cowork` is written in the format `mcp`. */
  cowork: 'mcp';
}
