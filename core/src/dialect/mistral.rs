//! Mistral: Chat, function tools.

use super::{
    grammar::Grammar,
    surface::{NamePattern, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::Severity,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const GRAMMAR: Grammar =
    Grammar { refuses: Keywords::of(&[Keyword::Id]), ignores: Keywords::of(&[Keyword::Schema]), ..Grammar::OPEN };

pub(super) const MISTRAL: Dialect = Dialect {
    name: "mistral",
    surface: "Mistral Chat Completions, function tools",
    documentation: "https://docs.mistral.ai/capabilities/function_calling",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "no `$id`",
            confidence: 'C',
            source: "LiteLLM removes it for this provider; no answer of the API is known",
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`$schema` is accepted, and does nothing",
            confidence: 'B',
            source: "recorded answers: 2 of 2 requests with it were answered 200 (LiteLLM removes it)",
            rules: &[Constraint::IgnoredKeyword],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact::accepts_strict("recorded answers: 266 exchanges with it were answered 200"),
        WELL_FORMED,
    ],
    unverified: &[
        "`$ref`: others advise to inline it, without an error",
        "`additionalProperties: false`: some clients remove it",
        "every other keyword: no report either way",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface { format: ToolFormat::OpenaiChat, names: NamePattern::OPENAI, ..Surface::PLAIN },
};
