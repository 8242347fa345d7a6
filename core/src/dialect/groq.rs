//! Groq: Chat Completions, function tools. It takes any schema, and then holds the model's arguments to it.

use super::{
    grammar::Grammar,
    surface::{NamePattern, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{options::ToolFormat, rules::Constraint};

const GRAMMAR: Grammar = Grammar::OPEN;

pub(super) const GROQ: Dialect = Dialect {
    name: "groq",
    surface: "Groq Chat Completions, function tools that are not strict",
    documentation: "https://console.groq.com/docs/tool-use",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[Fact {
        statement:
            "arguments that the schema does not accept are an error of the request, so nothing may be narrower than \
                the tool's own schema",
        confidence: 'C',
        source: "live: `tool call validation failed: parameters for tool X did not match schema`",
        rules: &[Constraint::RootObject],
        ..Fact::REFUSED
    },
        WELL_FORMED,
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
        ..Surface::PLAIN
    },
};
