//! Which dialects a command judges by: those that are named, or those of a profile.

use toolwire::{dialects, internal, rules::Constraint, Dialect};

/// What `--dialect` calls every dialect.
pub(crate) const ALL: &str = "all";
/// What is judged by if nothing is said: by `check`, and by `matrix`.
pub(crate) const ORDINARY: &str = "ordinary";
pub(crate) const APIS: &str = "apis";
const STRICT: &str = "strict";
/// The profiles there are.
pub(crate) const PROFILES: [&str; 4] = [ORDINARY, STRICT, APIS, ALL];

/// What a dialect is in the profiles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// What other people's clients send a server's tools to, as the server wrote them.
    Ordinary,
    /// The model is held to the schema, which has to be written for it.
    Strict,
    /// No client sends a server's schema there as it is.
    Converted,
}

/// What each dialect is. Of 166 real MCP servers, 140 are taken by all that are ordinary.
const MODES: [(&str, Mode); 36] = [
    ("codex", Mode::Converted),
    ("codex-wire", Mode::Converted),
    ("openai-responses", Mode::Ordinary),
    ("openai-chat", Mode::Ordinary),
    ("openai-strict", Mode::Strict),
    ("azure-strict", Mode::Strict),
    // No API: what six of them have in common.
    ("portable", Mode::Converted),
    ("anthropic", Mode::Ordinary),
    ("anthropic-strict", Mode::Strict),
    // The Schema message is not JSON Schema: every client converts, or takes the other member.
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
    // Its one mode compiles every schema: no `format`, no `pattern`.
    ("cerebras", Mode::Strict),
    ("cerebras-strict", Mode::Strict),
    ("fireworks", Mode::Ordinary),
    ("cohere", Mode::Ordinary),
    ("cohere-strict", Mode::Strict),
    ("llama-cpp", Mode::Ordinary),
    ("ollama", Mode::Ordinary),
    // Schemas become a grammar only where `tool_choice` asks for it.
    ("vllm", Mode::Strict),
    ("sglang", Mode::Ordinary),
    // A client, and the one that leaves out tools before any API sees them.
    ("vscode", Mode::Ordinary),
    ("mcp-typescript", Mode::Ordinary),
    ("claude-desktop", Mode::Ordinary),
];

/// What the ordinary profile does not hold against a tool. VS Code's builds differ about drafts after 7, and 2020-12 is
/// what MCP itself names.
const PASSED: [(&str, Constraint); 1] = [("vscode", Constraint::UnknownDraft)];

/// Whether a profile looks past what a dialect says.
pub(crate) fn passes(profile: Option<&str>, dialect: &Dialect, rule: &str) -> bool {
    let is_passed = |(name, passed): &(&str, Constraint)| *name == dialect.name && passed.id() == rule;
    profile == Some(ORDINARY) && PASSED.iter().any(is_passed)
}

/// A choice of dialects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'a> {
    Profile(&'a str),
    Dialects(&'a [String]),
}

impl Choice<'_> {
    /// The dialects: of a profile in the order of the documentation, otherwise as they are named.
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

/// The dialects of these names, in their order.
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
