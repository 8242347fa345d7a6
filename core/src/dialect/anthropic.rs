//! Anthropic: Messages API, strict tools and tools that are not strict.

use super::{
    grammar::{
        ArrayRule, EnumRule, Grammar, Inlining, ObjectRule, OpenRule, PatternRule, PropertiesRule, Recursion, RefRule,
        TypeRequirement,
    },
    name_rules::{NameRule, PropertyPattern},
    requests,
    surface::{Budget, Counted, NamePattern, StrictFlag, Surface},
    well_formed, Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const OBJECT: Fact = Fact {
    statement: "the root has `type: \"object\"`",
    confidence: Grade::A,
    source: "live: `tools.0.custom.input_schema.type: Field required`, `Input should be 'object'`",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    ..Fact::REFUSED
};
pub(super) const ROOT: Fact = Fact {
    statement: "no `anyOf`, `oneOf` or `allOf` at the root; `not` and `if` are accepted there",
    confidence: Grade::A,
    source:
        "live: `input_schema does not support oneOf, allOf, or anyOf at the top level` (claude-code#5319, kata#365)",
    rules: &[Constraint::RootKeyword],
    ..Fact::REFUSED
};
const DANGLING: Fact = Fact {
    statement: "a `$ref` that does not resolve is accepted, and has no effect",
    confidence: Grade::A,
    source:
        "recorded answers: 20 requests with `#/definitions/ASTNode` and `#/$defs/ASTNode`, which do not exist, were \
            answered 200 (dspy.rb)",
    rules: &[Constraint::RefTarget],
    severity: Severity::Ignored,
    ..Fact::REFUSED
};
const NULL_DESCRIPTION: Fact = Fact {
    statement: "a description is a string",
    confidence: Grade::A,
    source: "live: `tools.0.custom.description: Input should be a valid string`",
    rules: &[Constraint::DescriptionNotString],
    ..Fact::REFUSED
};
pub(super) const METASCHEMA: Fact = Fact {
    statement: "the schema is valid against the 2020-12 meta-schema",
    confidence: Grade::A,
    source: "live: `JSON schema is invalid. It must match JSON Schema draft 2020-12`",
    rules: well_formed::METASCHEMA,
    ..Fact::REFUSED
};
pub(super) const PROPERTY_NAMES: Fact = Fact {
    statement: "names of root properties match `^[a-zA-Z0-9_.-]{1,64}$`",
    confidence: Grade::A,
    source: "live: `Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`",
    rules: &[Constraint::PropertyName],
    ..Fact::REFUSED
};
const NAMES: Fact = Fact {
    statement: "tool names match `^[a-zA-Z0-9_-]{1,128}$`",
    confidence: Grade::A,
    source: "live: `tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`",
    rules: &[Constraint::ToolName],
    ..Fact::REFUSED
};

pub(super) const GRAMMAR: Grammar = Grammar {
    root_refuses: Keywords::of(&[Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]),
    metaschema: true,
    array_items: false,
    // Six recorded requests with `{"type": "object"}` were answered 200 (sketch, 2025; rig).
    objects: ObjectRule { properties: PropertiesRule::Unneeded, ..ObjectRule::OPEN },
    names: NameRule {
        shape: Some(PropertyPattern { also: "_.-", first: None, max_length: 64, root_only: true }),
        ..NameRule::OPEN
    },
    ..Grammar::OPEN
};

const TOOLS: Surface = Surface {
    format: ToolFormat::Anthropic,
    names: NamePattern { also: Some("_-"), letter_first: false, min_length: 1, max_length: 128, rules: None },
    no_null_description: true,
    requests: requests::ANTHROPIC,
    ..Surface::PLAIN
};

pub(super) const ANTHROPIC: Dialect = Dialect {
    name: "anthropic",
    surface: "Anthropic Messages API, non-strict tools",
    documentation: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &["root properties whose names the API refuses are renamed"],
    limits: &[],
    facts: &[
        OBJECT,
        ROOT,
        DANGLING,
        METASCHEMA,
        well_formed::ENUM_EMPTY,
        PROPERTY_NAMES,
        NAMES,
        NULL_DESCRIPTION,
        Fact::applies_strict("Anthropic, structured outputs, strict tool use"),
    ],
    unverified: &[
        "`patternProperties` with `^(.*)$`: refused according to one report",
        "names of nested properties: the pattern is reported for root properties",
        "Managed Agents refuse `$ref` anywhere, and are not part of this table",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: TOOLS,
};

/// Constrained decoding supports these formats.
const STRICT_FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

pub(super) const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[
        Keyword::OneOf,
        Keyword::Minimum,
        Keyword::Maximum,
        Keyword::ExclusiveMinimum,
        Keyword::ExclusiveMaximum,
        Keyword::MultipleOf,
        Keyword::MinLength,
        Keyword::MaxLength,
        Keyword::MaxItems,
        Keyword::UniqueItems,
        Keyword::PatternProperties,
        Keyword::PrefixItems,
        Keyword::Not,
    ]),
    typed: TypeRequirement::TypeOrApplicator,
    refs: RefRule {
        recursion: Recursion::Refused,
        not_directly_under: Keywords::of(&[Keyword::AllOf]),
        inlining: Inlining::Small,
        ..RefRule::OPEN
    },
    enums: EnumRule { kinds: &["string", "number", "integer", "boolean", "null"], ..EnumRule::OPEN },
    objects: ObjectRule { open: OpenRule::MustClose, maps: false, ..ObjectRule::OPEN },
    arrays: ArrayRule { open_items: false, ..ArrayRule::OPEN },
    patterns: PatternRule::Regular,
    formats: Some(&[("string", STRICT_FORMATS)]),
    maxima: &[(Keyword::MinItems, 1)],
    boolean_schemas: false,
    ..GRAMMAR
};

const STRICT_MODE: Fact = Fact::enforces_strict(Grade::A, "Anthropic, structured outputs, strict tool use");

pub(super) const STRICT: Dialect = Dialect {
    name: "anthropic-strict",
    surface: "Anthropic Messages API, tools with `strict: true`",
    documentation: "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[
        "objects with arbitrary keys become lists of key-value pairs",
        "values of any type, and objects or arrays in `enum`, become JSON text",
        "root properties whose names the API refuses are renamed",
    ],
    limits: &[],
    facts: &[
        OBJECT,
        ROOT,
        METASCHEMA,
        well_formed::ENUM_EMPTY,
        PROPERTY_NAMES,
        Fact {
            statement: "every object is closed",
            confidence: Grade::A,
            source: "Anthropic, structured outputs: `additionalProperties` must be false",
            rules: &[Constraint::ObjectNotClosed, Constraint::Map],
            ..Fact::REFUSED
        },
        Fact {
            statement:
                "no `oneOf`, `not`, numeric or length bounds, `maxItems`, `uniqueItems`, `patternProperties` or \
                `prefixItems`",
            confidence: Grade::A,
            source: "Anthropic, structured outputs, limitations; the Python SDK moves them into descriptions",
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`minItems` is 0 or 1",
            confidence: Grade::A,
            source: "Anthropic, structured outputs, limitations",
            rules: &[Constraint::KeywordTooLarge],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `$ref` directly in `allOf`",
            confidence: Grade::A,
            source: "Anthropic, structured outputs, limitations: `allOf` with `$ref` is not supported",
            rules: &[Constraint::RefPlace],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no recursion",
            confidence: Grade::A,
            source: "Anthropic, structured outputs, limitations",
            rules: &[Constraint::Recursion],
            ..Fact::REFUSED
        },
        Fact {
            statement: "every schema has `type`, `anyOf`, `allOf`, `enum`, `const` or `$ref`",
            confidence: Grade::A,
            source:
                "live: an `allOf` of a type and an `enum`, and a lone `const`, were answered 200 (recorded by rig, \
                messages_strict_tools); anthropic-sdk-python 2.12.0, transform_schema, raises without any of them",
            rules: &[Constraint::Untyped, Constraint::OpenItems],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`enum` values are strings, numbers, booleans or null",
            confidence: Grade::A,
            source: "Anthropic, structured outputs, limitations",
            rules: &[Constraint::EnumKind],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`format` has one of ten values",
            confidence: Grade::A,
            source: "Anthropic, structured outputs, supported features",
            rules: &[Constraint::Format],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` has no lookaround, backreference or word boundary",
            confidence: Grade::A,
            source: "Anthropic, structured outputs, limitations",
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "one tool has at most about 10 optional properties and 8 unions",
            confidence: Grade::C,
            source:
                "live: `Schema is too complex for compilation` for 24 optional properties, or 16 lists of types, in \
                    one tool; the same numbers in several tools were answered 200 (rig, strict_schema_limits); between \
                    11 and 13 have failed",
            rules: &[Constraint::TooComplex],
            ..Fact::REFUSED
        },
        Fact {
            statement: "at most 20 strict tools, 24 optional properties and 16 unions in a request",
            confidence: Grade::A,
            source: "Anthropic, structured outputs; pydantic-ai, against the live API, counts the same way",
            rules: &[Constraint::TooManyStrictTools, Constraint::TooManyOptionalProperties, Constraint::TooManyUnions],
            ..Fact::REFUSED
        },
        NAMES,
        STRICT_MODE,
    ],
    unverified: &[
        "maximum of `{n,m}` in a `pattern`: documented without a number",
        "the grammar compiler's limit for one tool: no number is known, so this table uses its own",
        "arguments have required properties first, whatever the order in the schema",
    ],
    method: Method::Rules(&STRICT_GRAMMAR),
    tools: Surface {
        strict: StrictFlag::True,
        strict_fact: Some(&STRICT_MODE),
        budgets: &[
            Budget { counts: Counted::Tools, limit: 20 },
            Budget { counts: Counted::OptionalProperties, limit: 24 },
            Budget { counts: Counted::Unions, limit: 16 },
        ],
        tool_budgets: &[
            Budget { counts: Counted::OptionalProperties, limit: 10 },
            Budget { counts: Counted::Unions, limit: 8 },
        ],
        not_strict: Some("anthropic"),
        ..TOOLS
    },
};
