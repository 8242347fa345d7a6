//! Amazon Bedrock: Converse, `toolSpec.inputSchema.json`.

use super::{
    anthropic,
    grammar::{Grammar, Inlining, RefRule},
    requests,
    surface::{NamePattern, Surface},
    well_formed::{self, VALID},
    Dialect, Fact, Method,
};
use crate::{options::ToolFormat, report::Severity, rules::Constraint};

const OBJECT: Fact = Fact {
    statement: "the root says `type: \"object\"`",
    confidence: 'A',
    source: "live: `tools.0.custom.input_schema.type: Input should be 'object'`",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    ..Fact::REFUSED
};
const NAMES: Fact = Fact {
    statement: "a tool's name has 1 to 64 letters, digits, `_` and `-`",
    confidence: 'A',
    source: "botocore, bedrock-runtime service model",
    rules: &[Constraint::ToolName],
    ..Fact::REFUSED
};
const DESCRIPTIONS: Fact = Fact {
    statement: "a description is not empty",
    confidence: 'A',
    source: "botocore, bedrock-runtime service model",
    rules: &[Constraint::EmptyDescription],
    ..Fact::REFUSED
};

const GRAMMAR: Grammar = Grammar {
    // References are accepted and yet better inlined, because Amazon's own models do not follow them.
    accept_unchanged: false,
    refs: RefRule { inlining: Inlining::All, ..RefRule::OPEN },
    metaschema: true,
    ..Grammar::OPEN
};

const TOOLS: Surface =
    Surface { format: ToolFormat::Bedrock, names: NamePattern::OPENAI, no_empty_description: true, ..Surface::PLAIN };

pub(super) const BEDROCK: Dialect = Dialect {
    name: "bedrock",
    surface: "Amazon Bedrock, Converse, `toolSpec.inputSchema.json`, but for Claude",
    documentation: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolInputSchema.html",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        OBJECT,
        Fact {
            statement: "Amazon Nova does not follow references, so they are inlined",
            confidence: 'B',
            source: "pydantic-ai, the profile of Amazon's models",
            rules: &[],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        NAMES,
        DESCRIPTIONS,
        Fact::accepts_strict("recorded answers: 40 exchanges with it were answered 200"),
        VALID,
    ],
    unverified: &[
        "which models want references inlined: known for Amazon Nova",
        "lists of types with Claude behind Bedrock: some clients avoid them",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: TOOLS,
};

pub(super) const ANTHROPIC: Dialect = Dialect {
    name: "bedrock-anthropic",
    surface: "Amazon Bedrock, Converse, `toolSpec.inputSchema.json` for Claude",
    documentation: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolInputSchema.html",
    as_of: "2026-11-26",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &["property names of the root that the API refuses are renamed"],
    limits: &[],
    facts: &[
        OBJECT,
        Fact {
            source: "live: `tools.24.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the \
                top level` (senpi#1947, kiro-gateway#232, hermes#19739)",
            ..anthropic::ROOT
        },
        Fact {
            source: "live, from Anthropic behind Converse (idp-on-aws#709): `JSON schema is invalid. It must match \
                JSON Schema draft 2020-12`",
            ..anthropic::METASCHEMA
        },
        well_formed::ENUM_EMPTY,
        anthropic::PROPERTY_NAMES,
        NAMES,
        DESCRIPTIONS,
        Fact::accepts_strict("recorded answers: 40 exchanges with it were answered 200"),
        VALID,
    ],
    unverified: &["names of properties: the pattern is quoted from Anthropic's own API, which answers behind Converse"],
    reasons: &[],
    method: Method::Rules(&anthropic::GRAMMAR),
    tools: Surface { requests: requests::ANTHROPIC, ..TOOLS },
};
