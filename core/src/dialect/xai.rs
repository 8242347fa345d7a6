//! xAI (Grok): tools are always strict, whatever `strict` says.

use super::{
    grammar::{EnumRule, Grammar, ObjectRule, OpenRule, PatternRule, Recursion, RefRule},
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

const DOCUMENTATION: &str = "xAI, structured outputs, supported schemas";

const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::MinContains, Keyword::MaxContains]),
    refs: RefRule { recursion: Recursion::Refused, ..RefRule::OPEN },
    enums: EnumRule { without: Some('/'), ..EnumRule::OPEN },
    objects: ObjectRule { open: OpenRule::ClosedByDefault, ..ObjectRule::OPEN },
    patterns: PatternRule::Regular,
    boolean_schemas: false,
    array_items: false,
    ..Grammar::OPEN
};

pub(super) const XAI: Dialect = Dialect {
    name: "xai",
    surface: "xAI (Grok), Chat Completions and Responses, function tools",
    documentation: "https://docs.x.ai/docs/guides/structured-outputs",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "an object without `additionalProperties` is closed, so an open one says `true`",
            confidence: 'A',
            source: "xAI, structured outputs; recorded answers: 17 of 17 accepted schemas do not say it",
            rules: &[Constraint::ObjectOpenness],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "no recursion",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::Recursion, Constraint::RefTarget],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `minContains` and `maxContains`",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "properties are objects, not booleans, and tuples are spelled `prefixItems`",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::NotASchema, Constraint::ArrayItems, Constraint::ItemsNotSchema],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` has no backreference, `\\p{…}`, `\\b`, lookaround and inline flags",
            confidence: 'A',
            source: DOCUMENTATION,
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "values of `enum` do not hold `/`",
            confidence: 'B',
            source: "live: `Invalid arguments passed to the model` (hermes-agent removes such values)",
            rules: &[Constraint::EnumKind],
            ..Fact::REFUSED
        },
        Fact {
            statement: "on Responses a tool may leave `strict` out",
            confidence: 'A',
            source: "recorded answers: 5 lists without it were answered 200",
            rules: &[Constraint::StrictFlag],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        WELL_FORMED,
    ],
    unverified: &[
        "values of `enum` with a `/`: one report of a refusal",
        "formats other than the eight documented ones: accepted, and not enforced",
        "`not`, `if` and several branches of `allOf`: accepted, and enforced as far as it goes",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern::OPENAI,
        tools_most: Some(128),
        ..Surface::PLAIN
    },
};
