//! Cohere: Chat v2, tools with and without `strict_tools`.

use super::{
    grammar::{Grammar, Inlining, ObjectRule, PatternRule, Recursion, RefRule, RequiredRule},
    surface::{Budget, Counted, NamePattern, StrictFlag, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::Grade,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const DOCUMENTATION: &str = "Cohere, structured outputs, unsupported schema features (cohere-developer-experience@\
    c7266e6e); no recorded answer refuses one of these features";

const NAMES: NamePattern =
    NamePattern { also: Some("_"), letter_first: true, min_length: 1, max_length: usize::MAX, rules: None };

const NAMES_FACT: Fact = Fact {
    statement: "tool names match `^[a-zA-Z_][a-zA-Z0-9_]*$`",
    confidence: Grade::A,
    source: "Cohere, API reference, tools (repeated in Oracle's SDK): valid names contain only the characters a-z, \
        A-Z, 0-9 and _, and must not begin with a digit",
    rules: &[Constraint::ToolName],
    ..Fact::REFUSED
};

const GRAMMAR: Grammar = Grammar { metaschema: true, ..Grammar::OPEN };

pub(super) const COHERE: Dialect = Dialect {
    name: "cohere",
    surface: "Cohere Chat v2, function tools without `strict_tools`",
    documentation: "https://docs.cohere.com/docs/structured-outputs",
    as_of: "2026-11-21",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "every keyword of JSON Schema is accepted; the root is an object",
            confidence: Grade::A,
            source: "Cohere, structured outputs, table of parameter types: non-strict tools; recorded answers of \
                    api.cohere.com",
            rules: &[Constraint::RootObject, Constraint::RootNotSchema],
            ..Fact::REFUSED
        },
        NAMES_FACT,
        VALID,
    ],
    unverified: &["maximum length of a tool name"],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NAMES,
        requests: super::requests::COHERE,
        ..Surface::PLAIN
    },
};

const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[
        Keyword::AllOf,
        Keyword::OneOf,
        Keyword::Not,
        Keyword::UniqueItems,
        Keyword::Minimum,
        Keyword::Maximum,
        Keyword::ExclusiveMinimum,
        Keyword::ExclusiveMaximum,
        Keyword::MinItems,
        Keyword::MaxItems,
        Keyword::MinLength,
        Keyword::MaxLength,
    ]),
    refs: RefRule {
        anywhere: false,
        to_root: false,
        recursion: Recursion::Refused,
        inlining: Inlining::All,
        ..RefRule::OPEN
    },
    objects: ObjectRule { required: RequiredRule::One, ..ObjectRule::OPEN },
    patterns: PatternRule::Unanchored,
    formats: Some(&[("string", &["date-time", "uuid", "date", "time"])]),
    metaschema: true,
    ..Grammar::OPEN
};

pub(super) const STRICT: Dialect = Dialect {
    name: "cohere-strict",
    surface: "Cohere Chat v2, function tools with `strict_tools: true`",
    documentation: "https://docs.cohere.com/docs/structured-outputs",
    as_of: "2026-11-23",
    revision: 1,
    options: &["untyped", "hints", "maxNodes"],
    encodes: &[
        "if no property is required, one becomes required, and null means absent",
        "an object without properties gets the property `none`",
    ],
    limits: &[],
    facts: &[
        Fact {
            statement: "the root is an object",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::RootObject, Constraint::RootNotSchema],
            ..Fact::REFUSED
        },
        Fact {
            statement: "every object has at least one required property or an `additionalProperties` schema",
            confidence: Grade::A,
            source:
                "Cohere, structured outputs: every object must have at least one required field; you must specify at \
                least one required parameter; `additionalProperties` is supported",
            rules: &[Constraint::NotRequired],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `allOf`, `oneOf`, `not`, `uniqueItems`, or bounds of numbers, item counts or lengths",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` has no `^` or `$`, and no lookaround",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::Pattern, Constraint::PatternAnchors],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`format` is one of `date-time`, `uuid`, `date` and `time`",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::Format],
            ..Fact::REFUSED
        },
        Fact {
            statement: "references point to `$defs` or `definitions`; recursion is not mentioned",
            confidence: Grade::C,
            source: "Cohere, structured outputs, table of parameter types: `$ref` and `$def` are supported",
            rules: &[Constraint::RefForm, Constraint::RefTarget, Constraint::Recursion],
            ..Fact::REFUSED
        },
        Fact {
            statement: "all tools of a request together have at most 200 properties",
            confidence: Grade::A,
            source: "Cohere, structured outputs: a maximum of 200 fields across all tools in a single call",
            rules: &[Constraint::TooManyStrictProperties],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`strict_tools: true` applies to the whole request, not to single tools, so the caller sets it",
            confidence: Grade::A,
            source: "Cohere, API reference, Chat v2",
            ..Fact::REFUSED
        },
        NAMES_FACT,
        VALID,
    ],
    unverified: &[
        "`strict_tools` is experimental, and older documentation does not list Command A among the supported models",
        "whether a pattern must match the whole string; `^x$` is sent as `x`, and `x` unchanged",
        "`const` of objects and arrays: documented for scalars only",
        "maximum length of a tool name",
    ],
    method: Method::Rules(&STRICT_GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NAMES,
        strict: StrictFlag::Request("strict_tools"),
        budgets: &[Budget { counts: Counted::Properties, limit: 200 }],
        requests: super::requests::COHERE,
        ..Surface::PLAIN
    },
};
