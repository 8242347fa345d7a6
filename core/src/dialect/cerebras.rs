//! Cerebras: Chat Completions, tools whose arguments are decoded under constraints.

use super::{
    grammar::{AnyOfRule, EnumRule, Grammar, Recursion, RefRule},
    openai,
    surface::{NamePattern, StrictFlag, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const DOCUMENTATION: &str = "Cerebras, structured outputs, limitations";

const STRINGS: Keywords = Keywords::of(&[Keyword::Pattern, Keyword::Format]);

const GRAMMAR: Grammar = Grammar {
    refuses: STRINGS,
    refs: RefRule { recursion: Recursion::Refused, ..RefRule::OPEN },
    enums: EnumRule { most: 500, ..EnumRule::OPEN },
    true_items: false,
    array_items: false,
    metaschema: true,
    ..Grammar::OPEN
};

const LIMITS: Fact = Fact {
    statement: "at most 5,000 characters, 10 levels and 500 properties",
    confidence: 'A',
    source: DOCUMENTATION,
    rules: &[Constraint::TooManyBytes, Constraint::TooDeep, Constraint::TooManyProperties],
    ..Fact::REFUSED
};
const RECURSION: Fact = Fact {
    statement: "no recursion",
    confidence: 'A',
    source: "live: `Recursive JSON schemas are not currently supported`",
    rules: &[Constraint::Recursion, Constraint::RefTarget],
    ..Fact::REFUSED
};
const TEXT: Fact = Fact {
    statement: "no `pattern` or `format`",
    confidence: 'A',
    source: DOCUMENTATION,
    rules: &[Constraint::RefusedKeyword],
    keywords: STRINGS,
    ..Fact::REFUSED
};
const VALUES: Fact = Fact {
    statement: "at most 500 values in an `enum`",
    confidence: 'A',
    source: DOCUMENTATION,
    rules: &[Constraint::EnumTooLong],
    ..Fact::REFUSED
};
const OPEN_ITEMS: Fact = Fact {
    statement: "no `items: true`",
    confidence: 'A',
    source: DOCUMENTATION,
    rules: &[Constraint::OpenItems],
    ..Fact::REFUSED
};

const TOOLS: Surface = Surface {
    format: ToolFormat::OpenaiChat,
    names: NamePattern::OPENAI,
    requests: super::requests::CEREBRAS,
    ..Surface::PLAIN
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
        LIMITS,
        RECURSION,
        TEXT,
        VALUES,
        OPEN_ITEMS,
        Fact::accepts_strict("recorded answers: 11 exchanges with it were answered 200"),
        VALID,
    ],
    unverified: &[
        "lists of types: older documentation refuses them",
        "whether every property has to be required: documented for strict mode only",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: TOOLS,
};

/// Counts of items, which strict mode does not take.
const ITEM_COUNTS: Keywords = Keywords::of(&[Keyword::MinItems, Keyword::MaxItems]);

const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: openai::STRICT_GRAMMAR.refuses.union(STRINGS).union(ITEM_COUNTS),
    ignores: Keywords::NONE,
    any_of: AnyOfRule::OPEN,
    formats: None,
    refs: RefRule { nothing_else_beside: false, recursion: Recursion::Refused, ..openai::STRICT_GRAMMAR.refs },
    enums: EnumRule { most: 500, ..openai::STRICT_GRAMMAR.enums },
    true_items: false,
    ..openai::STRICT_GRAMMAR
};

pub(super) const STRICT: Dialect = Dialect {
    name: "cerebras-strict",
    surface: "Cerebras Chat Completions, function tools with `strict: true`",
    as_of: "2026-11-27",
    encodes: openai::STRICT.encodes,
    facts: &[
        Fact {
            statement: "every object has `additionalProperties: false`",
            confidence: 'A',
            source: "live, formats: `'additionalProperties' is required to be supplied and set to false.`, 422 \
                (agno#6013, 2026-01)",
            rules: &[Constraint::ObjectNotClosed],
            ..Fact::REFUSED
        },
        Fact {
            statement: "every property is required",
            confidence: 'B',
            source: DOCUMENTATION,
            rules: &[Constraint::NotRequired, Constraint::RequiredUnknown],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `minItems` or `maxItems`",
            confidence: 'B',
            source: "live: `Unsupported JSON schema fields: {'minItems', 'items'}` (claude-code-router#708, 2025-08)",
            rules: &[Constraint::RefusedKeyword],
            keywords: ITEM_COUNTS,
            ..Fact::REFUSED
        },
        LIMITS,
        RECURSION,
        TEXT,
        VALUES,
        openai::inferred_of_strict(openai::OBJECT),
        openai::inferred_of_strict(openai::ROOT),
        openai::inferred_of_strict(openai::STRICT_KEYWORDS),
        openai::inferred_of_strict(openai::STRICT_META_KEYWORDS),
        openai::inferred_of_strict(openai::STRICT_TYPED),
        openai::inferred_of_strict(openai::STRICT_REFS),
        openai::inferred_of_strict(openai::ITEMS),
        openai::inferred_of_strict(openai::ENUM),
        VALID,
    ],
    unverified: &[
        "tools: a gateway reports the same 422 for open ones (llmgateway#1455, 2026-01); recorded ones of 2025 that \
            were open or had optional properties were answered 200",
        "lists of types: older documentation refuses them",
        "bounds of numbers and lengths of strings: recorded tools with `minimum` were answered 200",
        "more than five branches in an `anyOf`: older documentation refuses them",
    ],
    method: Method::Rules(&STRICT_GRAMMAR),
    // No other dialect for what does not fit: the limit of bytes is the same there.
    tools: Surface { strict: StrictFlag::True, ..TOOLS },
    ..CEREBRAS
};
