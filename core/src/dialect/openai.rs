//! OpenAI: function tools of Chat Completions and of Responses, strict and not strict.
//!
//! The authority is the API's own answers, because no validator is public. Its messages about schemas are messages of
//! the Python package `jsonschema` (2020-12, with Python's `re` for patterns), preceded by a few rules of the API.

use super::{
    grammar::{
        AnyOfRule, ArrayRule, EnumRule, Grammar, ObjectRule, OpenRule, PatternRule, PropertiesRule, RefRule,
        RequiredRule, TypeRequirement,
    },
    requests,
    surface::{NamePattern, NoArguments, StrictFlag, Surface, WithoutStrict},
    well_formed, Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::Severity,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

pub(super) const OBJECT: Fact = Fact {
    statement: "the root is an object with `properties`",
    confidence: 'A',
    source: "live: `schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'`, `object schema missing \
        properties`",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema, Constraint::ObjectWithoutProperties],
    ..Fact::REFUSED
};
const EMPTY: Fact = Fact {
    statement: "OpenAI accepts `parameters: {}`, and a function without `parameters`, which another host may refuse",
    confidence: 'A',
    source:
        "recorded: `{}` answered 200 by gpt-4o-mini on Responses (openai-dotnet@0bc7d788, 2025-09-16), which shows \
        it as `{\"type\":\"object\",\"properties\":{}}`, and by gpt-4o on Chat (llama-stack@d5b9c9f8, 2026-03-18); no \
        `parameters` answered 200 by gpt-4o-mini (openai-dotnet@c506461d, 2025-09-16). Refused in July 2025 \
        (vercel/ai#7005)",
    rules: &[],
    ..Fact::REFUSED
};
pub(super) const ROOT: Fact = Fact {
    statement: "no `anyOf`, `oneOf`, `allOf`, `enum`, `const` or `not` at the root",
    confidence: 'A',
    source:
        "live: `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level` \
        (langchainjs#9804)",
    rules: &[Constraint::RootKeyword],
    ..Fact::REFUSED
};
pub(super) const METASCHEMA: Fact = Fact {
    statement: "the schema is valid against the 2020-12 meta-schema, and every reference resolves",
    confidence: 'A',
    source: "live: `'any' is not valid under any of the given schemas`, `None is not of type 'object', 'boolean'`",
    rules: well_formed::METASCHEMA,
    ..Fact::REFUSED
};
pub(super) const ITEMS: Fact = Fact {
    statement: "arrays have `items`, inside unions too",
    confidence: 'A',
    source: "live: `In context=('properties', 'a'), array schema missing items` (apify-mcp-server#36)",
    rules: &[Constraint::ArrayWithoutItems],
    ..Fact::REFUSED
};
pub(super) const PATTERN: Fact = Fact {
    statement: "every `pattern`, and every key of `patternProperties`, compiles in Python's `re`",
    confidence: 'A',
    source: "live: `'\\p{L}' is not a 'regex'`; LiteLLM removes patterns that Python does not compile",
    rules: &[Constraint::Pattern],
    ..Fact::REFUSED
};
pub(super) const ENUM: Fact = Fact {
    statement: "`enum` and `type` do not contradict each other",
    confidence: 'B',
    source: "live: a node with `type: null` and string values was refused",
    rules: &[Constraint::EnumContradicts],
    ..Fact::REFUSED
};
pub(super) const NAMES: Fact = Fact {
    statement: "tool names match `^[a-zA-Z0-9_-]{1,64}$`",
    confidence: 'A',
    source: "live: `Invalid 'tools[2].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'`",
    rules: &[Constraint::ToolName],
    ..Fact::REFUSED
};
pub(super) const TOOLS: Fact = Fact {
    statement: "at most 128 tools in a request",
    confidence: 'A',
    source: "OpenAI, API reference, tools",
    rules: &[Constraint::TooManyTools],
    ..Fact::REFUSED
};
/// The default of the flag in OpenAI Responses, for all APIs that have this format.
pub(crate) const DEFAULT_OF_STRICT: Fact = Fact {
    statement: "on Responses, a tool without `strict` is strict, so `strict: false` is written out",
    confidence: 'A',
    source: "OpenAI, migration guide to Responses; without `strict`, the API answers with a schema made strict",
    rules: &[Constraint::StrictFlag],
    severity: Severity::Reinterpreted,
    ..Fact::REFUSED
};
const COMBINATORS: Fact = Fact {
    statement:
        "GPT-5 and later accept `anyOf`, `oneOf` and `allOf` at the root; `enum`, `const` and `not` are not known to \
            be accepted",
    confidence: 'B',
    source: "live: requests with root unions were answered",
    rules: &[Constraint::RootKeyword],
    ..Fact::REFUSED
};

pub(super) const CHAT_GRAMMAR: Grammar = Grammar {
    root_refuses: Keywords::of(&[
        Keyword::AnyOf,
        Keyword::OneOf,
        Keyword::AllOf,
        Keyword::Enum,
        Keyword::Const,
        Keyword::Not,
    ]),
    metaschema: true,
    enums: EnumRule { agrees: true, ..EnumRule::OPEN },
    objects: ObjectRule { properties: PropertiesRule::AtRoot, ..ObjectRule::OPEN },
    arrays: ArrayRule { needs_items: true, ..ArrayRule::OPEN },
    patterns: PatternRule::Python,
    array_items: false,
    empty_root: true,
    ..Grammar::OPEN
};

const RESPONSES_GRAMMAR: Grammar =
    Grammar { root_refuses: Keywords::of(&[Keyword::Enum, Keyword::Const, Keyword::Not]), ..CHAT_GRAMMAR };

pub(super) const CHAT_TOOLS: Surface = Surface {
    // With an optional property, the API makes the property required.
    without_strict: Some(WithoutStrict { dialect: "openai-strict", closes: true }),
    format: ToolFormat::OpenaiChat,
    names: NamePattern::OPENAI,
    max_tools: Some(128),
    requests: requests::OPENAI,
    has_custom_tools: true,
    has_refusals: true,
    has_namespaces: true,
    // openai-node 7.55.0, FunctionTool of Responses: "the JSON value encoded in string outputs" (read 2026-11-26).
    result_member: Some("output_schema"),
    ..Surface::PLAIN
};

pub(super) const RESPONSES: Dialect = Dialect {
    name: "openai-responses",
    surface: "OpenAI Responses, function tools with `strict: false`, GPT-5 and later",
    documentation: "https://platform.openai.com/docs/guides/function-calling",
    as_of: "2026-11-28",
    revision: 2,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        OBJECT,
        EMPTY,
        COMBINATORS,
        METASCHEMA,
        well_formed::ENUM_EMPTY,
        ITEMS,
        PATTERN,
        ENUM,
        NAMES,
        TOOLS,
        DEFAULT_OF_STRICT,
    ],
    unverified: &[
        "`if`, `then` and `else` at the root: no report describes what happens to them",
        "boolean schemas: no report either way",
        "maximum length of a description: 1,024 characters are documented for functions; longer ones were accepted",
    ],
    method: Method::Rules(&RESPONSES_GRAMMAR),
    tools: Surface { format: ToolFormat::OpenaiResponses, strict: StrictFlag::False, ..CHAT_TOOLS },
};

pub(super) const CHAT: Dialect = Dialect {
    name: "openai-chat",
    surface: "OpenAI Chat Completions, non-strict function tools; Responses with models before GPT-5",
    documentation: "https://platform.openai.com/docs/guides/function-calling",
    as_of: "2026-11-28",
    revision: 2,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        OBJECT,
        EMPTY,
        ROOT,
        METASCHEMA,
        well_formed::ENUM_EMPTY,
        ITEMS,
        PATTERN,
        ENUM,
        NAMES,
        TOOLS,
        Fact::applies_strict("OpenAI, Structured Outputs, function calling with `strict: true`"),
    ],
    unverified: &[
        "`if`, `then` and `else` at the root: no report describes what happens to them",
        "boolean schemas: no report either way",
        "maximum length of a description: 1,024 characters are documented for functions; longer ones were accepted",
    ],
    method: Method::Rules(&CHAT_GRAMMAR),
    tools: Surface { no_arguments: NoArguments::OptionalInRequests, ..CHAT_TOOLS },
};

pub(super) const STRICT_CLOSED: Fact = Fact {
    statement: "every object is closed, and every property is required",
    confidence: 'A',
    source: "live: `'additionalProperties' is required to be supplied and to be false`, `'required' is \
        required to be supplied and to be an array including every key in properties. Extra required key 'x' supplied`",
    rules: &[Constraint::ObjectNotClosed, Constraint::Map, Constraint::NotRequired, Constraint::RequiredUnknown],
    ..Fact::REFUSED
};
const STRICT_OBJECT: Fact = Fact {
    statement: "a function has `parameters`, whose root is an object with `properties`",
    source: "recorded without `parameters`: `In context=(), 'additionalProperties' is required to be supplied and to \
        be false` (gpt-4o, openai-dotnet@12a5cea5, 2025-09-16); live: `schema must be a JSON Schema of 'type: \
        \"object\"', got 'type: \"None\"'`, `object schema missing properties`",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    ..OBJECT
};
/// For APIs that describe their strict mode as similar.
pub(super) const STRICT_ROOT: Fact =
    Fact { statement: "the root is an object", rules: &[Constraint::RootObject, Constraint::RootNotSchema], ..OBJECT };
pub(super) const STRICT_PROPERTIES: Fact = Fact {
    statement: "every object has `properties`, which may be empty",
    confidence: 'A',
    source: "live: `object schema missing properties`",
    rules: &[Constraint::ObjectWithoutProperties],
    ..Fact::REFUSED
};
pub(super) const STRICT_KEYWORDS: Fact = Fact {
    statement: "no `allOf`, `oneOf`, `not`, `if`, `dependent…`, `uniqueItems`, `contains`, \
        `patternProperties`, `propertyNames`, `prefixItems`, `unevaluated…`, `minProperties` or \
        `maxProperties`",
    confidence: 'A',
    source: "live: `In context=('properties', 'data'), 'allOf' is not permitted` (notion-mcp-server#102)",
    rules: &[Constraint::RefusedKeyword],
    ..Fact::REFUSED
};
pub(super) const STRICT_META_KEYWORDS: Fact = Fact {
    statement: "no `contentEncoding`, `contentMediaType`, `contentSchema`, `additionalItems`, `$anchor`, \
        `$dynamic…` or `$recursive…`",
    confidence: 'A',
    source: "openai-node, lib/transform.ts: not supported in strict mode; no answer of the API is known",
    rules: &[Constraint::RefusedKeyword],
    keywords: STRICT_REMOVED,
    ..Fact::REFUSED
};
const STRICT_DEFAULT: Fact = Fact {
    statement: "`default` is accepted, but has no effect: every property is required",
    confidence: 'A',
    source: "live: an isolated probe of 2026-08-13 (openai-agents-python#4390), 4 recorded requests; refused \
        in 2024 (instructor#1074), and by Azure",
    rules: &[Constraint::IgnoredKeyword],
    severity: Severity::Ignored,
    ..Fact::REFUSED
};
pub(super) const STRICT_TYPED: Fact = Fact {
    statement: "every schema has a type, including `items`",
    confidence: 'A',
    source: "OpenAI, Structured Outputs; openai-node transforms schemas accordingly",
    rules: &[Constraint::Untyped, Constraint::OpenItems],
    ..Fact::REFUSED
};
pub(super) const STRICT_REFS: Fact = Fact {
    statement: "`$ref` is `#`, `#/$defs/name` or `#/definitions/name`, and has no sibling keywords",
    confidence: 'A',
    source: "live: `$ref cannot have keywords {'description'}`",
    rules: &[Constraint::RefForm, Constraint::BesideRef, Constraint::DefinitionName],
    ..Fact::REFUSED
};
const STRICT_FORMAT: Fact = Fact {
    statement: "string `format` has one of nine values; number `format` is accepted, but has no effect",
    confidence: 'A',
    source: "OpenAI, Structured Outputs, supported string properties; `double`, `uint8` and `int64` in seven \
        recorded requests that were answered 200",
    rules: &[Constraint::Format],
    ..Fact::REFUSED
};
pub(super) const STRICT_FIRST_KEYS: Fact = Fact {
    statement: "branches of `anyOf` do not share the name of their first property, unless it has a different \
        constant in each",
    confidence: 'A',
    source: "live: `Objects provided via 'anyOf' must not share identical first keys. Consider adding a \
        discriminator key` (ellmer#671)",
    rules: &[Constraint::AnyOfFirstKeys],
    ..Fact::REFUSED
};
const STRICT_LIMITS: Fact = Fact {
    statement:
        "at most 5,000 properties, 10 levels of nesting, 1,000 values in `enum`, 15,000 characters in an `enum` \
        of more than 250 strings, and 120,000 characters of names, values and constants; the root and each definition \
        count separately",
    confidence: 'A',
    source: "OpenAI, Structured Outputs, limitations; live: `... 6 levels of nesting exceeds limit of 5`; pydantic-ai \
        counts the same way",
    rules: &[
        Constraint::TooManyProperties,
        Constraint::TooDeep,
        Constraint::TooManyEnumValues,
        Constraint::EnumTooLong,
        Constraint::TooManyCharacters,
    ],
    ..Fact::REFUSED
};

/// Restates a fact about OpenAI's strict mode for an API whose strict mode is described as similar.
pub(super) const fn inferred_of_strict(fact: Fact) -> Fact {
    Fact { confidence: 'C', source: "inferred from OpenAI's strict mode; no answer is known", ..fact }
}

/// Constrained decoding supports these formats.
const STRICT_FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Keywords that OpenAI's own libraries remove from strict schemas.
const STRICT_REMOVED: Keywords = Keywords::of(&[
    Keyword::AdditionalItems,
    Keyword::ContentSchema,
    Keyword::ContentMediaType,
    Keyword::ContentEncoding,
    Keyword::Anchor,
    Keyword::DynamicAnchor,
    Keyword::DynamicRef,
    Keyword::RecursiveAnchor,
    Keyword::RecursiveRef,
]);

pub(super) const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[
        Keyword::AllOf,
        Keyword::OneOf,
        Keyword::Not,
        Keyword::If,
        Keyword::Then,
        Keyword::Else,
        Keyword::DependentRequired,
        Keyword::DependentSchemas,
        Keyword::Dependencies,
        Keyword::UniqueItems,
        Keyword::Contains,
        Keyword::MinContains,
        Keyword::MaxContains,
        Keyword::PatternProperties,
        Keyword::PropertyNames,
        Keyword::MinProperties,
        Keyword::MaxProperties,
        Keyword::UnevaluatedProperties,
        Keyword::UnevaluatedItems,
        Keyword::PrefixItems,
    ])
    .union(STRICT_REMOVED),
    ignores: Keywords::of(&[Keyword::Default]),
    typed: TypeRequirement::TypeOrUnion,
    refs: RefRule { anywhere: false, beside: Keywords::NONE, ..RefRule::OPEN },
    any_of: AnyOfRule { distinct_first_keys: true, ..AnyOfRule::OPEN },
    objects: ObjectRule {
        properties: PropertiesRule::Written,
        open: OpenRule::MustClose,
        required: RequiredRule::All,
        required_accepts: false,
        maps: false,
        maps_count: false,
    },
    arrays: ArrayRule { needs_items: true, open_items: false, ..ArrayRule::OPEN },
    patterns: PatternRule::Regular,
    formats: Some(&[("string", STRICT_FORMATS), ("number", &[]), ("integer", &[])]),
    required_is_known: true,
    boolean_schemas: false,
    empty_root: false,
    ..CHAT_GRAMMAR
};

const STRICT_MODE: Fact =
    Fact::enforces_strict('A', "OpenAI, Structured Outputs, function calling with `strict: true`");

pub(super) const STRICT: Dialect = Dialect {
    name: "openai-strict",
    surface: "OpenAI Chat Completions and Responses, function tools with `strict: true`",
    documentation: "https://platform.openai.com/docs/guides/structured-outputs",
    as_of: "2026-11-28",
    revision: 2,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[
        "optional properties become required, and null means absent",
        "objects with arbitrary keys become lists of key-value pairs",
        "values of any type use a definition of JSON in which objects, too, are lists of key-value pairs",
        "objects and arrays in `enum` become JSON text",
    ],
    limits: &[
        ("propertiesPerPart", 5000),
        ("depthPerPart", 10),
        ("enumValuesPerPart", 1000),
        ("longEnumCharacters", 15_000),
        ("charactersPerPart", 120_000),
    ],
    facts: &[
        STRICT_OBJECT,
        STRICT_PROPERTIES,
        ROOT,
        METASCHEMA,
        well_formed::ENUM_EMPTY,
        ITEMS,
        PATTERN,
        ENUM,
        STRICT_CLOSED,
        STRICT_KEYWORDS,
        STRICT_META_KEYWORDS,
        STRICT_DEFAULT,
        STRICT_TYPED,
        STRICT_REFS,
        STRICT_FORMAT,
        STRICT_FIRST_KEYS,
        STRICT_LIMITS,
        NAMES,
        TOOLS,
        STRICT_MODE,
    ],
    unverified: &[
        "`minLength` and `maxLength` at other hosts of the same models: OpenAI itself accepts them",
        "fine-tuned and older models: 100 properties, 5 levels and fewer keywords were documented; this table is for \
            current models",
    ],
    method: Method::Rules(&STRICT_GRAMMAR),
    tools: Surface {
        strict: StrictFlag::True,
        strict_fact: Some(&STRICT_MODE),
        no_arguments: NoArguments::Required,
        not_strict: Some("openai-chat"),
        // `strict: true` without `additionalProperties` was answered 200 (recorded: opentelemetry-js-contrib, 2025-07).
        closes_in: &[ToolFormat::OpenaiResponses],
        ..CHAT_TOOLS
    },
};
