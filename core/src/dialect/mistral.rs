//! Mistral: Chat, function tools.

use super::{
    grammar::Grammar,
    surface::{NamePattern, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::Id]),
    ignores: Keywords::of(&[Keyword::Schema]),
    metaschema: true,
    empty_root: true,
    ..Grammar::OPEN
};

pub(super) const MISTRAL: Dialect = Dialect {
    name: "mistral",
    surface: "Mistral Chat Completions, function tools",
    documentation: "https://docs.mistral.ai/capabilities/function_calling",
    as_of: "2026-11-28",
    revision: 2,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "no `$id`",
            confidence: Grade::C,
            source: "LiteLLM removes it for this provider; no answer of the API is known",
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`$schema` is accepted, and has no effect",
            confidence: Grade::B,
            source: "recorded answers: 2 of 2 requests with it were answered 200 (LiteLLM removes it)",
            rules: &[Constraint::IgnoredKeyword],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "`parameters: {}` is accepted",
            confidence: Grade::A,
            source: "recorded answers: 30 requests of mistral-small-2506 were answered 200 \
                (braintrust-sdk-javascript@ce2a2d4d, 2026-07-21)",
            rules: &[],
            ..Fact::REFUSED
        },
        Fact::accepts_strict("recorded answers: 266 exchanges with `strict: true` were answered 200"),
        Fact {
            statement: "every keyword value is valid against the 2020-12 meta-schema",
            confidence: Grade::B,
            rules: &[Constraint::KeywordValue],
            source: "live: `Invalid tool schema: {… 'exclusiveMinimum': True, 'minimum': 0 …} is not valid under \
                any of the given schemas` (SylphxAI/pdf-reader-mcp#63)",
            ..Fact::REFUSED
        },
        VALID,
    ],
    unverified: &[
        "`$ref`: others advise inlining it, and quote no error",
        "`additionalProperties: false`: some clients remove it",
        "every other keyword: no report either way",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern::OPENAI,
        requests: super::requests::MISTRAL,
        ..Surface::PLAIN
    },
};
