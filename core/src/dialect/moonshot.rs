//! Moonshot (Kimi): Moonshot-flavored JSON Schema. The authorities are Moonshot's own open validator, walle, at its
//! level "strict", and the live API's check of the root.

use super::{
    grammar::{AnyEncoding, AnyOfRule, EnumRule, Grammar, Inlining, Recursion, RefRule, TypeListRule},
    name_rules::NameRule,
    requests,
    surface::{NamePattern, StrictFlag, Surface},
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::{Constraint, Rule},
    schema::keyword::{Keyword, Keywords},
};

const WALLE: &str = "MoonshotAI/walle, the validator of the API, level strict";
const API: &str = "Moonshot's documentation of Chat Completions, tools";

const FACTS: &[Fact] = &[
    Fact {
        statement: "the root must have `type: \"object\"`",
        confidence: Grade::A,
        source: "live: `tools.function.parameters.type is required and must be \"object\"`",
        rules: &[Constraint::RootObject, Constraint::RootNotSchema],
        ..Fact::REFUSED
    },
    Fact {
        statement: "no `type` next to `anyOf` or `$ref`; no keyword both next to `anyOf` and in a branch",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `when using anyOf, type should be defined \
            in anyOf items instead of the parent schema`, `conflicting keywords found after $ref expansion`",
        rules: &[
            Constraint::TypeBesideAnyOf,
            Constraint::TypeBesideRef,
            Constraint::AnyOfShared,
            Constraint::RefShared,
            Constraint::RefAnyOf,
        ],
        explains: &[Rule::FlattenRootUnion],
        ..Fact::REFUSED
    },
    Fact {
        statement: "`anyOf` is a list of 1 to 500 schemas",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `anyOf must have 1-500 items`",
        rules: &[Constraint::AnyOfSize, Constraint::CombinatorNotList],
        ..Fact::REFUSED
    },
    Fact {
        statement: "every property has a `type`: the documentation requires it, the validator only next to `enum`",
        confidence: Grade::A,
        source: "Moonshot's documentation of Chat Completions, tools; MoonshotAI/walle: `type is not defined`",
        rules: &[],
        explains: &[Rule::InferType, Rule::AssumeString, Rule::OpenMap],
        ..Fact::REFUSED
    },
    Fact {
        statement: "`enum` has 1 to 1,000 values, and a `type` that all of them match",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `enum array cannot have more than 1000 \
            items`, `type is not defined`",
        rules: &[
            Constraint::EnumNotList,
            Constraint::EnumEmpty,
            Constraint::EnumTooLong,
            Constraint::EnumWithoutType,
            Constraint::EnumTypeList,
            Constraint::EnumValue,
            Constraint::UnknownType,
            Constraint::NumberRange,
        ],
        ..Fact::REFUSED
    },
    Fact {
        statement: "null is first in the `type` of an `enum` of numbers that contains null",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `not a valid number`",
        rules: &[Constraint::EnumNullFirst],
        ..Fact::REFUSED
    },
    Fact {
        statement: "only `description` and `title` next to a list of several types",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `keyword minItems is not allowed in \
            combination with multiple types`",
        rules: &[Constraint::BesideTypeList],
        ..Fact::REFUSED
    },
    Fact {
        statement: "property schemas, `items` and definitions are objects: no booleans, no tuples in `items`",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `items must be an object`",
        rules: &[
            Constraint::PropertiesNotObject,
            Constraint::NotASchema,
            Constraint::ArrayItems,
            Constraint::ItemsNotSchema,
            Constraint::AdditionalPropertiesNotSchema,
            Constraint::NotAString,
            Constraint::DefsNotObject,
        ],
        ..Fact::REFUSED
    },
    Fact {
        statement: "`required` names only properties of the same schema",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `required property 'x' is not defined in \
            properties`",
        rules: &[Constraint::RequiredNotStrings, Constraint::RequiredUnknown],
        ..Fact::REFUSED
    },
    Fact {
        statement: "`$ref` is `#` or `#/$defs/name`, resolved without decoding escapes, and recursion must be able to \
            end",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `references must start with #/$defs/`, \
            `$defs not found for reference`",
        rules: &[
            Constraint::DefinitionName,
            Constraint::SlashInDefinition,
            Constraint::RefNotString,
            Constraint::RefForm,
            Constraint::RefTarget,
            Constraint::RefPlace,
            Constraint::EndlessRecursion,
        ],
        ..Fact::REFUSED
    },
    Fact {
        statement: "the documentation asks for inlined references; the validator accepts `#` and `#/$defs/name`",
        confidence: Grade::A,
        source: "Moonshot's documentation of Chat Completions, tools; MoonshotAI/walle, level strict",
        rules: &[],
        explains: &[Rule::InlineRef],
        ..Fact::REFUSED
    },
    Fact {
        statement: "properties may not be named `$defs`, `$ref`, `anyOf`, `required` or `additionalProperties`",
        confidence: Grade::A,
        source: "MoonshotAI/walle, the validator of the API, level strict: `property name '$ref' is reserved for JSON \
            Schema keywords`",
        rules: &[Constraint::ReservedName, Constraint::BracesInName],
        ..Fact::REFUSED
    },
    Fact {
        statement: "at most 120,000 bytes (`<`, `>` and `&` count six each), 30 levels of `properties`, 3,000 \
            properties",
        confidence: Grade::A,
        source: WALLE,
        rules: &[Constraint::TooManyBytes, Constraint::TooDeep, Constraint::TooManyProperties],
        ..Fact::REFUSED
    },
    Fact {
        statement: "a list of all six types accepts any value, and is a `type`, which the documentation requires",
        confidence: Grade::B,
        source: "the validator accepts it at every level; no recorded live request shows it",
        rules: &[],
        explains: &[Rule::ExpandAny],
        ..Fact::REFUSED
    },
    Fact {
        statement: "tool names match `^[a-zA-Z_][a-zA-Z0-9_-]{2,63}$`",
        confidence: Grade::A,
        source: API,
        rules: &[Constraint::ToolName],
        ..Fact::REFUSED
    },
    Fact {
        statement: "tool names match `^[a-zA-Z_][a-zA-Z0-9_-]{2,63}$`; with Kimi K3, 1 to 256 characters",
        confidence: Grade::A,
        source: "MoonshotAI/walle; for K3, Kimi-Vendor-Verifier, test_dynamic_tools.py",
        rules: &[Constraint::ToolName],
        ..Fact::REFUSED
    },
    Fact {
        statement: "at most 128 tools in a request",
        confidence: Grade::A,
        source: API,
        rules: &[Constraint::TooManyTools],
        ..Fact::REFUSED
    },
    Fact {
        statement: "`function.strict` defaults to true, so it is written out",
        confidence: Grade::A,
        source: "MoonshotAI/walle and the API's documentation of `function.strict`",
        rules: &[Constraint::StrictFlag],
        severity: Severity::Reinterpreted,
        ..Fact::REFUSED
    },
];

const TOOLS: Surface = Surface {
    format: ToolFormat::OpenaiChat,
    names: NamePattern { also: Some("_-"), letter_first: true, min_length: 3, max_length: 64, rules: None },
    strict: StrictFlag::True,
    max_tools: Some(128),
    names_by_model: &[(
        "kimi-k3",
        NamePattern { also: Some("_-"), letter_first: true, min_length: 1, max_length: 256, rules: None },
    )],
    requests: requests::MOONSHOT,
    ..Surface::PLAIN
};

pub(super) const MOONSHOT: Dialect = Dialect {
    name: "moonshot",
    surface: "Moonshot AI (Kimi), Chat Completions tools: Moonshot-flavored JSON Schema",
    documentation: "https://github.com/MoonshotAI/walle",
    as_of: "2026-11-01",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxBytes", "maxNodes"],
    encodes: &["reserved property names are renamed"],
    limits: &[
        ("maxBytes", 120_000),
        ("propertyDepth", 30),
        ("properties", 3_000),
        ("enumValues", 1_000),
        ("anyOfBranches", 500),
    ],
    facts: FACTS,
    unverified: &[
        "`type` next to `anyOf` with Kimi K3: one reporter saw it accepted, another refused; the validator refuses it",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: TOOLS,
};

pub(super) const GRAMMAR: Grammar = Grammar {
    // The documentation requires a type everywhere and inlined references; the validator enforces neither.
    accept_unchanged: false,
    anything: AnyEncoding::TypeList,
    through: Keywords::of(&[
        Keyword::Defs,
        Keyword::Properties,
        Keyword::Items,
        Keyword::AdditionalProperties,
        Keyword::AnyOf,
    ]),
    refs: RefRule {
        anywhere: false,
        to_defs: true,
        to_definitions: false,
        to_root: true,
        takes_other_forms: false,
        to_true: false,
        escapes: false,
        inlining: Inlining::Small,
        beside: Keywords::of(&[Keyword::Description, Keyword::Title]),
        nothing_else_beside: false,
        no_type_beside: true,
        no_shared_keywords: true,
        recursion: Recursion::MustEnd,
        no_left_recursion: false,
        not_directly_under: Keywords::of(&[
            Keyword::Not,
            Keyword::If,
            Keyword::Contains,
            Keyword::PropertyNames,
            Keyword::PatternProperties,
            Keyword::DependentSchemas,
        ]),
        only_under: Some(Keywords::of(&[
            Keyword::Properties,
            Keyword::Items,
            Keyword::AdditionalProperties,
            Keyword::AnyOf,
        ])),
        unjudged_under: Keywords::of(&[Keyword::Defs]),
        no_slash_in_definitions: true,
        plain_pointers: false,
    },
    beside_type_list: Some(TypeListRule {
        anywhere: Keywords::of(&[Keyword::Description, Keyword::Title]),
        at_root: Keywords::of(&[Keyword::Defs, Keyword::Id]),
    }),
    enums: EnumRule {
        needs_type: true,
        nullable_scalar_only: true,
        null_first: true,
        max_values: 1_000,
        ..EnumRule::OPEN
    },
    any_of: AnyOfRule { no_type_beside: true, no_shared_keywords: true, max_branches: 500, ..AnyOfRule::OPEN },
    required_is_known: true,
    boolean_schemas: false,
    array_items: false,
    strings: Keywords::of(&[Keyword::Description, Keyword::Pattern, Keyword::Id]),
    nullable_strings: Keywords::of(&[Keyword::Pattern, Keyword::Id]),
    names: NameRule {
        reserved: &["$defs", "$ref", "anyOf", "required", "additionalProperties"],
        no_braces: true,
        ..NameRule::OPEN
    },
    opaque: Keywords::of(&[
        Keyword::OneOf,
        Keyword::AllOf,
        Keyword::Not,
        Keyword::If,
        Keyword::Then,
        Keyword::Else,
        Keyword::PrefixItems,
        Keyword::PatternProperties,
        Keyword::DependentSchemas,
        Keyword::Contains,
        Keyword::PropertyNames,
        Keyword::UnevaluatedItems,
        Keyword::UnevaluatedProperties,
    ]),
    finite_numbers: true,
    // The validator measures the output of Go's `json.Marshal`, which escapes characters for HTML and JavaScript.
    escaped_chars: &['<', '>', '&', '\u{2028}', '\u{2029}'],
    ..Grammar::OPEN
};
