//! SGLang's server: tools that are not strict do not become a grammar, but all tools are checked against the
//! meta-schema.

use super::{
    grammar::{Grammar, PatternRule},
    surface::{NamePattern, Surface},
    well_formed, Dialect, Fact, Method,
};
use crate::{options::ToolFormat, report::Grade, rules::Constraint};

pub(super) const GRAMMAR: Grammar = Grammar {
    object_root: false,
    metaschema: true,
    patterns: PatternRule::Python,
    array_items: false,
    ..Grammar::OPEN
};

pub(super) const SGLANG: Dialect = Dialect {
    name: "sglang",
    surface: "SGLang's server, non-strict function tools",
    documentation: "https://docs.sglang.ai/advanced_features/tool_parser.html",
    as_of: "2026-11-21",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes", "template"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement:
                "the schema is valid against the 2020-12 meta-schema, whatever the `tool_choice`, and every reference \
                    resolves",
            confidence: Grade::A,
            source: "live, from hosts that run it: `Tool 4 function has invalid 'parameters' schema: [{…}] is not of \
                type 'object', 'boolean'`; sglang, validate_chat_input",
            rules: well_formed::METASCHEMA,
            ..Fact::REFUSED
        },
        Fact {
            statement: "every `pattern`, and every key of `patternProperties`, compiles in Python's `re`",
            confidence: Grade::A,
            source: "run with jsonschema: `'^\\p{L}+$' is not a 'regex'`",
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "tool names match OpenAI's pattern, in ASCII",
            confidence: Grade::C,
            source: "sglang#39895, not verified",
            rules: &[Constraint::ToolName],
            ..Fact::REFUSED
        },
        well_formed::WELL_FORMED,
    ],
    unverified: &["tools with `strict: true`, which become xgrammar grammars: this table does not cover them"],
    method: Method::Rules(&GRAMMAR),
    tools: Surface { format: ToolFormat::OpenaiChat, names: NamePattern::OPENAI, ..Surface::PLAIN },
};
