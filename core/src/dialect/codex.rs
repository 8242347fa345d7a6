//! OpenAI Codex: two emulations of its rewriting of tool schemas.

use super::{
    reason::Cause,
    surface::{NamePattern, StrictFlag, Surface},
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Reason},
    rules::{Constraint, Rule},
};

const SOURCE: &str = "openai/codex, codex-rs/tools/src/json_schema.rs, late 2026";

const fn step(statement: &'static str, explains: &'static [Rule]) -> Fact {
    Fact { statement, confidence: Grade::A, source: SOURCE, explains, ..Fact::REFUSED }
}

const REPAIRED: Fact = step(
    "boolean schemas become strings, `const` becomes `enum`, a missing type is inferred from keywords",
    &[Rule::BooleanToString, Rule::ConstToEnum, Rule::InferType],
);
const CLEARED: Fact =
    step("a schema that hints at no type becomes `{}`; earlier versions made it a string", &[Rule::ClearUntyped]);
const COMPLETED: Fact = step(
    "an object gets empty `properties`, and an array gets `items` for strings",
    &[Rule::AddProperties, Rule::AddItems],
);
const DISCARDED: Fact = step(
    "null as the value of a keyword, an unknown name in `type` and a table of definitions that is not an object are \
        treated as absent",
    &[Rule::RemoveNullKeyword, Rule::RepairType, Rule::DropDefinitionsTable],
);
const TYPED: Fact = Fact {
    rules: &[
        Constraint::RootNotSchema,
        Constraint::RootNull,
        Constraint::NotASchema,
        Constraint::ArrayItems,
        Constraint::ItemsNotSchema,
        Constraint::AdditionalPropertiesNotSchema,
        Constraint::PropertiesNotObject,
        Constraint::CombinatorNotList,
        Constraint::RequiredNotStrings,
        Constraint::EnumNotList,
        Constraint::DescriptionNotString,
        Constraint::RefNotString,
        Constraint::MinItemsNotCount,
        Constraint::EncryptedNotBoolean,
        Constraint::UnknownType,
    ],
    ..step(
        "fifteen keywords are kept; a tool whose schema does not fit the typed model is dropped",
        &[Rule::DropKeyword],
    )
};
const SENT: Fact = Fact {
    statement: "tools are sent to the Responses API, as functions with `strict: false`",
    confidence: Grade::A,
    source: "openai/codex, codex-rs/tools, late 2026",
    rules: &[Constraint::StrictFlag, Constraint::ToolName],
    ..Fact::REFUSED
};

const FACTS: &[Fact] = &[REPAIRED, CLEARED, COMPLETED, DISCARDED, TYPED, SENT];

const WIRE_FACTS: &[Fact] = &[
    REPAIRED,
    CLEARED,
    COMPLETED,
    DISCARDED,
    step("unreachable definitions are removed", &[Rule::PruneDefinition]),
    step(
        "above 5,000 bytes, Codex drops descriptions, then references, then deep structure, then combinators",
        &[Rule::CompactDescriptions, Rule::CompactReferences, Rule::CompactDepth, Rule::CompactCombinators],
    ),
    TYPED,
    SENT,
];

/// Returns the step of Codex behind a change.
pub(crate) fn reason(rule: Rule) -> Reason {
    CODEX_WIRE.reason(rule, Cause::default())
}

const TOOLS: Surface = Surface {
    format: ToolFormat::OpenaiResponses,
    names: NamePattern::OPENAI,
    strict: StrictFlag::False,
    has_custom_tools: true,
    has_refusals: true,
    has_namespaces: true,
    ..Surface::PLAIN
};

pub(super) const CODEX: Dialect = Dialect {
    name: "codex",
    surface: "OpenAI Codex, only its schema sanitizer: unknown keywords are kept",
    documentation: "https://github.com/openai/codex/blob/main/codex-rs/tools/src/json_schema.rs",
    as_of: "2026-11-01",
    revision: 1,
    options: &[],
    encodes: &[],
    limits: &[],
    facts: FACTS,
    unverified: &[],
    method: Method::Codex { wire: false },
    tools: TOOLS,
};

pub(super) const CODEX_WIRE: Dialect = Dialect {
    name: "codex-wire",
    surface: "OpenAI Codex, everything it does before it sends a request",
    documentation: "https://github.com/openai/codex/blob/main/codex-rs/tools/src/json_schema.rs",
    as_of: "2026-11-01",
    revision: 1,
    options: &["maxBytes"],
    encodes: &[],
    limits: &[("maxBytes", 5000)],
    facts: WIRE_FACTS,
    unverified: &[],
    method: Method::Codex { wire: true },
    tools: TOOLS,
};
