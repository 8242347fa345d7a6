//! Vertex AI: Gemini's function declarations at `aiplatform.googleapis.com`, which accepts a few more fields of the
//! Schema message and is stricter about unions.

use super::{
    gemini,
    grammar::{AnyOfRule, Grammar, ObjectRule, OpenRule},
    surface::{NoArguments, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::Grade,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const GRAMMAR: Grammar = Grammar {
    refuses: gemini::GRAMMAR.refuses.difference(Keywords::of(&[Keyword::AdditionalProperties])),
    // Includes the protocol's own fields for references, which are rarely used.
    unknown: Some(&["example", "propertyOrdering", "property_ordering", "ref", "defs"]),
    any_of: AnyOfRule { beside: Keywords::NONE, ..AnyOfRule::OPEN },
    objects: ObjectRule { open: OpenRule::AsJsonSchema, maps_count: true, ..gemini::GRAMMAR.objects },
    ..gemini::GRAMMAR
};

pub(super) const VERTEX: Dialect = Dialect {
    name: "vertex",
    surface: "Vertex AI, Gemini's `functionDeclarations[].parameters` (the Schema message, an OpenAPI 3.0 subset)",
    documentation: "https://cloud.google.com/vertex-ai/docs/reference/rest/v1/Schema",
    as_of: "2026-11-21",
    revision: 1,
    options: &["untyped", "hints", "maxNodes"],
    encodes: &[
        "property names that the API refuses are renamed",
        "values of any type, and objects without known properties, become JSON text",
        "numbers and booleans in `enum` may arrive as strings",
    ],
    limits: &[],
    facts: &[
        Fact {
            statement: "only the fields of the Schema message, including `additionalProperties`: any other key is \
                refused, `const` and `patternProperties` too",
            confidence: Grade::A,
            source: "raw probes of 2026-05-07 (rust-genai#223); google-genai 3.4.0: `additional_properties` is \
                supported in Gemini Enterprise Agent Platform mode only",
            rules: &[Constraint::RefusedKeyword, Constraint::UnknownKeyword],
            ..Fact::REFUSED
        },
        gemini::ROOT,
        Fact {
            statement: "every object below the root has at least one property or `additionalProperties` other than \
                `false`",
            confidence: Grade::B,
            source: "live: `properties: should be non-empty for OBJECT type`; maps by raw probes of 2026-05-07 \
                (rust-genai#223)",
            rules: &[Constraint::ObjectWithoutProperties, Constraint::PropertiesNotObject],
            ..Fact::REFUSED
        },
        gemini::OBJECT_KEYWORDS,
        gemini::TYPED,
        gemini::ITEMS,
        gemini::ENUMS,
        Fact {
            statement: "`anyOf` has no sibling keywords",
            confidence: Grade::A,
            source: "live: `when using any_of, it must be the only fields set` (litellm#11164, \
                langchain-google#1216, opencode#14509)",
            rules: &[Constraint::BesideAnyOf, Constraint::CombinatorNotList, Constraint::AnyOfSize],
            ..Fact::REFUSED
        },
        gemini::REQUIRED,
        gemini::PROPERTY_NAMES,
        gemini::FORMATS,
        gemini::KINDS,
        gemini::NO_ARGUMENTS,
        gemini::NAME,
        gemini::COUNT,
        WELL_FORMED,
    ],
    unverified: &[
        "the fields `ref` and `defs`, in which google-genai writes references: accepted, but not checked",
        "all facts quoted from the Gemini API: both APIs share the message, and no answer of Vertex differs",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::Gemini,
        carriers: &[(ToolFormat::GeminiJsonSchema, "vertex-json-schema")],
        names: gemini::NAMES,
        no_arguments: NoArguments::Omitted,
        max_tools: Some(512),
        requests: super::requests::VERTEX,
        ..Surface::PLAIN
    },
};

pub(super) const JSON_SCHEMA: Dialect = Dialect {
    name: "vertex-json-schema",
    surface: "Vertex AI, Gemini's `functionDeclarations[].parametersJsonSchema`",
    documentation: "https://cloud.google.com/vertex-ai/docs/reference/rest/v1/FunctionDeclaration",
    as_of: "2026-11-21",
    unverified: &[
        "whether Vertex accepts what the Gemini API accepts: documented for both (google-genai 3.4.0), and no report \
            contradicts it",
        "whether `allOf`, `pattern` and `default` have any effect: they are accepted",
        "undocumented keywords: mostly ignored",
    ],
    tools: Surface { carriers: &[(ToolFormat::Gemini, "vertex")], ..gemini::JSON_SCHEMA.tools },
    ..gemini::JSON_SCHEMA
};
