//! DeepSeek: Chat Completions, tools that are not strict and strict tools (`/beta`).

use super::{
    grammar::{
        AnyEncoding, AnyOfRule, ArrayRule, EnumRule, Grammar, Inlining, ObjectRule, OpenRule, PropertiesRule, RefRule,
        RequiredRule, TypeLists, TypeRequirement,
    },
    requests,
    surface::{NamePattern, StrictFlag, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::Grade,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const OBJECT: Fact = Fact {
    statement: "the root has `type: \"object\"`",
    confidence: Grade::B,
    source: "live: ``schema must be a JSON Schema of `type: \"object\"` ``",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    ..Fact::REFUSED
};
const TYPED: Fact = Fact {
    statement: "every schema has `type`, `anyOf` or `$ref`: no `{}`, no booleans, no `enum` alone or with values of \
        another type",
    confidence: Grade::B,
    source: "live: ``Invalid tool parameters schema : field `anyOf`: one of `type`, `anyOf`, `$ref` field is \
        required``",
    rules: &[
        Constraint::Untyped,
        Constraint::NotASchema,
        Constraint::EnumWithoutType,
        Constraint::EnumValue,
        Constraint::ItemsNotSchema,
    ],
    ..Fact::REFUSED
};
const ONE_OF: Fact = Fact {
    statement: "no `oneOf`",
    confidence: Grade::B,
    source: "openclaw writes `anyOf` for this provider",
    rules: &[Constraint::RefusedKeyword],
    keywords: Keywords::of(&[Keyword::OneOf]),
    ..Fact::REFUSED
};

const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::OneOf]),
    typed: TypeRequirement::TypeOrUnion,
    anything: AnyEncoding::Union,
    enums: EnumRule { needs_type: true, ..EnumRule::OPEN },
    boolean_schemas: false,
    array_items: false,
    metaschema: true,
    ..Grammar::OPEN
};

const TOOLS: Surface = Surface {
    format: ToolFormat::OpenaiChat,
    names: NamePattern::OPENAI,
    max_tools: Some(128),
    requests: requests::DEEPSEEK,
    has_namespaces: true,
    ..Surface::PLAIN
};

pub(super) const DEEPSEEK: Dialect = Dialect {
    name: "deepseek",
    surface: "DeepSeek Chat Completions, non-strict tools",
    documentation: "https://api-docs.deepseek.com/guides/tool_calls",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        OBJECT,
        TYPED,
        ONE_OF,
        Fact::accepts_strict("recorded answers: 46 exchanges with `strict: true` were answered 200"),
        VALID,
    ],
    unverified: &["keywords that no fact mentions: no report either way"],
    method: Method::Rules(&GRAMMAR),
    tools: TOOLS,
};

const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[
        Keyword::OneOf,
        Keyword::AllOf,
        Keyword::MinLength,
        Keyword::MaxLength,
        Keyword::MinItems,
        Keyword::MaxItems,
        Keyword::PatternProperties,
        Keyword::PrefixItems,
    ]),
    type_lists: TypeLists::Scalars,
    refs: RefRule {
        anywhere: false,
        to_definitions: false,
        not_directly_under: Keywords::of(&[Keyword::AnyOf]),
        inlining: Inlining::All,
        ..RefRule::OPEN
    },
    anything: AnyEncoding::Empty,
    any_of: AnyOfRule { typed_branches: true, ..AnyOfRule::OPEN },
    objects: ObjectRule {
        properties: PropertiesRule::NotEmptyBelowRoot,
        open: OpenRule::MustClose,
        required: RequiredRule::All,
        required_accepts: false,
        maps: false,
        maps_count: false,
    },
    arrays: ArrayRule { needs_items: true, open_items: false, ..ArrayRule::OPEN },
    formats: Some(&[("string", &["email", "hostname", "ipv4", "ipv6", "uuid"])]),
    ..GRAMMAR
};

const STRICT_MODE: Fact = Fact::enforces_strict(Grade::A, "DeepSeek, tool calls, strict mode");

pub(super) const STRICT: Dialect = Dialect {
    name: "deepseek-strict",
    surface: "DeepSeek Chat Completions at `/beta`, tools with `strict: true`",
    documentation: "https://api-docs.deepseek.com/guides/tool_calls",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[
        "optional properties become required, and null means absent",
        "objects with arbitrary keys become lists of key-value pairs",
        "values of any type, and objects or arrays in `enum`, become JSON text",
    ],
    limits: &[],
    facts: &[
        OBJECT,
        TYPED,
        Fact {
            statement: "every object is closed, has at least one property below the root, and requires all its \
                properties",
            confidence: Grade::A,
            source:
                "live: `Required properties must match all properties in the object`; DeepSeek, tool calls, strict \
                mode",
            rules: &[
                Constraint::ObjectNotClosed,
                Constraint::Map,
                Constraint::NotRequired,
                Constraint::ObjectWithoutProperties,
            ],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `oneOf`, `allOf`, `minLength`, `maxLength`, `minItems`, `maxItems`, `patternProperties` or \
                `prefixItems`",
            confidence: Grade::A,
            source: "DeepSeek, tool calls, strict mode; rig-core against the live API",
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "lists of types contain only scalars and null",
            confidence: Grade::A,
            source: "rig-core against the live API: `[\"array\", \"null\"]` is refused",
            rules: &[Constraint::TypeList],
            ..Fact::REFUSED
        },
        Fact {
            statement: "arrays have `items` that constrain the items",
            confidence: Grade::C,
            source: "inferred: constrained decoding needs a type",
            rules: &[Constraint::ArrayWithoutItems, Constraint::OpenItems],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`format` has one of five values",
            confidence: Grade::A,
            source: "DeepSeek, tool calls, strict mode",
            rules: &[Constraint::Format],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a branch of `anyOf` has its own `type`: it is neither a `$ref` nor another `anyOf`",
            confidence: Grade::A,
            source: "rig-core against the live API: ``field `anyOf`: missing field `type` ``; for another `anyOf`, \
                oh-my-pi#2270",
            rules: &[Constraint::RefPlace, Constraint::UntypedBranch],
            ..Fact::REFUSED
        },
        VALID,
        STRICT_MODE,
    ],
    unverified: &["recursion through `anyOf`: documented as refused; here the definition is inlined wherever it is \
        used"],
    method: Method::Rules(&STRICT_GRAMMAR),
    tools: Surface { strict: StrictFlag::True, strict_fact: Some(&STRICT_MODE), not_strict: Some("deepseek"), ..TOOLS },
};
