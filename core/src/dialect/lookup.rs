//! Which dialect an API speaks: by what callers know, its host, its protocol and the model.
//!
//! Capability is per host, model and strictness, so a table of rows says it, and the first row that fits wins.

use alloc::{format, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    options::{Api, DialectQuery},
};

/// When a dialect is the one. An empty list asks for nothing.
struct Row {
    /// The host; or what it ends with, if the pattern begins with `.` or `-`; or what it begins with, if it ends with
    /// `.`.
    hosts: &'static [&'static str],
    apis: &'static [Api],
    /// What the model's name begins with, its vendor (`openai/`) left out.
    models: &'static [&'static str],
    plain: &'static str,
    /// With `strict: true`; `None`: no dialect is known for that.
    strict: Option<&'static str>,
}

const ANY: Row = Row { hosts: &[], apis: &[], models: &[], plain: "", strict: None };

const OPENAI: &[&str] =
    &["api.openai.com", ".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];
const GOOGLE: &[&str] =
    &["generativelanguage.googleapis.com", "aiplatform.googleapis.com", "-aiplatform.googleapis.com"];
const MOONSHOT: &[&str] = &["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"];

/// Models that came before the ones that do better with combinators at the root.
const BEFORE_GPT_5: &[&str] = &[
    "gpt-3",
    "gpt-4",
    "o1",
    "o3",
    "o4",
    "chatgpt-4",
    "codex-mini",
    "computer-use",
    "davinci",
    "babbage",
    "ft:gpt-3",
    "ft:gpt-4",
];
const GPT: &[&str] = &["gpt-", "ft:gpt-", "chatgpt", "codex"];
const KIMI: &[&str] = &["kimi", "moonshot"];
const MISTRAL: &[&str] =
    &["mistral", "ministral", "magistral", "codestral", "devstral", "pixtral", "open-mistral", "open-mixtral"];

const OPENAI_STRICT: Option<&str> = Some("openai-strict");
const CLAUDE_STRICT: Option<&str> = Some("anthropic-strict");
const DEEPSEEK_STRICT: Option<&str> = Some("deepseek-strict");

const ROWS: &[Row] = &[
    // Hosts with an API of their own.
    Row {
        hosts: OPENAI,
        apis: &[Api::OpenaiResponses],
        models: BEFORE_GPT_5,
        plain: "openai-chat",
        strict: OPENAI_STRICT,
    },
    Row { hosts: OPENAI, apis: &[Api::OpenaiResponses], plain: "openai-responses", strict: OPENAI_STRICT, ..ANY },
    Row { hosts: OPENAI, plain: "openai-chat", strict: OPENAI_STRICT, ..ANY },
    Row { hosts: &["api.anthropic.com"], plain: "anthropic", strict: CLAUDE_STRICT, ..ANY },
    Row { hosts: GOOGLE, models: &["claude"], plain: "anthropic", strict: CLAUDE_STRICT, ..ANY },
    Row { hosts: GOOGLE, apis: &[Api::GeminiJsonSchema], plain: "gemini-json-schema", ..ANY },
    Row { hosts: GOOGLE, plain: "gemini", ..ANY },
    Row { hosts: &["bedrock-runtime."], plain: "bedrock", ..ANY },
    Row { hosts: MOONSHOT, plain: "moonshot", strict: Some("moonshot"), ..ANY },
    Row { hosts: &["api.x.ai"], plain: "xai", strict: Some("xai"), ..ANY },
    Row { hosts: &["api.deepseek.com"], plain: "deepseek", strict: DEEPSEEK_STRICT, ..ANY },
    Row { hosts: &["api.mistral.ai", "codestral.mistral.ai"], plain: "mistral", ..ANY },
    Row { hosts: &["api.groq.com"], plain: "groq", ..ANY },
    Row { hosts: &["api.cerebras.ai"], plain: "cerebras", strict: Some("cerebras"), ..ANY },
    Row { hosts: &["api.fireworks.ai"], plain: "fireworks", ..ANY },
    // Protocols that only one kind of server speaks.
    Row { apis: &[Api::LlamaCpp], plain: "llama-cpp", ..ANY },
    Row { apis: &[Api::Bedrock], plain: "bedrock", ..ANY },
    Row { apis: &[Api::GeminiJsonSchema], plain: "gemini-json-schema", ..ANY },
    Row { apis: &[Api::Gemini], plain: "gemini", ..ANY },
    // Behind a router, or at a host that nobody knows, the model says most.
    Row { models: KIMI, plain: "moonshot", strict: Some("moonshot"), ..ANY },
    Row { models: &["claude"], plain: "anthropic", strict: CLAUDE_STRICT, ..ANY },
    Row { models: &["gemini"], plain: "gemini", ..ANY },
    Row { models: &["grok"], plain: "xai", strict: Some("xai"), ..ANY },
    Row { models: &["deepseek"], plain: "deepseek", strict: DEEPSEEK_STRICT, ..ANY },
    Row { models: MISTRAL, plain: "mistral", ..ANY },
    Row { models: &["amazon.nova", "nova-"], plain: "bedrock", ..ANY },
    Row { models: BEFORE_GPT_5, plain: "openai-chat", strict: OPENAI_STRICT, ..ANY },
    Row { apis: &[Api::OpenaiResponses], models: GPT, plain: "openai-responses", strict: OPENAI_STRICT, ..ANY },
    Row { models: GPT, plain: "openai-chat", strict: OPENAI_STRICT, ..ANY },
    // A router with any other model: what most of them accept.
    Row { hosts: &["openrouter.ai", "router.huggingface.co"], plain: "portable", ..ANY },
    // The protocol alone.
    Row { apis: &[Api::OpenaiResponses], plain: "openai-responses", strict: OPENAI_STRICT, ..ANY },
    Row { apis: &[Api::OpenaiChat], plain: "openai-chat", strict: OPENAI_STRICT, ..ANY },
    Row { apis: &[Api::Anthropic], plain: "anthropic", strict: CLAUDE_STRICT, ..ANY },
];

/// The dialect for what is known.
///
/// # Errors
/// `invalid-option` if nothing is known, `unknown-dialect` with what could be.
pub(crate) fn dialect_for(query: &DialectQuery) -> Result<&'static str, Error> {
    if query.api.is_none() && query.model.is_none() && query.host.is_none() {
        let message = "expected an `api`, a `model` or a `host`, found none of them";
        return Err(Error::new(Code::InvalidOption, "", message));
    }
    let host = query.host.as_deref().map(bare_host);
    let model = query.model.as_deref().map(bare_model);
    let fits = |row: &&Row| {
        let host_fits = row.hosts.is_empty()
            || host.as_deref().is_some_and(|host| row.hosts.iter().any(|pattern| is_host(pattern, host)));
        let api_fits = row.apis.is_empty() || query.api.is_some_and(|api| row.apis.contains(&api));
        let model_fits = row.models.is_empty()
            || model.as_deref().is_some_and(|model| row.models.iter().any(|start| model.starts_with(start)));
        host_fits && api_fits && model_fits
    };
    let row = ROWS.iter().find(fits).ok_or_else(|| unknown(query))?;
    match row.strict {
        _ if !query.strict => Ok(row.plain),
        Some(strict) => Ok(strict),
        None => {
            let plain = row.plain;
            let message = format!(
                "expected a surface whose strict mode is known, found that of `{plain}`; without `strict` it \
                    is `{plain}`"
            );
            Err(Error::new(Code::UnknownDialect, "/strict", message))
        }
    }
}

fn unknown(query: &DialectQuery) -> Error {
    let (pointer, found) = match (&query.host, &query.model) {
        (Some(host), _) => ("/host", host.as_str()),
        (None, Some(model)) => ("/model", model.as_str()),
        (None, None) => ("/api", "no other hint"),
    };
    let quoted = |words: &mut dyn Iterator<Item = &'static str>| {
        let mut list: Vec<String> = Vec::new();
        for word in words.map(|word| format!("`{word}`")) {
            if !list.contains(&word) {
                list.push(word);
            }
        }
        list.join(", ")
    };
    let hosts = quoted(&mut ROWS.iter().flat_map(|row| row.hosts).copied());
    let apis = quoted(&mut Api::CHOICES.iter().map(|(name, _)| *name));
    let models = quoted(&mut ROWS.iter().flat_map(|row| row.models).copied());
    let message = format!(
        "expected one of the hosts {hosts}, or an `api` of {apis}, or a model whose name begins with one of {models}; \
            found `{found}`"
    );
    Error::new(Code::UnknownDialect, pointer, message)
}

/// The host of a URL, or the host it is: no protocol, path or port, in lower case.
fn bare_host(host: &str) -> String {
    let rest = host.split_once("://").map_or(host, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let rest = rest
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()))
        .map_or(rest, |(host, _)| host);
    rest.to_ascii_lowercase()
}

/// A model's own name: without the vendor before it, in lower case.
fn bare_model(model: &str) -> String {
    model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}

fn is_host(pattern: &str, host: &str) -> bool {
    if pattern.starts_with(['.', '-']) {
        host.ends_with(pattern)
    } else if pattern.ends_with('.') {
        host.starts_with(pattern)
    } else {
        host == pattern
    }
}

#[cfg(test)]
mod tests {
    use super::ROWS;
    use crate::dialect::DIALECTS;

    #[test]
    fn every_row_names_a_dialect_that_there_is() {
        for name in ROWS.iter().flat_map(|row| [Some(row.plain), row.strict]).flatten() {
            assert!(DIALECTS.iter().any(|dialect| dialect.name == name), "{name}");
        }
    }

    #[test]
    fn every_dialect_of_an_api_is_found_by_a_row() {
        for dialect in DIALECTS.iter().filter(|dialect| !dialect.name.starts_with("codex")) {
            assert!(
                ROWS.iter().any(|row| row.plain == dialect.name || row.strict == Some(dialect.name)),
                "{}",
                dialect.name
            );
        }
    }
}
