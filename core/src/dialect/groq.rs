//! Groq: Chat Completions, function tools. Without `strict`, Groq accepts any schema and validates the model's
//! arguments with it; with `strict: true`, it requires OpenAI's strict form.

use super::{
    grammar::{AnyOfRule, Grammar},
    openai,
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

const GRAMMAR: Grammar = Grammar { metaschema: true, required_beside_properties: true, ..Grammar::OPEN };

const TOOLS: Surface = Surface {
    format: ToolFormat::OpenaiChat,
    names: NamePattern::OPENAI,
    max_tools: Some(128),
    requests: super::requests::GROQ,
    ..Surface::PLAIN
};

const REQUIRED: Fact = Fact {
    statement:
        "`required`, even an empty list, needs `properties` that are not empty; llama-3.3-70b-versatile accepts \
        an empty list",
    confidence: Grade::A,
    source: "live: `invalid JSON schema for tool tool_without_parameters, tools[1].function.parameters: \
        'required' present but 'properties' is missing` (livekit/agents#5082 and five more threads, the latest \
        of 2026-09-05)",
    rules: &[Constraint::RequiredWithoutProperties],
    ..Fact::REFUSED
};

pub(super) const GROQ: Dialect = Dialect {
    name: "groq",
    surface: "Groq Chat Completions, non-strict function tools",
    documentation: "https://console.groq.com/docs/tool-use",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        REQUIRED,
        Fact {
            statement:
                "arguments that violate the schema fail the request, so no schema may be narrower than the tool's own",
            confidence: Grade::C,
            source: "live: `tool call validation failed: parameters for tool web_search did not match schema: errors: \
                [/count: expected integer, but got string]` (picoclaw#400, ha-groq-cloud-api#20, laravel/ai#239, \
                OpenHands#10048); the option `lenientTypes` widens schemas",
            rules: &[Constraint::RootObject],
            ..Fact::REFUSED
        },
        VALID,
    ],
    unverified: &["which keywords are enforced: nothing is documented for non-strict tools"],
    method: Method::Rules(&GRAMMAR),
    tools: TOOLS,
};

/// Strict mode refuses counts of items.
const ITEM_COUNTS: Keywords = Keywords::of(&[Keyword::MinItems, Keyword::MaxItems]);

const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: openai::STRICT_GRAMMAR.refuses.union(ITEM_COUNTS),
    ignores: Keywords::NONE,
    any_of: AnyOfRule::OPEN,
    formats: None,
    required_beside_properties: true,
    ..openai::STRICT_GRAMMAR
};

const STRICT_MODE: Fact = Fact::enforces_strict(Grade::B, "Groq, structured outputs, strict mode");

pub(super) const STRICT: Dialect = Dialect {
    name: "groq-strict",
    surface: "Groq Chat Completions, function tools with `strict: true` (gpt-oss)",
    documentation: "https://console.groq.com/docs/structured-outputs",
    as_of: "2026-11-27",
    encodes: openai::STRICT.encodes,
    facts: &[
        Fact {
            statement: "every object has `additionalProperties: false`",
            confidence: Grade::A,
            source: "live, tools: `invalid JSON schema for tool browser_type, tools[2].function.parameters: \
                /properties/inputs/anyOf/0/items: additionalProperties:false must be set on every object` \
                (eigent#1786, 2026-07); formats: the same words (Meridiona/meridian#811, 2026-08)",
            rules: &[Constraint::ObjectNotClosed, Constraint::Map],
            ..Fact::REFUSED
        },
        Fact {
            statement: "every property is required",
            confidence: Grade::B,
            source: "Groq, structured outputs, strict mode",
            rules: &[Constraint::NotRequired, Constraint::RequiredUnknown],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `minItems` or `maxItems`",
            confidence: Grade::B,
            source: "live: `invalid schema for response format: response_format/json_schema/next_step: minItems is \
                not supported` (beeai-framework#1215, 2025-10)",
            rules: &[Constraint::RefusedKeyword],
            keywords: ITEM_COUNTS,
            ..Fact::REFUSED
        },
        REQUIRED,
        openai::inferred_of_strict(openai::STRICT_ROOT),
        openai::inferred_of_strict(openai::STRICT_PROPERTIES),
        openai::inferred_of_strict(openai::ROOT),
        openai::inferred_of_strict(openai::STRICT_KEYWORDS),
        openai::inferred_of_strict(openai::STRICT_META_KEYWORDS),
        openai::inferred_of_strict(openai::STRICT_TYPED),
        openai::inferred_of_strict(openai::STRICT_REFS),
        openai::inferred_of_strict(openai::ITEMS),
        openai::inferred_of_strict(openai::PATTERN),
        openai::inferred_of_strict(openai::ENUM),
        VALID,
        STRICT_MODE,
    ],
    unverified: &["bounds, `format` and `pattern` with `strict: true`: no report either way"],
    method: Method::Rules(&STRICT_GRAMMAR),
    tools: Surface { strict: StrictFlag::True, strict_fact: Some(&STRICT_MODE), not_strict: Some("groq"), ..TOOLS },
    ..GROQ
};
