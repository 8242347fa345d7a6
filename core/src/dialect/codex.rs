//! OpenAI Codex: two emulations of its rewriting of tool schemas.

use super::{
    surface::{NamePattern, StrictFlag, Surface},
    Dialect, Fact, Method,
};
use crate::{options::ToolFormat, report::Grade, rules::Constraint, rules::Rule};

const SOURCE: &str = "openai/codex, codex-rs/tools/src/json_schema.rs, late 2026";

const REPAIRED: Fact = Fact {
    statement: "boolean schemas become strings, `const` becomes `enum`, a missing type is inferred from keywords",
    confidence: Grade::A,
    source: SOURCE,
    rules: &[],
    ..Fact::REFUSED
};
const CLEARED: Fact = Fact {
    statement: "a schema that hints at no type becomes `{}`; earlier versions made it a string",
    confidence: Grade::A,
    source: SOURCE,
    rules: &[],
    ..Fact::REFUSED
};
const TYPED: Fact = Fact {
    statement: "fifteen keywords are kept; a tool whose schema does not fit the typed model is dropped",
    confidence: Grade::A,
    source: SOURCE,
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
    ..Fact::REFUSED
};
const SENT: Fact = Fact {
    statement: "tools are sent to the Responses API, as functions with `strict: false`",
    confidence: Grade::A,
    source: "openai/codex, codex-rs/tools, late 2026",
    rules: &[Constraint::StrictFlag, Constraint::ToolName],
    ..Fact::REFUSED
};

const FACTS: &[Fact] = &[REPAIRED, CLEARED, TYPED, SENT];

const WIRE_FACTS: &[Fact] = &[
    REPAIRED,
    CLEARED,
    Fact {
        statement: "unreachable definitions are removed",
        confidence: Grade::A,
        source: SOURCE,
        rules: &[],
        ..Fact::REFUSED
    },
    Fact {
        statement: "above 5,000 bytes, Codex drops descriptions, then references, then deep structure, then \
            combinators",
        confidence: Grade::A,
        source: SOURCE,
        rules: &[],
        ..Fact::REFUSED
    },
    TYPED,
    SENT,
];

const TOOLS: Surface = Surface {
    format: ToolFormat::OpenaiResponses,
    names: NamePattern::OPENAI,
    strict: StrictFlag::False,
    has_custom_tools: true,
    has_refusals: true,
    has_namespaces: true,
    ..Surface::PLAIN
};

const REASONS: &[(Option<Rule>, &str)] =
    &[(None, "Codex does this to every tool schema (openai/codex, codex-rs/tools/src/json_schema.rs, confidence A)")];

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
    reasons: REASONS,
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
    reasons: REASONS,
    method: Method::Codex { wire: true },
    tools: TOOLS,
};
