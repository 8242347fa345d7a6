//! OpenAI Codex: two emulations of what it does to a tool's schema before a model sees it.

use super::{Dialect, Fact, Method};

const SOURCE: &str = "openai/codex, codex-rs/tools/src/json_schema.rs, late 2026";

const FACTS: &[Fact] = &[
    Fact {
        says: "boolean schemas become strings, `const` becomes `enum`, a missing type is inferred from keywords",
        confidence: 'A',
        source: SOURCE,
    },
    Fact { says: "a schema without any hint becomes `{}`; earlier versions made it a string", confidence: 'A', source: SOURCE },
];

const WIRE_FACTS: &[Fact] = &[
    Fact {
        says: "boolean schemas become strings, `const` becomes `enum`, a missing type is inferred from keywords",
        confidence: 'A',
        source: SOURCE,
    },
    Fact { says: "a schema without any hint becomes `{}`; earlier versions made it a string", confidence: 'A', source: SOURCE },
    Fact { says: "definitions that nothing reaches are removed", confidence: 'A', source: SOURCE },
    Fact {
        says: "above 5,000 bytes descriptions, then references, then deep structure, then combinators are given up",
        confidence: 'A',
        source: SOURCE,
    },
    Fact { says: "fifteen keywords survive; a schema that its typed model cannot hold costs the tool", confidence: 'A', source: SOURCE },
];

const REASONS: &[(&str, &str)] =
    &[("", "Codex does this to every tool schema (openai/codex, codex-rs/tools/src/json_schema.rs, confidence A)")];

pub(super) const CODEX: Dialect = Dialect {
    name: "codex",
    surface: "OpenAI Codex, its schema sanitizer alone: unknown keywords are kept",
    documentation: "https://github.com/openai/codex/blob/main/codex-rs/tools/src/json_schema.rs",
    as_of: "2026-11-01",
    revision: 1,
    options: &[],
    encodes: &[],
    limits: &[],
    facts: FACTS,
    reasons: REASONS,
    method: Method::Codex { wire: false },
};

pub(super) const CODEX_WIRE: Dialect = Dialect {
    name: "codex-wire",
    surface: "OpenAI Codex, everything it does before the request leaves",
    documentation: "https://github.com/openai/codex/blob/main/codex-rs/tools/src/json_schema.rs",
    as_of: "2026-11-01",
    revision: 1,
    options: &["maxBytes"],
    encodes: &[],
    limits: &[("maxBytes", 5000)],
    facts: WIRE_FACTS,
    reasons: REASONS,
    method: Method::Codex { wire: true },
};
