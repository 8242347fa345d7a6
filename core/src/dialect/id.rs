//! The names of all dialects, as a type that no misspelled name can have.

use alloc::{format, string::String, vec::Vec};
use core::{fmt, str::FromStr};

use super::{
    anthropic, azure, bedrock, cerebras, codex, cohere, deepseek, fireworks, gemini, gemini_interactions, groq,
    llama_cpp, mcp_clients, mistral, moonshot, ollama, openai, portable, sglang, vertex, vllm, vscode, xai, Dialect,
    DIALECTS,
};
use crate::{
    error::{Code, Error},
    naming::did_you_mean,
};

/// Name of a dialect. It always names a known dialect: a misspelled constant does not compile, and text from a
/// configuration is parsed.
///
/// The constants are those of [`Dialect`], for example [`Dialect::GEMINI`].
///
/// ```
/// use toolwire::{Dialect, DialectId, SanitizeOptions};
/// let dialect: DialectId = "openai-strict".parse()?;
/// assert_eq!(dialect, Dialect::OPENAI_STRICT);
/// assert_eq!(SanitizeOptions::new(dialect).dialect.as_str(), "openai-strict");
///
/// let error = "openai_strict".parse::<DialectId>().unwrap_err();
/// assert_eq!(error.code().as_str(), "unknown-dialect");
/// assert!(error.message().ends_with("found `openai_strict` (did you mean `openai-strict`?)"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// ```compile_fail
/// let options = toolwire::SanitizeOptions::new(toolwire::Dialect::GEMNI);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DialectId(&'static str);

impl DialectId {
    pub(in crate::dialect) const fn listed(name: &'static str) -> DialectId {
        DialectId(name)
    }

    /// Returns the name in the options and reports of every language.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// # Errors
/// `unknown-dialect`, with the known names and the nearest one.
impl FromStr for DialectId {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        named(name).map(Dialect::id)
    }
}

impl fmt::Display for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl AsRef<str> for DialectId {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl PartialEq<str> for DialectId {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for DialectId {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

pub(crate) fn named(name: &str) -> Result<&'static Dialect, Error> {
    DIALECTS.iter().find(|dialect| dialect.name == name).ok_or_else(|| {
        let names: Vec<String> = DIALECTS.iter().map(|dialect| format!("`{}`", dialect.name)).collect();
        let meant = did_you_mean(name, DIALECTS.iter().map(|dialect| &dialect.name));
        let message = format!("expected one of {}, found `{name}`{meant}", names.join(", "));
        Error::new(Code::UnknownDialect, "", message)
    })
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $table:path,)*) => {
        /// The names of all dialects, for every option that accepts one.
        ///
        /// ```
        /// use toolwire::{Dialect, SanitizeOptions};
        /// let options = SanitizeOptions::new(Dialect::OPENAI_STRICT);
        /// assert_eq!(options.dialect, Dialect::OPENAI_STRICT);
        /// ```
        impl Dialect {
            $($(#[$doc])* pub const $name: DialectId = $table.id();)*
        }

        #[cfg(test)]
        const CONSTANTS: &[DialectId] = &[$(Dialect::$name,)*];
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
    /// Claude Desktop, tools of MCP servers: the tools that reach the model's API.
    CLAUDE_DESKTOP = mcp_clients::CLAUDE_DESKTOP,
    /// Claude Code, tools of MCP servers: the tools that reach the model's API.
    CLAUDE_CODE = mcp_clients::CLAUDE_CODE,
    /// Cursor, tools of MCP servers: the tools that reach the model's API.
    CURSOR = mcp_clients::CURSOR,
    /// Cowork in Claude Desktop, tools of local MCP servers: the parts that reach the model's API.
    COWORK = mcp_clients::COWORK,
}

#[test]
fn every_dialect_has_its_constant() {
    assert_eq!(CONSTANTS, DIALECTS.iter().map(Dialect::id).collect::<Vec<_>>());
}

#[test]
fn every_table_has_a_listed_name() {
    for dialect in DIALECTS {
        for other in [dialect.response_format(), dialect.output_schema()].into_iter().flatten() {
            assert_eq!(named(other.name).map(Dialect::id), Ok(other.id()));
        }
    }
}
