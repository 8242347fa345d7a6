//! vLLM's server: tools that become a grammar. With `tool_choice: "required"`, all tools do.
//!
//! xgrammar compiles the schemas that pass vLLM's check for unsupported keywords, and llguidance compiles the others.
//! Both compilers were run (xgrammar 0.2.8, llguidance 1.9.1); the source of the check was read.

use super::{
    grammar::{
        AnyOfRule, ArrayRule, Conflict, Effects, EnumRule, Grammar, ObjectRule, OpenRule, PatternRule, Recursion,
        RefRule, TypedKeywords,
    },
    requests,
    surface::{NamePattern, StrictFlag, Surface, WithoutStrict},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const GATE: &str = "vllm-project/vllm, has_xgrammar_unsupported_json_features@030141c1";
const RUN: &str = "run: xgrammar 0.2.8";

/// Keywords that do not constrain instances.
const ANNOTATIONS: Keywords = Keywords::of(&[
    Keyword::Title,
    Keyword::Description,
    Keyword::Default,
    Keyword::Examples,
    Keyword::Comment,
    Keyword::Deprecated,
    Keyword::ReadOnly,
    Keyword::WriteOnly,
    Keyword::Schema,
    Keyword::Defs,
    Keyword::Discriminator,
]);

/// vLLM's check for unsupported keywords refuses these. Each is unknown to llguidance, or ignored by xgrammar.
const CONFLICTS: &[Conflict] = &[
    Conflict::with_types(
        &["array"],
        Keywords::of(&[Keyword::UniqueItems, Keyword::Contains, Keyword::MinContains, Keyword::MaxContains]),
    ),
    Conflict::with_types(&["integer", "number"], Keywords::of(&[Keyword::MultipleOf])),
    Conflict {
        beside: Keywords::of(&[Keyword::Pattern, Keyword::Format]),
        ..Conflict::with_types(&["string"], Keywords::of(&[Keyword::MinLength, Keyword::MaxLength]))
    },
    Conflict {
        beside: Keywords::of(&[Keyword::Properties, Keyword::PatternProperties, Keyword::UnevaluatedProperties]),
        beside_schemas: Keywords::of(&[Keyword::AdditionalProperties]),
        ..Conflict::with_types(&["object"], Keywords::of(&[Keyword::PropertyNames]))
    },
    Conflict {
        beside: Keywords::of(&[Keyword::Properties]),
        several: true,
        ..Conflict::with_types(&["object"], Keywords::of(&[Keyword::PatternProperties]))
    },
];

/// xgrammar reads these only if `type` names the type that they apply to.
const TYPED: &[TypedKeywords] = &[
    TypedKeywords {
        keywords: Keywords::of(&[Keyword::MaxItems, Keyword::MinItems]),
        of_types: &["array"],
        without_types: &[],
        or_beside: Keywords::of(&[Keyword::Items, Keyword::PrefixItems, Keyword::UnevaluatedItems]),
    },
    TypedKeywords {
        keywords: Keywords::of(&[Keyword::UniqueItems, Keyword::Contains, Keyword::MinContains, Keyword::MaxContains]),
        of_types: &["array"],
        without_types: &[],
        or_beside: Keywords::NONE,
    },
    TypedKeywords {
        keywords: Keywords::of(&[Keyword::MaxLength, Keyword::MinLength, Keyword::Pattern]),
        of_types: &["string"],
        without_types: &[],
        or_beside: Keywords::NONE,
    },
    TypedKeywords {
        keywords: Keywords::of(&[
            Keyword::ExclusiveMaximum,
            Keyword::ExclusiveMinimum,
            Keyword::Maximum,
            Keyword::Minimum,
            Keyword::MultipleOf,
        ]),
        of_types: &["integer", "number"],
        without_types: &[],
        or_beside: Keywords::NONE,
    },
    TypedKeywords {
        keywords: Keywords::of(&[Keyword::MaxProperties, Keyword::MinProperties]),
        of_types: &["object"],
        without_types: &[],
        or_beside: Keywords::of(&[Keyword::Properties, Keyword::AdditionalProperties, Keyword::UnevaluatedProperties]),
    },
    TypedKeywords {
        keywords: Keywords::of(&[Keyword::PropertyNames, Keyword::PatternProperties]),
        of_types: &["object"],
        without_types: &[],
        or_beside: Keywords::NONE,
    },
];

/// xgrammar enforces these formats of strings.
const FORMATS: &[&str] = &[
    "email",
    "date",
    "time",
    "date-time",
    "duration",
    "ipv4",
    "ipv6",
    "hostname",
    "uuid",
    "uri",
    "uri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
];

const INT32_MAX: u64 = 2_147_483_647;

const MAXIMA: &[(Keyword, u64)] = &[
    (Keyword::MaxLength, INT32_MAX),
    (Keyword::MinLength, INT32_MAX),
    (Keyword::MaxItems, INT32_MAX),
    (Keyword::MinItems, INT32_MAX),
    (Keyword::MaxProperties, INT32_MAX),
    (Keyword::MinProperties, INT32_MAX),
];

const REFS: RefRule = RefRule {
    anywhere: false,
    to_definitions: false,
    to_root: false,
    takes_other_forms: true,
    to_true: true,
    beside: ANNOTATIONS,
    recursion: Recursion::Free,
    ..RefRule::OPEN
};

pub(super) const XGRAMMAR: Grammar = Grammar {
    object_root: false,
    refuses: Keywords::of(&[Keyword::AllOf, Keyword::OneOf, Keyword::DynamicRef, Keyword::RecursiveRef]),
    conflicts: CONFLICTS,
    ignores: Keywords::of(&[
        Keyword::Not,
        Keyword::If,
        Keyword::Then,
        Keyword::Else,
        Keyword::DependentRequired,
        Keyword::DependentSchemas,
        Keyword::Dependencies,
        Keyword::Nullable,
    ]),
    effects: Effects {
        typed: TYPED,
        listed_required: true,
        values_alone: true,
        without_format: Keywords::of(&[Keyword::Pattern]),
        formats: FORMATS,
        ..Effects::ALL
    },
    alternatives: &[&LLGUIDANCE],
    annotations: ANNOTATIONS,
    refs: REFS,
    any_of: AnyOfRule { beside: ANNOTATIONS, ..AnyOfRule::OPEN },
    objects: ObjectRule { open: OpenRule::ClosedBesideMembers, ..ObjectRule::OPEN },
    arrays: ArrayRule { closed_tuples: true, ..ArrayRule::OPEN },
    patterns: PatternRule::Whole,
    formats: Some(&[
        ("string", FORMATS),
        ("number", &[]),
        ("integer", &[]),
        ("boolean", &[]),
        ("object", &[]),
        ("array", &[]),
    ]),
    boolean_root: false,
    false_schemas: false,
    array_items: false,
    checked_values: Keywords::of(&[Keyword::MultipleOf]),
    plain_counts: true,
    maxima: MAXIMA,
    ..Grammar::OPEN
};

pub(super) const LLGUIDANCE: Grammar = Grammar {
    object_root: false,
    refuses: Keywords::of(&[
        Keyword::AllOf,
        Keyword::OneOf,
        Keyword::DynamicRef,
        Keyword::RecursiveRef,
        Keyword::Not,
        Keyword::If,
        Keyword::Then,
        Keyword::Else,
        Keyword::DependentRequired,
        Keyword::DependentSchemas,
        Keyword::Dependencies,
        Keyword::PropertyNames,
        Keyword::PatternProperties,
        Keyword::UniqueItems,
        Keyword::Contains,
        Keyword::MinContains,
        Keyword::MaxContains,
        Keyword::MinProperties,
        Keyword::MaxProperties,
        Keyword::UnevaluatedItems,
        Keyword::UnevaluatedProperties,
        Keyword::Nullable,
    ]),
    refs: RefRule { escapes: true, ..REFS },
    enums: EnumRule { empty: true, ..EnumRule::OPEN },
    objects: ObjectRule { required_accepts: true, ..ObjectRule::OPEN },
    boolean_root: false,
    checked_values: Keywords::of(&[Keyword::MultipleOf]),
    plain_counts: true,
    maxima: MAXIMA,
    patterns: PatternRule::Regular,
    formats: Some(&[(
        "string",
        &["email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri"],
    )]),
    ..Grammar::OPEN
};

pub(super) const VLLM: Dialect = Dialect {
    name: "vllm",
    surface: "vLLM's server: tools become a grammar (if `tool_choice` names a tool or is `required`)",
    documentation: "https://docs.vllm.ai/en/latest/features/tool_calling/",
    as_of: "2026-11-23",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes", "template"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "no `uniqueItems`, `contains`, `minContains` or `maxContains` next to `type: array`",
            confidence: Grade::A,
            source: "vllm, has_xgrammar_unsupported_json_features@030141c1; then llguidance: `Unimplemented keys: \
                [\"uniqueItems\"]`, run",
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[
                Keyword::UniqueItems,
                Keyword::Contains,
                Keyword::MinContains,
                Keyword::MaxContains,
            ]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "property keywords next to `propertyNames` are booleans",
            confidence: Grade::A,
            source: "vllm, has_xgrammar_unsupported_json_features@030141c1; club-3090#45 (2026-05-04), vllm#42904, \
                #57594",
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[Keyword::PropertyNames]),
            ..Fact::REFUSED
        },
        Fact {
            statement:
                "`patternProperties` has one pattern and no `properties` next to it: otherwise outlines compiles it",
            confidence: Grade::C,
            source: GATE,
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[Keyword::PatternProperties]),
            ..Fact::REFUSED
        },
        Fact {
            statement:
                "`multipleOf`, and a length next to `pattern` or `format`, send the request to llguidance, which must \
                    support everything else in it",
            confidence: Grade::A,
            source: GATE,
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[Keyword::MultipleOf, Keyword::MinLength, Keyword::MaxLength]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "`oneOf` is read as `anyOf`, `allOf` of several schemas accepts anything, and siblings of both \
                are ignored",
            confidence: Grade::A,
            source: "xgrammar, SchemaParser::Parse: `Support for allOf with multiple options is still ongoing`; run",
            rules: &[Constraint::RefusedKeyword],
            severity: Severity::Reinterpreted,
            keywords: Keywords::of(&[Keyword::AllOf, Keyword::OneOf]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "dynamic references are ignored: any value is accepted there",
            confidence: Grade::A,
            source: "xgrammar, SchemaParser::Parse; run",
            rules: &[Constraint::RefusedKeyword],
            severity: Severity::Reinterpreted,
            keywords: Keywords::of(&[Keyword::DynamicRef, Keyword::RecursiveRef]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "siblings of `anyOf` and `$ref` that constrain the instance are ignored",
            confidence: Grade::A,
            source: "xgrammar, SchemaParser::Parse; run: `anyOf` of `required` next to `properties` accepts any JSON",
            rules: &[Constraint::BesideAnyOf, Constraint::BesideRef],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "string `format` has one of fourteen values",
            confidence: Grade::A,
            source: "vllm, STRING_SUPPORTED_FORMATS; then llguidance: `Unknown format: json`, run",
            rules: &[Constraint::Format],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` is regular: no backreference, no word boundary",
            confidence: Grade::A,
            source: "run: xgrammar, `Backreference is not supported yet`, `Word boundary is not supported yet`; \
                llguidance, `lookarounds not supported yet`",
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` must match the whole string, and a key of `patternProperties` the whole name; \
                lookaround is ignored",
            confidence: Grade::A,
            source: RUN,
            rules: &[Constraint::PatternAnchors],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "an object that describes its properties is closed unless it has `additionalProperties`",
            confidence: Grade::A,
            source: "xgrammar, json_schema_converter.cc@53da3ff8, `strict_mode`; run",
            rules: &[Constraint::ObjectOpenness],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "an array with `prefixItems` and without `items` has no further items",
            confidence: Grade::A,
            source: "xgrammar, json_schema_converter.cc@53da3ff8; run",
            rules: &[Constraint::ArrayOpenness],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "a schema is an object or `true`, the root an object, and `items` is one schema",
            confidence: Grade::A,
            source: "run: xgrammar, `Schema 'false' cannot accept any value`, `items must be a boolean or an object`",
            rules: &[
                Constraint::RootNotSchema,
                Constraint::NotASchema,
                Constraint::ItemsNotSchema,
                Constraint::ArrayItems,
            ],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a count is below 2^31 and has no fraction: `1.0` is not a count; `multipleOf` is above 0",
            confidence: Grade::A,
            source: "run: xgrammar, `minLength must be an integer not exceeding 2147483647`; llguidance, `Expected \
                positive integer for 'minLength', got 1.0`, `invalid multiple of`",
            rules: &[Constraint::KeywordValue, Constraint::KeywordTooLarge],
            ..Fact::REFUSED
        },
        Fact {
            statement: "type names are those of JSON Schema",
            confidence: Grade::A,
            source: "run: xgrammar, `Unsupported type \"STRING\"`; llguidance, `Invalid type: STRING`",
            rules: &[Constraint::UnknownType],
            ..Fact::REFUSED
        },
        Fact {
            statement: "references are `#/$defs/` and a name without escapes: only `$defs` is copied to the root of \
                the list of calls",
            confidence: Grade::A,
            source: "vllm, _get_tool_schema_defs@0064cc9c; run: `Pointer '/definitions/A' does not exist`, `Cannot \
                find field a~1b`",
            rules: &[Constraint::RefTarget, Constraint::DefinitionName],
            ..Fact::REFUSED
        },
        Fact {
            statement: "the reference `#` means the list of calls; a reference that is not a pointer accepts anything",
            confidence: Grade::A,
            source: "run: xgrammar, `URI should either be '#' or start with '#/' but got …`, a warning",
            rules: &[Constraint::RefForm],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "no two tools have different definitions with the same name",
            confidence: Grade::A,
            source: "vllm, _get_tool_schema_defs@0064cc9c: `Tool definition 'X' has multiple schemas, which is not \
                supported.`",
            rules: &[Constraint::DefinitionConflict],
            ..Fact::REFUSED
        },
        Fact {
            statement: "one compiler must support all tools of a request",
            confidence: Grade::B,
            source:
                "vllm, `tool_choice: \"required\"` makes one schema of all tools; run: `Unimplemented keys: [\"not\"]` \
                    next to a tool with `multipleOf`",
            rules: &[Constraint::MixedBackends],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`not`, `if`, keywords that depend on a property, `nullable`, names in `required` that \
                `properties` does not list, `pattern` next to `format`, other keywords next to `enum` or `const`, and \
                keywords for a type that `type` does not name have no effect",
            confidence: Grade::A,
            source: "xgrammar, SchemaParser::Parse; run",
            rules: &[Constraint::IgnoredKeyword],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "if calls have structural tags, `strict: false` keeps a tool's schema out of the grammar; \
                without it, or with `true`, the schema is used",
            confidence: Grade::A,
            source: "vllm, docs/features/tool_calling.md@0064cc9c, get_function_parameters@b59bccae",
            rules: &[Constraint::StrictFlag],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "tool names match OpenAI's pattern",
            confidence: Grade::C,
            source: "vllm accepts any string; models and clients expect that pattern",
            rules: &[Constraint::ToolName],
            ..Fact::REFUSED
        },
        WELL_FORMED,
    ],
    unverified: &[
        "under `tool_choice: \"auto\"` no schema is checked, unless a tool has `strict: true` and the parser has \
            structural tags: then only xgrammar's own errors refuse a request, and `uniqueItems` and other formats \
            pass",
        "a string with a `pattern` contains no character that JSON escapes",
        "bounds beyond 64 bits are refused",
        "keywords for one type without that `type`: `minLength` and `pattern` have no effect",
    ],
    method: Method::Rules(&XGRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern::OPENAI,
        strict: StrictFlag::False,
        without_strict: Some(WithoutStrict { dialect: "vllm", closes: false }),
        one_grammar: true,
        requests: requests::VLLM,
        ..Surface::PLAIN
    },
};
