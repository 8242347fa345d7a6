//! Groq: Chat Completions, function tools. It takes any schema, and then holds the model's arguments to it.

use super::{
    grammar::Grammar,
    surface::{NamePattern, Surface},
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{options::ToolFormat, rules::Constraint};

const GRAMMAR: Grammar = Grammar { metaschema: true, required_beside_properties: true, ..Grammar::OPEN };

pub(super) const GROQ: Dialect = Dialect {
    name: "groq",
    surface: "Groq Chat Completions, function tools that are not strict",
    documentation: "https://console.groq.com/docs/tool-use",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "`required` stands beside `properties` that are not empty, even if it is an empty list; \
                llama-3.3-70b-versatile takes an empty one",
            confidence: 'A',
            source: "live: `invalid JSON schema for tool tool_without_parameters, tools[1].function.parameters: \
                'required' present but 'properties' is missing` (livekit/agents#5082 and five more threads, the latest \
                of 2026-09-05)",
            rules: &[Constraint::RequiredWithoutProperties],
            ..Fact::REFUSED
        },
        Fact {
        statement:
            "arguments that the schema does not accept are an error of the request, so nothing may be narrower than \
                the tool's own schema",
        confidence: 'C',
        source: "live: `tool call validation failed: parameters for tool X did not match schema`",
        rules: &[Constraint::RootObject],
        ..Fact::REFUSED
    },
        VALID,
    ],
    unverified: &[
        "which keywords are enforced: nothing is documented for tools that are not strict",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern::OPENAI,
        tools_most: Some(128),
        requests: super::requests::GROQ, ..Surface::PLAIN
    },
};
