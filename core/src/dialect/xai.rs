//! xAI (Grok): tools are always strict, regardless of `strict`.

use super::{
    grammar::{EnumRule, Grammar, ObjectRule, OpenRule, PatternRule, Recursion, RefRule},
    openai, requests,
    surface::{NamePattern, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const DOCUMENTATION: &str = "xAI, structured outputs, supported schemas";

const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::MinContains, Keyword::MaxContains]),
    refs: RefRule { recursion: Recursion::Refused, ..RefRule::OPEN },
    enums: EnumRule { without: Some('/'), ..EnumRule::OPEN },
    objects: ObjectRule { open: OpenRule::ClosedByDefault, ..ObjectRule::OPEN },
    patterns: PatternRule::Regular,
    boolean_schemas: false,
    array_items: false,
    root_refuses: Keywords::of(&[Keyword::AnyOf, Keyword::OneOf]),
    root_unions_of_objects: true,
    metaschema: true,
    ..Grammar::OPEN
};

pub(super) const XAI: Dialect = Dialect {
    name: "xai",
    surface: "xAI (Grok), Chat Completions and Responses, function tools",
    documentation: "https://docs.x.ai/docs/guides/structured-outputs",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "an object without `additionalProperties` is closed, so an open one has `true`",
            confidence: Grade::A,
            source: "xAI, structured outputs; recorded answers: 17 of 17 accepted schemas do not have it",
            rules: &[Constraint::ObjectOpenness],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "every branch of a union at the root has its own `type: \"object\"`; a `$ref` does not count",
            confidence: Grade::A,
            source:
                "live: `[invalid_client_tool_schema] X: tool parameter root must be an object type (root schema is \
                an anyOf/oneOf union with a non-object branch)` (CLIProxyAPI#4343, #4397, #5260, cc-switch#6815, \
                opencodex#1105, #1726, Codewhale#4546)",
            rules: &[Constraint::RootKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no recursion",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::Recursion, Constraint::RefTarget],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `minContains` or `maxContains`",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[Keyword::MinContains, Keyword::MaxContains]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "properties are objects, not booleans, and tuples are written as `prefixItems`",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::NotASchema, Constraint::ArrayItems, Constraint::ItemsNotSchema],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` has no backreference, `\\p{…}`, `\\b`, lookaround or inline flags",
            confidence: Grade::A,
            source: DOCUMENTATION,
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`enum` values do not contain `/`",
            confidence: Grade::B,
            source: "live: `Invalid arguments passed to the model` (hermes-agent removes such values)",
            rules: &[Constraint::EnumKind],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a request has at most 350 tools; 200 through cli-chat-proxy and before mid-2026",
            confidence: Grade::A,
            source:
                "live: `Maximum tools limit reached. 744 tools have been provided but the maximum is 350`; 350 pass \
                and 351 fail (copilot-cli, 2026-09-14)",
            rules: &[Constraint::TooManyTools],
            ..Fact::REFUSED
        },
        Fact {
            confidence: Grade::C,
            source: "inferred from OpenAI's tools, whose format the API has; no answer is known",
            ..openai::NAMES
        },
        Fact {
            statement: "on Responses, a tool may omit `strict`",
            confidence: Grade::A,
            source: "recorded answers: 5 lists without it were answered 200",
            rules: &[Constraint::StrictFlag],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        VALID,
    ],
    unverified: &[
        "`enum` values with a `/`: one report of a refusal",
        "formats other than the eight documented ones: accepted, and not enforced",
        "`not`, `if` and several branches of `allOf`: accepted, and enforced as far as possible",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern::OPENAI,
        max_tools: Some(350),
        requests: requests::XAI,
        ..Surface::PLAIN
    },
};
