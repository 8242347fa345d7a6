//! Mistral: Chat, function tools.

use super::{
    grammar::Grammar,
    surface::{NamePattern, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const GRAMMAR: Grammar = Grammar { refuses: Keywords::of(&[Keyword::Id, Keyword::Schema]), ..Grammar::OPEN };

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
            statement: "no `$id` and `$schema`",
            confidence: 'B',
            source: "LiteLLM removes them for this provider, whose grammar does not take them",
            rules: &[Constraint::RefusedKeyword],
        },
        WELL_FORMED,
    ],
    unverified: &[
        "`$ref`: others advise to inline it, without an error",
        "`additionalProperties: false`: some clients take it out",
        "every other keyword: no report either way",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface { format: ToolFormat::OpenaiChat, names: NamePattern::OPENAI, ..Surface::PLAIN },
};
