//! Options of `sanitize_tools`, and the shapes that tools have.

use super::read::choice;

choice! {
    /// The shape of a tool in a list: which API's.
    ToolFormat {
        /// MCP `tools/list`: `{ name, description, inputSchema }`.
        Mcp = "mcp",
        /// Anthropic Messages: `{ name, description, input_schema }`.
        Anthropic = "anthropic",
        /// OpenAI Chat Completions: `{ type: "function", function: { name, description, parameters } }`.
        OpenaiChat = "openai-chat",
        /// OpenAI Responses: `{ type: "function", name, description, parameters }`.
        OpenaiResponses = "openai-responses",
        /// Gemini: `{ name, description, parameters }`, all in one `functionDeclarations`.
        Gemini = "gemini",
        /// Gemini: `{ name, description, parametersJsonSchema }`, all in one `functionDeclarations`.
        GeminiJsonSchema = "gemini-json-schema",
        /// Bedrock Converse: `{ toolSpec: { name, description, inputSchema: { json } } }`.
        Bedrock = "bedrock",
    }
}
