//! Fireworks: Chat Completions, function tools.

use super::{
    grammar::{AnyEncoding, Grammar, RefRule, TypeRequirement},
    surface::{NamePattern, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{options::ToolFormat, report::Grade, rules::Constraint, schema::keyword::Keywords};

const GRAMMAR: Grammar = Grammar {
    typed: TypeRequirement::TypeOrUnion,
    anything: AnyEncoding::Union,
    refs: RefRule { anywhere: false, to_definitions: false, beside: Keywords::NONE, ..RefRule::OPEN },
    metaschema: true,
    ..Grammar::OPEN
};

pub(super) const FIREWORKS: Dialect = Dialect {
    name: "fireworks",
    surface: "Fireworks Chat Completions, function tools",
    documentation: "https://docs.fireworks.ai/guides/function-calling",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "every schema has `type`, `anyOf` or `$ref`",
            confidence: Grade::B,
            source: "live: `JSON Schema not supported: could not understand the instance {'description': …}` \
                (docker/mcp-gateway#234)",
            rules: &[Constraint::Untyped],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`$ref` has no sibling keywords",
            confidence: Grade::B,
            source: "live: `JSON Schema not supported: keyword(s) ['default'] not allowed at the same level as $ref`",
            rules: &[Constraint::BesideRef],
            ..Fact::REFUSED
        },
        Fact {
            statement: "references point to `$defs`; `definitions` is ignored",
            confidence: Grade::B,
            source: "litellm#26692",
            rules: &[Constraint::RefForm, Constraint::RefTarget],
            ..Fact::REFUSED
        },
        VALID,
    ],
    unverified: &["keywords that no fact mentions: no report either way"],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern::OPENAI,
        requests: super::requests::FIREWORKS,
        ..Surface::PLAIN
    },
};
