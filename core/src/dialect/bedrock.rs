//! Amazon Bedrock: Converse, `toolSpec.inputSchema.json`.

use super::{
    anthropic,
    grammar::{Grammar, Inlining, RefRule},
    requests,
    surface::{NamePattern, StrictFlag, Surface},
    well_formed::{self, VALID},
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::{Constraint, Rule},
    schema::keyword::{Keyword, Keywords},
};

const OBJECT: Fact = Fact {
    statement: "the root has `type: \"object\"`",
    confidence: Grade::A,
    source: "live: `tools.0.custom.input_schema.type: Input should be 'object'`",
    rules: &[Constraint::RootObject, Constraint::RootNotSchema],
    ..Fact::REFUSED
};
const NAMES: Fact = Fact {
    statement: "tool names match `^[a-zA-Z0-9_-]{1,64}$`",
    confidence: Grade::A,
    source: "botocore, bedrock-runtime service model",
    rules: &[Constraint::ToolName],
    ..Fact::REFUSED
};
const DESCRIPTIONS: Fact = Fact {
    statement: "a description is not empty",
    confidence: Grade::A,
    source: "botocore, bedrock-runtime service model",
    rules: &[Constraint::EmptyDescription],
    ..Fact::REFUSED
};

const GRAMMAR: Grammar = Grammar {
    // References are accepted but inlined anyway, because Amazon's own models do not follow them.
    accept_unchanged: false,
    refs: RefRule { inlining: Inlining::All, ..RefRule::OPEN },
    metaschema: true,
    ..Grammar::OPEN
};

const TOOLS: Surface =
    Surface { format: ToolFormat::Bedrock, names: NamePattern::OPENAI, no_empty_description: true, ..Surface::PLAIN };

pub(super) const BEDROCK: Dialect = Dialect {
    name: "bedrock",
    surface: "Amazon Bedrock, Converse, `toolSpec.inputSchema.json`, except for Claude",
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
            confidence: Grade::B,
            source: "pydantic-ai, the profile of Amazon's models",
            rules: &[],
            explains: &[Rule::InlineRef, Rule::DynamicRefToRef],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        NAMES,
        DESCRIPTIONS,
        Fact::accepts_strict("recorded answers: 40 exchanges with `strict: true` were answered 200"),
        VALID,
    ],
    unverified: &[
        "which models need inlined references: known for Amazon Nova",
        "lists of types with Claude on Bedrock: some clients avoid them",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface { requests: requests::BEDROCK, ..TOOLS },
};

pub(super) const ANTHROPIC: Dialect = Dialect {
    name: "bedrock-anthropic",
    surface: "Amazon Bedrock, Converse, `toolSpec.inputSchema.json` for Claude",
    documentation: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolInputSchema.html",
    as_of: "2026-11-26",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &["root properties whose names the API refuses are renamed"],
    limits: &[],
    facts: &[
        OBJECT,
        Fact {
            source: "live: `tools.24.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the \
                top level` (senpi#1947, kiro-gateway#232, hermes#19739)",
            ..anthropic::ROOT
        },
        Fact {
            source: "live, from Anthropic through Converse (idp-on-aws#709): `JSON schema is invalid. It must match \
                JSON Schema draft 2020-12`",
            ..anthropic::METASCHEMA
        },
        well_formed::ENUM_EMPTY,
        anthropic::PROPERTY_NAMES,
        NAMES,
        DESCRIPTIONS,
        Fact::accepts_strict("recorded answers: 40 exchanges with `strict: true` were answered 200"),
        VALID,
    ],
    unverified: &["property names: the pattern is from Anthropic's own API, which answers through Converse"],
    method: Method::Rules(&anthropic::GRAMMAR),
    tools: Surface { requests: requests::BEDROCK_ANTHROPIC, ..TOOLS },
};

/// From the API's documentation; not probed.
const STRICT_DOCUMENTATION: &str = "AWS, structured outputs \
    (docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html)";

/// Source of the facts that were probed keyword by keyword.
const STRICT_PROBED: &str =
    "live: pydantic-ai 2.68.0, providers/bedrock.py, probed with claude-sonnet-4-5 on 2026-05-19";

const STRICT_GRAMMAR: Grammar = Grammar {
    refuses: anthropic::STRICT_GRAMMAR
        .refuses
        .difference(Keywords::of(&[Keyword::MinLength, Keyword::MaxLength]))
        .union(Keywords::of(&[Keyword::Contains, Keyword::MinContains, Keyword::MaxContains])),
    ..anthropic::STRICT_GRAMMAR
};

const STRICT_MODE: Fact = Fact::enforces_strict(Grade::A, STRICT_DOCUMENTATION);

pub(super) const STRICT: Dialect = Dialect {
    name: "bedrock-strict",
    surface: "Amazon Bedrock, Converse, `toolSpec` with `strict: true`",
    documentation: "https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html",
    as_of: "2026-11-26",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: anthropic::STRICT.encodes,
    limits: &[],
    facts: &[
        OBJECT,
        Fact {
            source: "live: `tools.24.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the \
                top level` (senpi#1947, kiro-gateway#232, hermes#19739), with Claude",
            ..anthropic::ROOT
        },
        anthropic::METASCHEMA,
        well_formed::ENUM_EMPTY,
        anthropic::PROPERTY_NAMES,
        Fact {
            statement: "every object is closed",
            confidence: Grade::A,
            source: STRICT_DOCUMENTATION,
            rules: &[Constraint::ObjectNotClosed, Constraint::Map],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no numeric bounds, `multipleOf` or `maxItems`; `minLength` and `maxLength` are accepted, \
                contrary to the documentation",
            confidence: Grade::A,
            source: STRICT_PROBED,
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[
                Keyword::Minimum,
                Keyword::Maximum,
                Keyword::ExclusiveMinimum,
                Keyword::ExclusiveMaximum,
                Keyword::MultipleOf,
                Keyword::MaxItems,
            ]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `contains`; Ministral accepts it",
            confidence: Grade::B,
            source: "pydantic-ai#10713: Claude, GLM, Qwen and Gemma refuse it",
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[Keyword::Contains, Keyword::MinContains, Keyword::MaxContains]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `oneOf`, `not`, `uniqueItems`, `patternProperties` or `prefixItems`, as in Anthropic's own \
                strict tools",
            confidence: Grade::C,
            source: "Anthropic, structured outputs, limitations",
            rules: &[Constraint::RefusedKeyword],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`minItems` is 0 or 1",
            confidence: Grade::A,
            source: STRICT_PROBED,
            rules: &[Constraint::KeywordTooLarge],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` has no lookaround, and no backslash before a digit (such as a backreference)",
            confidence: Grade::A,
            source: "live: pydantic-ai 2.68.0, providers/bedrock.py, probed with claude-opus-4-7 and qwen3-32b on \
                2026-10-29",
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no recursion",
            confidence: Grade::A,
            source: "recorded answers: a recursive reference at the root was answered 500, five times out of five",
            rules: &[Constraint::Recursion],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `$ref` directly in `allOf`, only scalars in `enum`, ten formats, and a type, a union or a \
                reference in every schema, as in Anthropic's own strict tools",
            confidence: Grade::C,
            source: "Anthropic, structured outputs, limitations",
            rules: &[
                Constraint::RefPlace,
                Constraint::EnumKind,
                Constraint::Format,
                Constraint::Untyped,
                Constraint::OpenItems,
            ],
            ..Fact::REFUSED
        },
        Fact {
            statement:
                "with Claude, at most 20 strict tools, 24 optional properties and 16 unions in a request, and about 10 \
                    and 8 in one tool",
            confidence: Grade::B,
            source: "pydantic-ai 2.68.0, providers/bedrock.py, counts 20; the others are Anthropic's",
            rules: &[
                Constraint::TooManyStrictTools,
                Constraint::TooManyOptionalProperties,
                Constraint::TooManyUnions,
                Constraint::TooComplex,
            ],
            ..Fact::REFUSED
        },
        NAMES,
        DESCRIPTIONS,
        STRICT_MODE,
    ],
    unverified: &[
        "models other than Claude: the keywords of Claude's table were partly probed with GLM, Qwen and Gemma",
        "which models accept `strict`: Bedrock's documentation lists them",
    ],
    method: Method::Rules(&STRICT_GRAMMAR),
    tools: Surface {
        strict: StrictFlag::True,
        strict_fact: Some(&STRICT_MODE),
        budgets: anthropic::STRICT.tools.budgets,
        tool_budgets: anthropic::STRICT.tools.tool_budgets,
        not_strict: Some("bedrock-anthropic"),
        requests: requests::BEDROCK_ANTHROPIC,
        ..TOOLS
    },
};
