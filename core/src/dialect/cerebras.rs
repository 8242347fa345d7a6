//! Cerebras: Chat Completions, tools whose arguments are decoded under constraints.

use super::{
    grammar::{EnumRule, Grammar, Recursion, RefRule},
    surface::{NamePattern, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const DOCUMENTATION: &str = "Cerebras, structured outputs, limitations";

const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::Pattern, Keyword::Format]),
    refs: RefRule { recursion: Recursion::Refused, ..RefRule::OPEN },
    enums: EnumRule { most: 500, ..EnumRule::OPEN },
    true_items: false,
    array_items: false,
    metaschema: true,
    ..Grammar::OPEN
};

pub(super) const CEREBRAS: Dialect = Dialect {
    name: "cerebras",
    surface: "Cerebras Chat Completions, function tools",
    documentation: "https://inference-docs.cerebras.ai/capabilities/structured-outputs",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes", "maxBytes"],
    encodes: &[],
    limits: &[("maxBytes", 5_000), ("propertyDepth", 10), ("properties", 500), ("enumValues", 500)],
    facts: &[
        Fact {
            statement: "at most 5,000 characters, 10 levels and 500 properties",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::TooManyBytes, Constraint::TooDeep, Constraint::TooManyProperties],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no recursion",
            confidence: 'A',
            source: "live: `Recursive JSON schemas are not currently supported`",
            rules: &[Constraint::Recursion, Constraint::RefTarget],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `pattern` and `format`",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "at most 500 values in an `enum`",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::EnumTooLong],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `items: true`",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::OpenItems],
            ..Fact::REFUSED
        },
        Fact::accepts_strict("recorded answers: 11 exchanges with it were answered 200"),
        VALID,
    ],
    unverified: &[
        "lists of types: older documentation refuses them",
        "whether every property has to be required: documented for strict mode only",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern::OPENAI,
        requests: super::requests::CEREBRAS,
        ..Surface::PLAIN
    },
};
