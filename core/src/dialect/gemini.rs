//! Google Gemini: function declarations with their schema in `parameters` (an OpenAPI subset) or in
//! `parametersJsonSchema`.

use super::{
    grammar::{
        AnyEncoding, AnyOfRule, ArrayRule, EnumRule, Grammar, Null, ObjectRule, OpenRule, PropertiesRule, Recursion,
        RefRule, TypeLists, TypeRequirement,
    },
    name_rules::{NameRule, PropertyPattern},
    surface::{NamePattern, NoArguments, Surface},
    well_formed::{VALID, WELL_FORMED},
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

pub(super) const NAMES: NamePattern =
    NamePattern { also: Some("_.:-"), letter_first: true, min_length: 1, max_length: 64, rules: None };

pub(super) const NAME: Fact = Fact {
    statement: "function names match `^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`",
    confidence: Grade::A,
    source: "live: `Invalid function name. Must start with a letter or an underscore`",
    rules: &[Constraint::ToolName],
    ..Fact::REFUSED
};
pub(super) const NO_ARGUMENTS: Fact = Fact {
    statement: "a function without arguments has no `parameters`; an object without properties is accepted, too",
    confidence: Grade::A,
    source:
        "Gemini API, documentation of FunctionDeclaration; recorded requests with `properties: {}` were answered 200",
    rules: &[Constraint::NoArguments],
    severity: Severity::Ignored,
    ..Fact::REFUSED
};
pub(super) const COUNT: Fact = Fact {
    statement: "at most 512 function declarations",
    confidence: Grade::A,
    source: "live: `At most 512 function declarations can be specified`",
    rules: &[Constraint::TooManyTools],
    ..Fact::REFUSED
};

const FIELDS: Fact = Fact {
    statement:
        "only the fields of the Schema message, in the spelling of JSON (`anyOf`) or of the protocol (`any_of`): \
        any other key is refused",
    confidence: Grade::A,
    source: "live: `Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': \
        Cannot find field`; recorded answers: 200 for `any_of` and `property_ordering`",
    rules: &[Constraint::RefusedKeyword, Constraint::UnknownKeyword],
    ..Fact::REFUSED
};
pub(super) const ROOT: Fact = Fact {
    statement: "the root is an object, whose `properties` may be empty",
    confidence: Grade::A,
    source: "live: `functionDeclaration parameters schema should be of type OBJECT`; recorded requests have \
        `properties: {}` there",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    ..Fact::REFUSED
};
const NOT_EMPTY: Fact = Fact {
    statement: "`properties` below the root have at least one property",
    confidence: Grade::A,
    source: "live: `parameters.properties[variables].properties: should be non-empty for OBJECT type`",
    rules: &[Constraint::ObjectWithoutProperties, Constraint::PropertiesNotObject],
    keywords: Keywords::of(&[Keyword::Properties]),
    ..Fact::REFUSED
};
const WITHOUT_PROPERTIES: Fact = Fact {
    statement: "an object without `properties` is accepted, but the model does not see what belongs in it",
    confidence: Grade::A,
    source: "recorded answers: objects without it at the root and below were answered 200 (docker/cagent 12 times, \
        pydantic-ai, ruby_llm; gemini-1.5 to 2.5)",
    rules: &[Constraint::ObjectWithoutProperties],
    severity: Severity::Ignored,
    ..Fact::REFUSED
};
pub(super) const OBJECT_KEYWORDS: Fact = Fact {
    statement: "`properties` and `required` occur only next to `type: \"object\"`",
    confidence: Grade::B,
    source: "live: `properties[data].properties: only allowed for OBJECT type` (opencode#11889)",
    rules: &[Constraint::BesideOtherType],
    ..Fact::REFUSED
};
pub(super) const TYPED: Fact = Fact {
    statement: "every schema has `anyOf` or a `type`, which is one name, in lower or upper case, or its number in \
        Google's protocol; null is `nullable: true`",
    confidence: Grade::A,
    source: "live: `type: must be specified when not using one_of, any_of or all_of fields`; `Proto field is not \
        repeating`; every recorded request with upper case or numbers was accepted",
    rules: &[Constraint::Untyped, Constraint::UnknownType, Constraint::TypeList, Constraint::NotASchema],
    ..Fact::REFUSED
};
pub(super) const ITEMS: Fact = Fact {
    statement: "arrays have `items`, which is one schema",
    confidence: Grade::A,
    source: "live: `items: missing field`",
    rules: &[Constraint::ArrayWithoutItems, Constraint::OpenItems, Constraint::ArrayItems, Constraint::ItemsNotSchema],
    ..Fact::REFUSED
};
pub(super) const ENUMS: Fact = Fact {
    statement:
        "`enum` values are non-empty strings; integers, numbers and booleans are written as strings, with their \
        type and `format: \"enum\"`",
    confidence: Grade::A,
    source: "live: `Invalid value at '…enum[0]' (TYPE_STRING), 2`; `enum[0]: cannot be empty`; google-genai, \
        documentation of Schema.enum; numbers and booleans by one live report (vercel/ai#18652, 2026-08-10)",
    rules: &[Constraint::EnumKind, Constraint::EnumNotList, Constraint::EnumEmpty],
    ..Fact::REFUSED
};
const BESIDE_ANY_OF: Fact = Fact {
    statement: "only `description` is allowed next to `anyOf`",
    confidence: Grade::B,
    source: "a `description` there was answered 200 by generativelanguage.googleapis.com (ai-memory#450, \
        2026-08-21); Vertex refuses it: `when using any_of, it must be the only fields set` (litellm#11164)",
    rules: &[Constraint::BesideAnyOf, Constraint::CombinatorNotList, Constraint::AnyOfSize],
    ..Fact::REFUSED
};
pub(super) const REQUIRED: Fact = Fact {
    statement: "`required` names only properties of the same schema",
    confidence: Grade::A,
    source: "live: `required[0]: property is not defined`",
    rules: &[Constraint::RequiredUnknown, Constraint::RequiredNotStrings],
    ..Fact::REFUSED
};
pub(super) const PROPERTY_NAMES: Fact = Fact {
    statement: "property names match `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`",
    confidence: Grade::A,
    source: "google-genai, documentation of FunctionDeclaration",
    rules: &[Constraint::PropertyName],
    ..Fact::REFUSED
};
pub(super) const FORMATS: Fact = Fact {
    statement: "`format` is one that the type supports",
    confidence: Grade::A,
    source: "live: `only 'enum' and 'date-time' are supported for STRING type`",
    rules: &[Constraint::Format],
    ..Fact::REFUSED
};

pub(super) const KINDS: Fact = Fact {
    statement: "text keywords are strings, bounds are numbers, counts are integers, and `nullable` is a boolean",
    confidence: Grade::A,
    source: "the Schema message in JSON; live, for such fields: `Invalid value at '…' (TYPE_STRING), 2`",
    rules: &[Constraint::KeywordValue],
    ..Fact::REFUSED
};

pub(super) const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::all_but(&[
        Keyword::Type,
        Keyword::Format,
        Keyword::Title,
        Keyword::Description,
        Keyword::Nullable,
        Keyword::Enum,
        Keyword::MaxItems,
        Keyword::MinItems,
        Keyword::Properties,
        Keyword::Required,
        Keyword::MinProperties,
        Keyword::MaxProperties,
        Keyword::MinLength,
        Keyword::MaxLength,
        Keyword::Pattern,
        Keyword::AnyOf,
        Keyword::Default,
        Keyword::Items,
        Keyword::Minimum,
        Keyword::Maximum,
    ]),
    unknown: Some(&["example", "propertyOrdering", "property_ordering"]),
    fields: Keywords::of(&[
        Keyword::Title,
        Keyword::Description,
        Keyword::Format,
        Keyword::Pattern,
        Keyword::Nullable,
        Keyword::Minimum,
        Keyword::Maximum,
        Keyword::MinItems,
        Keyword::MaxItems,
        Keyword::MinLength,
        Keyword::MaxLength,
        Keyword::MinProperties,
        Keyword::MaxProperties,
    ]),
    protocol_types: true,
    beside_their_type: Keywords::of(&[Keyword::Properties, Keyword::Required, Keyword::Items]),
    type_lists: TypeLists::None,
    typed: TypeRequirement::TypeOrUnion,
    anything: AnyEncoding::JsonText,
    null: Null::Nullable,
    refs: RefRule::NONE,
    enums: EnumRule {
        kinds: &["string"],
        empty_string: false,
        as_text: &["integer", "number", "boolean"],
        ..EnumRule::OPEN
    },
    any_of: AnyOfRule { beside: Keywords::of(&[Keyword::Description]), ..AnyOfRule::OPEN },
    objects: ObjectRule { properties: PropertiesRule::NotEmptyBelowRoot, open: OpenRule::Listed, ..ObjectRule::OPEN },
    arrays: ArrayRule { needs_items: true, open_items: false, ..ArrayRule::OPEN },
    formats: Some(&[
        ("string", &["enum", "date-time"]),
        ("number", &["float", "double", "enum"]),
        ("integer", &["int32", "int64", "enum"]),
        ("boolean", &["enum"]),
    ]),
    required_is_known: true,
    boolean_schemas: false,
    array_items: false,
    names: NameRule {
        shape: Some(PropertyPattern { also: "_", first: Some("_"), max_length: 64, root_only: false }),
        ..NameRule::OPEN
    },
    ..Grammar::OPEN
};

pub(super) const GEMINI: Dialect = Dialect {
    name: "gemini",
    surface: "Gemini API, `functionDeclarations[].parameters` (the Schema message, an OpenAPI 3.0 subset)",
    documentation: "https://ai.google.dev/api/caching#Schema",
    as_of: "2026-11-20",
    revision: 1,
    options: &["untyped", "hints", "maxNodes"],
    encodes: &[
        "property names that the API refuses are renamed",
        "values of any type, and objects without known properties, become JSON text",
        "numbers and booleans in `enum` may arrive as strings",
    ],
    limits: &[],
    facts: &[
        FIELDS,
        ROOT,
        NOT_EMPTY,
        WITHOUT_PROPERTIES,
        OBJECT_KEYWORDS,
        TYPED,
        ITEMS,
        ENUMS,
        BESIDE_ANY_OF,
        REQUIRED,
        PROPERTY_NAMES,
        FORMATS,
        KINDS,
        NO_ARGUMENTS,
        NAME,
        COUNT,
        WELL_FORMED,
    ],
    unverified: &[
        "maximum depth of a schema: `exceeds the maximum allowed nesting depth` was observed, but no answer \
         contains the number",
        "in mode `ANY`, the `maxItems` of a request may add up to about 960, according to one report",
        "integer `enum`s may have about 2,000 characters in total, according to one report",
        "whether function names may have 128 characters, as in newer documentation; the API enforced 64",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::Gemini,
        carriers: &[(ToolFormat::GeminiJsonSchema, "gemini-json-schema")],
        names: NAMES,
        no_arguments: NoArguments::Omitted,
        max_tools: Some(512),
        requests: super::requests::GEMINI,
        ..Surface::PLAIN
    },
};

pub(super) const JSON_GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::Const]),
    refs: RefRule {
        anywhere: false,
        to_definitions: false,
        beside: Keywords::of(&[Keyword::Id, Keyword::Anchor]),
        recursion: Recursion::OnlyOptional,
        ..RefRule::OPEN
    },
    enums: EnumRule { kinds: &["string", "number", "integer"], ..EnumRule::OPEN },
    metaschema: true,
    array_items: false,
    ..Grammar::OPEN
};

pub(super) const JSON_ROOT: Fact = Fact {
    statement: "the root is an object",
    confidence: Grade::A,
    source: "google-genai, documentation of parametersJsonSchema",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    ..Fact::REFUSED
};
pub(super) const JSON_CONST: Fact = Fact {
    statement: "no `const`",
    confidence: Grade::C,
    source: "google-genai, documentation of responseJsonSchema",
    rules: &[Constraint::RefusedKeyword],
    keywords: Keywords::of(&[Keyword::Const]),
    severity: Severity::Ignored,
    ..Fact::REFUSED
};
pub(super) const JSON_REFERENCES: Fact = Fact {
    statement: "next to `$ref`, only keywords that begin with `$` are allowed; the reference is `#` or `#/$defs/name`",
    confidence: Grade::A,
    source: "google-genai, documentation of responseJsonSchema",
    rules: &[Constraint::BesideRef, Constraint::RefForm, Constraint::RefTarget],
    ..Fact::REFUSED
};
pub(super) const JSON_RECURSION: Fact = Fact {
    statement: "recursion only through properties that are not required",
    confidence: Grade::A,
    source: "google-genai, documentation of responseJsonSchema: cyclic references are unrolled, within \
        non-required properties",
    rules: &[Constraint::Recursion],
    severity: Severity::Reinterpreted,
    ..Fact::REFUSED
};
pub(super) const JSON_ENUMS: Fact = Fact {
    statement: "`enum` values are documented as strings and numbers; arrays are accepted, too",
    confidence: Grade::A,
    source:
        "google-genai, documentation of responseJsonSchema; recorded answers: 4 of 4 schemas with arrays in `enum` \
        were answered 200",
    rules: &[Constraint::EnumKind],
    severity: Severity::Ignored,
    ..Fact::REFUSED
};

pub(super) const JSON_SCHEMA: Dialect = Dialect {
    name: "gemini-json-schema",
    surface: "Gemini API, `functionDeclarations[].parametersJsonSchema`",
    documentation: "https://ai.google.dev/gemini-api/docs/function-calling",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[JSON_ROOT, JSON_CONST, JSON_REFERENCES, JSON_RECURSION, JSON_ENUMS, NAME, COUNT, VALID],
    unverified: &[
        "whether `allOf`, `pattern` and `default` have any effect: they are accepted",
        "undocumented keywords: mostly ignored",
        "a `title` next to other keywords may confuse the model (python-genai#1732)",
    ],
    method: Method::Rules(&JSON_GRAMMAR),
    tools: Surface {
        format: ToolFormat::GeminiJsonSchema,
        // Documentation of `FunctionDeclaration`: a function without parameters has neither member.
        no_arguments: NoArguments::Optional,
        carriers: &[(ToolFormat::Gemini, "gemini")],
        names: NAMES,
        max_tools: Some(512),
        requests: super::requests::GEMINI,
        ..Surface::PLAIN
    },
};
