//! Amazon Bedrock: Converse, `toolSpec.inputSchema.json`.

use super::{
    grammar::{Grammar, Inlining, RefRule},
    surface::{NamePattern, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{options::ToolFormat, report::Severity, rules::Constraint};

const GRAMMAR: Grammar = Grammar {
    // References are accepted and yet better inlined, because Amazon's own models do not follow them.
    accept_unchanged: false,
    refs: RefRule { inlining: Inlining::All, ..RefRule::OPEN },
    ..Grammar::OPEN
};

pub(super) const BEDROCK: Dialect = Dialect {
    name: "bedrock",
    surface: "Amazon Bedrock, Converse, `toolSpec.inputSchema.json`",
    documentation: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolInputSchema.html",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "the root says `type: \"object\"`",
            confidence: 'A',
            source: "live: `tools.0.custom.input_schema.type: Input should be 'object'`",
            rules: &[Constraint::RootObject, Constraint::RootNotSchema],
            ..Fact::REFUSED
        },
        Fact {
            statement: "Amazon Nova does not follow references, so they are inlined",
            confidence: 'B',
            source: "pydantic-ai, the profile of Amazon's models",
            rules: &[],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "a tool's name has 1 to 64 letters, digits, `_` and `-`",
            confidence: 'A',
            source: "botocore, bedrock-runtime service model",
            rules: &[Constraint::ToolName],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a description is not empty",
            confidence: 'A',
            source: "botocore, bedrock-runtime service model",
            rules: &[Constraint::EmptyDescription],
            ..Fact::REFUSED
        },
        Fact::accepts_strict("recorded answers: 40 exchanges with it were answered 200"),
        WELL_FORMED,
    ],
    unverified: &[
        "which models want references inlined: known for Amazon Nova",
        "lists of types with Claude behind Bedrock: some clients avoid them",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::Bedrock,
        names: NamePattern::OPENAI,
        no_empty_description: true,
        ..Surface::PLAIN
    },
};
