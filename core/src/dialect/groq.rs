//! Groq: Chat Completions, function tools. It takes any schema, and then holds the model's arguments to it.

use super::{
    grammar::{Grammar, ObjectRule, OpenRule, RequiredRule},
    surface::{NamePattern, StrictFlag, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const GRAMMAR: Grammar = Grammar { metaschema: true, required_beside_properties: true, ..Grammar::OPEN };

const TOOLS: Surface = Surface {
    format: ToolFormat::OpenaiChat,
    names: NamePattern::OPENAI,
    tools_most: Some(128),
    requests: super::requests::GROQ,
    ..Surface::PLAIN
};

const REQUIRED: Fact = Fact {
    statement: "`required` stands beside `properties` that are not empty, even if it is an empty list; \
        llama-3.3-70b-versatile takes an empty one",
    confidence: 'A',
    source: "live: `invalid JSON schema for tool tool_without_parameters, tools[1].function.parameters: \
        'required' present but 'properties' is missing` (livekit/agents#5082 and five more threads, the latest \
        of 2026-09-05)",
    rules: &[Constraint::RequiredWithoutProperties],
    ..Fact::REFUSED
};

const NARROW: Fact = Fact {
    statement:
        "arguments that the schema does not accept are an error of the request, so nothing may be narrower than \
            the tool's own schema",
    confidence: 'C',
    source: "live: `tool call validation failed: parameters for tool X did not match schema`",
    rules: &[Constraint::RootObject],
    ..Fact::REFUSED
};

pub(super) const GROQ: Dialect = Dialect {
    name: "groq",
    surface: "Groq Chat Completions, function tools that are not strict",
    documentation: "https://console.groq.com/docs/tool-use",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[REQUIRED, NARROW, VALID],
    unverified: &["which keywords are enforced: nothing is documented for tools that are not strict"],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: TOOLS,
};

const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::PatternProperties, Keyword::PrefixItems]),
    array_items: false,
    objects: ObjectRule {
        open: OpenRule::MustClose,
        required: RequiredRule::All,
        required_accepts: false,
        maps: false,
        maps_count: false,
        ..ObjectRule::OPEN
    },
    boolean_schemas: false,
    false_schemas: false,
    ..GRAMMAR
};

pub(super) const STRICT: Dialect = Dialect {
    name: "groq-strict",
    surface: "Groq Chat Completions, what is sent with `strict: true` (gpt-oss)",
    documentation: "https://console.groq.com/docs/structured-outputs",
    as_of: "2026-11-26",
    encodes: &[
        "optional properties become required, and null means absent",
        "objects with free property names become lists of key-value pairs",
    ],
    facts: &[
        Fact {
            statement: "every object says `additionalProperties: false`",
            confidence: 'A',
            source: "live, gpt-oss-120b: `invalid JSON schema for response_format: 'answer': \
                `additionalProperties:false` must be set on every object` (Meridiona/meridian#812, 184 times in a \
                week of 2026-08)",
            rules: &[Constraint::ObjectNotClosed],
            ..Fact::REFUSED
        },
        Fact {
            statement: "every property is required",
            confidence: 'B',
            source: "Groq, structured outputs, strict mode",
            rules: &[Constraint::NotRequired],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `patternProperties` and no tuples: closed objects have the listed properties alone",
            confidence: 'C',
            source: "inferred from OpenAI's strict mode",
            rules: &[Constraint::RefusedKeyword, Constraint::ArrayItems, Constraint::NotASchema],
            ..Fact::REFUSED
        },
        REQUIRED,
        NARROW,
        VALID,
    ],
    unverified: &[
        "tools with `strict: true`: the page speaks of response formats, and no answer is recorded",
        "which keywords are enforced, and which are refused: nothing is documented",
    ],
    method: Method::Rules(&STRICT_GRAMMAR),
    tools: Surface { strict: StrictFlag::True, not_strict: Some("groq"), ..TOOLS },
    ..GROQ
};
