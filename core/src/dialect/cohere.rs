//! Cohere: Chat v2, tools that are not strict.

use super::{
    grammar::Grammar,
    surface::{NamePattern, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{options::ToolFormat, rules::Constraint};

pub(super) const COHERE: Dialect = Dialect {
    name: "cohere",
    surface: "Cohere Chat v2, function tools without `strict_tools`",
    documentation: "https://docs.cohere.com/docs/structured-outputs",
    as_of: "2026-11-21",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "every keyword of JSON Schema is taken; the root is an object",
            confidence: 'A',
            source:
                "Cohere, structured outputs, table of parameter types: tools that are not strict; recorded answers \
                of api.cohere.com",
            rules: &[Constraint::RootObject, Constraint::RootNotSchema],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a tool's name has letters, digits and `_`, and does not begin with a digit",
            confidence: 'A',
            source:
                "Cohere, API reference, tools (as Oracle's SDK repeats it): valid names contain only the characters \
                a-z, A-Z, 0-9 and _, and must not begin with a digit",
            rules: &[Constraint::ToolName],
            ..Fact::REFUSED
        },
        WELL_FORMED,
    ],
    unverified: &[
        "how long a tool's name may be",
        "`strict_tools: true`, a flag of the request: this table is not for it",
    ],
    reasons: &[],
    method: Method::Rules(&Grammar::OPEN),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern { also: Some("_"), letter_first: true, least: 1, most: usize::MAX },
        ..Surface::PLAIN
    },
};
