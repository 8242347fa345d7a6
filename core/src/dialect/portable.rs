//! The intersection of the major surfaces that are not strict, for servers that publish one schema and for gateways
//! that fall back from one API to another.

use super::{
    anthropic, deepseek, gemini,
    grammar::{
        AnyEncoding, ArrayRule, EnumRule, Grammar, ObjectRule, PatternRule, PropertiesRule, Recursion, RefRule,
        TypeRequirement,
    },
    mistral, moonshot,
    name_rules::{NameRule, PropertyPattern},
    openai, requests,
    surface::{NamePattern, StrictFlag, Surface},
    Dialect, Fact, Method,
};
use crate::{
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const MEET: &str =
    "the tables of openai-chat, openai-responses, anthropic, gemini-json-schema, moonshot, deepseek and mistral";

const GRAMMAR: Grammar = Grammar {
    accept_unchanged: true,
    root_refuses: Keywords::of(&[Keyword::AnyOf, Keyword::AllOf, Keyword::Enum, Keyword::Not]),
    refuses: Keywords::of(&[Keyword::Const, Keyword::OneOf, Keyword::Id]),
    ignores: Keywords::of(&[Keyword::Schema]),
    metaschema: true,
    typed: TypeRequirement::TypeOrUnion,
    anything: AnyEncoding::Union,
    through: Keywords::ALL,
    refs: RefRule {
        beside: Keywords::NONE,
        nothing_else_beside: true,
        recursion: Recursion::OnlyOptional,
        ..moonshot::GRAMMAR.refs
    },
    enums: EnumRule { kinds: &["string", "number", "integer"], agrees: true, ..moonshot::GRAMMAR.enums },
    objects: ObjectRule { properties: PropertiesRule::AtRoot, ..ObjectRule::OPEN },
    arrays: ArrayRule { needs_items: true, open_items: false, ..ArrayRule::OPEN },
    patterns: PatternRule::Python,
    names: NameRule {
        shape: Some(PropertyPattern { also: "_.-", first: None, max_length: 64, root_only: true }),
        ..moonshot::GRAMMAR.names
    },
    nullable_strings: Keywords::NONE,
    // Moonshot is the only one of the surfaces that checks `required`, and it does not check below these keywords.
    required_is_free_under: moonshot::GRAMMAR.opaque,
    opaque: Keywords::NONE,
    ..moonshot::GRAMMAR
};

pub(super) const PORTABLE: Dialect = Dialect {
    name: "portable",
    surface: "Intersection of OpenAI, Anthropic, Gemini (JSON Schema), Moonshot, DeepSeek and Mistral, non-strict",
    documentation: "https://github.com/MoonshotAI/walle",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxBytes", "maxNodes"],
    encodes: &["property names that one of the APIs refuses are renamed"],
    limits: moonshot::MOONSHOT.limits,
    facts: &[
        Fact {
            statement: "anything that one of the surfaces refuses is refused",
            confidence: Grade::A,
            source: MEET,
            rules: &[],
            restates: &[
                &openai::CHAT,
                &openai::RESPONSES,
                &anthropic::ANTHROPIC,
                &gemini::JSON_SCHEMA,
                &deepseek::DEEPSEEK,
                &mistral::MISTRAL,
                &moonshot::MOONSHOT,
            ],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`const` has no effect on Gemini (JSON Schema); the others accept it",
            confidence: Grade::C,
            source: MEET,
            rules: &[Constraint::RefusedKeyword],
            severity: Severity::Ignored,
            keywords: Keywords::of(&[Keyword::Const]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "`$schema` is accepted by all, and has no effect",
            confidence: Grade::B,
            source: MEET,
            rules: &[Constraint::IgnoredKeyword],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
    ],
    unverified: &["everything that is unverified for one of the combined APIs: see their pages"],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        names: NamePattern { also: Some("_-"), letter_first: true, min_length: 3, max_length: 64, rules: None },
        strict: StrictFlag::Omitted,
        max_tools: Some(128),
        requests: requests::PORTABLE,
        ..Surface::PLAIN
    },
};
