//! Choice of the dialects for a command: by name, or by profile.

use toolwire::{dialects, internal, rules::Constraint, Dialect};

pub(crate) const ALL: &str = "all";
/// Default profile of `check`. [`STRICT`] is the default profile of `matrix`.
pub(crate) const ORDINARY: &str = "ordinary";
pub(crate) const APIS: &str = "apis";
const STRICT: &str = "strict";
pub(crate) const PROFILES: [&str; 4] = [ORDINARY, STRICT, APIS, ALL];

/// Class of a dialect, which determines its profiles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Clients send a server's tools to this API without changing the schemas.
    Ordinary,
    /// The API enforces the schema, which therefore has to be written for this API.
    Strict,
    /// Every client rewrites a server's schemas for this API.
    Converted,
}

/// Class of each dialect. Of 166 real MCP servers, 140 are accepted by all ordinary dialects.
const MODES: [(&str, Mode); 39] = [
    ("codex", Mode::Converted),
    ("codex-wire", Mode::Converted),
    ("openai-responses", Mode::Ordinary),
    ("openai-chat", Mode::Ordinary),
    ("openai-strict", Mode::Strict),
    ("azure-strict", Mode::Strict),
    // The common subset of six APIs, not an API.
    ("portable", Mode::Converted),
    ("anthropic", Mode::Ordinary),
    ("anthropic-strict", Mode::Strict),
    // The Schema message is not JSON Schema: every client rewrites the schema, or uses the other member.
    ("gemini", Mode::Converted),
    ("gemini-json-schema", Mode::Ordinary),
    ("gemini-interactions", Mode::Ordinary),
    ("vertex", Mode::Converted),
    ("vertex-json-schema", Mode::Ordinary),
    ("moonshot", Mode::Ordinary),
    ("xai", Mode::Ordinary),
    ("deepseek", Mode::Ordinary),
    ("deepseek-strict", Mode::Strict),
    ("bedrock", Mode::Ordinary),
    ("bedrock-anthropic", Mode::Ordinary),
    ("bedrock-strict", Mode::Strict),
    ("mistral", Mode::Ordinary),
    ("groq", Mode::Ordinary),
    ("groq-strict", Mode::Strict),
    // The API's only mode compiles every schema, and refuses `format` and `pattern`.
    ("cerebras", Mode::Strict),
    ("cerebras-strict", Mode::Strict),
    ("fireworks", Mode::Ordinary),
    ("cohere", Mode::Ordinary),
    ("cohere-strict", Mode::Strict),
    ("llama-cpp", Mode::Ordinary),
    ("ollama", Mode::Ordinary),
    // Schemas are compiled to a grammar only if `tool_choice` demands a call.
    ("vllm", Mode::Strict),
    ("sglang", Mode::Ordinary),
    // Clients; VS Code drops tools before an API sees them.
    ("vscode", Mode::Ordinary),
    ("mcp-typescript", Mode::Ordinary),
    ("claude-desktop", Mode::Ordinary),
    ("claude-code", Mode::Ordinary),
    ("cursor", Mode::Ordinary),
    ("cowork", Mode::Ordinary),
];

/// Constraints that the ordinary profile ignores. The builds of VS Code differ in their support of drafts after 7, and
/// 2020-12 is the draft that MCP itself names.
const PASSED: [(&str, Constraint); 1] = [("vscode", Constraint::UnknownDraft)];

pub(crate) fn ignores_rule(profile: Option<&str>, dialect: &Dialect, rule: &str) -> bool {
    let is_passed = |(name, passed): &(&str, Constraint)| *name == dialect.name && passed.id() == rule;
    profile == Some(ORDINARY) && PASSED.iter().any(is_passed)
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'a> {
    Profile(&'a str),
    Dialects(&'a [String]),
}

impl Choice<'_> {
    /// The dialects of a profile are in the order of the documentation, others in the order on the command line.
    pub(crate) fn dialects(self, exclude: &[String]) -> Vec<&'static Dialect> {
        let chosen = match self {
            Choice::Profile(profile) => dialects().iter().filter(|dialect| is_in(profile, dialect)).collect(),
            Choice::Dialects(names) => dialects_named(names),
        };
        chosen.into_iter().filter(|dialect| !exclude.iter().any(|name| name == dialect.name)).collect()
    }
}

fn is_in(profile: &str, dialect: &Dialect) -> bool {
    let is = |mode: Mode| MODES.contains(&(dialect.name, mode));
    match profile {
        ORDINARY => is(Mode::Ordinary),
        STRICT => is(Mode::Strict),
        APIS => internal::is_of_an_api(dialect),
        _ => true,
    }
}

pub(crate) fn dialects_named(names: &[String]) -> Vec<&'static Dialect> {
    if names.iter().any(|name| name == ALL) {
        return dialects().iter().collect();
    }
    let mut found: Vec<&'static Dialect> = Vec::new();
    for name in names {
        let Some(dialect) = dialects().iter().find(|dialect| dialect.name == name) else { continue };
        if !found.iter().any(|known| known.name == dialect.name) {
            found.push(dialect);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{dialects, MODES};

    #[test]
    fn every_dialect_is_in_a_profile() {
        let known: Vec<&str> = dialects().iter().map(|dialect| dialect.name).collect();
        assert_eq!(MODES.map(|(name, _)| name).to_vec(), known);
    }
}
