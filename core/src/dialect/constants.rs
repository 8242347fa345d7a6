//! The names of the dialects as constants, which editors can complete and the compiler checks.

use super::{
    anthropic, azure, bedrock, cerebras, codex, cohere, deepseek, fireworks, gemini, gemini_interactions, groq,
    llama_cpp, mcp_clients, mistral, moonshot, ollama, openai, portable, sglang, vertex, vllm, vscode, xai, Dialect,
};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $table:path,)*) => {
        /// The names of all dialects, for every option that accepts one.
        ///
        /// ```
        /// use toolwire::{Dialect, SanitizeOptions};
        /// let options = SanitizeOptions::new(Dialect::OPENAI_STRICT);
        /// assert_eq!(options.dialect, "openai-strict");
        /// ```
        impl Dialect {
            $($(#[$doc])* pub const $name: &'static str = $table.name;)*
        }

        #[cfg(test)]
        const NAMES: &[&str] = &[$(Dialect::$name,)*];
    };
}

names! {
    /// OpenAI Codex, only its schema sanitizer: unknown keywords are kept.
    CODEX = codex::CODEX,
    /// OpenAI Codex, everything it does before it sends a request.
    CODEX_WIRE = codex::CODEX_WIRE,
    /// OpenAI Responses, function tools with `strict: false`, GPT-5 and later.
    OPENAI_RESPONSES = openai::RESPONSES,
    /// OpenAI Chat Completions, non-strict function tools; Responses with models before GPT-5.
    OPENAI_CHAT = openai::CHAT,
    /// OpenAI Chat Completions and Responses, function tools with `strict: true`.
    OPENAI_STRICT = openai::STRICT,
    /// Azure OpenAI (Microsoft Foundry), function tools with `strict: true`.
    AZURE_STRICT = azure::STRICT,
    /// Intersection of OpenAI, Anthropic, Gemini (JSON Schema), Moonshot, DeepSeek and Mistral, non-strict.
    PORTABLE = portable::PORTABLE,
    /// Anthropic Messages API, non-strict tools.
    ANTHROPIC = anthropic::ANTHROPIC,
    /// Anthropic Messages API, tools with `strict: true`.
    ANTHROPIC_STRICT = anthropic::STRICT,
    /// Gemini API, `functionDeclarations[].parameters` (the Schema message, an OpenAPI 3.0 subset).
    GEMINI = gemini::GEMINI,
    /// Gemini API, `functionDeclarations[].parametersJsonSchema`.
    GEMINI_JSON_SCHEMA = gemini::JSON_SCHEMA,
    /// Gemini Interactions, function tools.
    GEMINI_INTERACTIONS = gemini_interactions::INTERACTIONS,
    /// Vertex AI, Gemini's `functionDeclarations[].parameters` (the Schema message, an OpenAPI 3.0 subset).
    VERTEX = vertex::VERTEX,
    /// Vertex AI, Gemini's `functionDeclarations[].parametersJsonSchema`.
    VERTEX_JSON_SCHEMA = vertex::JSON_SCHEMA,
    /// Moonshot AI (Kimi), Chat Completions tools: Moonshot-flavored JSON Schema.
    MOONSHOT = moonshot::MOONSHOT,
    /// xAI (Grok), Chat Completions and Responses, function tools.
    XAI = xai::XAI,
    /// DeepSeek Chat Completions, non-strict tools.
    DEEPSEEK = deepseek::DEEPSEEK,
    /// DeepSeek Chat Completions at `/beta`, tools with `strict: true`.
    DEEPSEEK_STRICT = deepseek::STRICT,
    /// Amazon Bedrock, Converse, `toolSpec.inputSchema.json`, except for Claude.
    BEDROCK = bedrock::BEDROCK,
    /// Amazon Bedrock, Converse, `toolSpec.inputSchema.json` for Claude.
    BEDROCK_ANTHROPIC = bedrock::ANTHROPIC,
    /// Amazon Bedrock, Converse, tools with `strict: true`.
    BEDROCK_STRICT = bedrock::STRICT,
    /// Mistral Chat Completions, function tools.
    MISTRAL = mistral::MISTRAL,
    /// Groq Chat Completions, non-strict function tools.
    GROQ = groq::GROQ,
    /// Groq Chat Completions, function tools with `strict: true`.
    GROQ_STRICT = groq::STRICT,
    /// Cerebras Chat Completions, function tools.
    CEREBRAS = cerebras::CEREBRAS,
    /// Cerebras Chat Completions, function tools with `strict: true`.
    CEREBRAS_STRICT = cerebras::STRICT,
    /// Fireworks Chat Completions, function tools.
    FIREWORKS = fireworks::FIREWORKS,
    /// Cohere Chat v2, function tools without `strict_tools`.
    COHERE = cohere::COHERE,
    /// Cohere Chat v2, function tools with `strict_tools: true`.
    COHERE_STRICT = cohere::STRICT,
    /// llama.cpp's server: tools become a grammar (GBNF).
    LLAMA_CPP = llama_cpp::LLAMA_CPP,
    /// Ollama's chat API, and its OpenAI and Anthropic endpoints: the part of a tool that the model sees.
    OLLAMA = ollama::OLLAMA,
    /// vLLM's server: tools become a grammar (if `tool_choice` names a tool or is `required`).
    VLLM = vllm::VLLM,
    /// SGLang's server, non-strict function tools.
    SGLANG = sglang::SGLANG,
    /// GitHub Copilot Chat in VS Code, tools of MCP servers: the tools that VS Code accepts.
    VSCODE = vscode::VSCODE,
    /// MCP clients with the TypeScript SDK: the tools that they list.
    MCP_TYPESCRIPT = mcp_clients::MCP_TYPESCRIPT,
    /// Claude Desktop and Claude Code, tools of MCP servers: the tools that reach the model's API.
    CLAUDE_DESKTOP = mcp_clients::CLAUDE_DESKTOP,
}

#[test]
fn every_dialect_has_its_constant() {
    assert_eq!(NAMES, super::DIALECTS.iter().map(|dialect| dialect.name).collect::<alloc::vec::Vec<_>>());
}
