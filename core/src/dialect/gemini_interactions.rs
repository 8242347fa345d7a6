//! Gemini Interactions (`POST /v1beta/interactions`): functions with a JSON Schema in `parameters`.

use super::{
    gemini::{self, JSON_GRAMMAR, JSON_SCHEMA},
    grammar::Grammar,
    surface::Surface,
    well_formed::VALID,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const DOCUMENTED: &str = "google-genai 3.6.1, documentation of `Function.parameters` in `_gaos/types/interactions`";

const IGNORED: Fact = Fact {
    statement: "`minLength`, `maxLength`, `minProperties`, `maxProperties`, `uniqueItems`, `contains`, `minContains` \
        and `maxContains` are accepted and not enforced",
    confidence: Grade::A,
    source: DOCUMENTED,
    rules: &[Constraint::IgnoredKeyword],
    severity: Severity::Ignored,
    ..Fact::REFUSED
};

/// Restates a fact about `parametersJsonSchema` for Interactions, for which it was not tested.
const fn quoted(fact: Fact) -> Fact {
    Fact {
        confidence: Grade::C,
        source:
            "carried over from `parametersJsonSchema`, which accepts the same subset of JSON Schema; not observed for \
            Interactions (confidence C)",
        ..fact
    }
}

const GRAMMAR: Grammar = Grammar {
    ignores: Keywords::of(&[
        Keyword::MinLength,
        Keyword::MaxLength,
        Keyword::MinProperties,
        Keyword::MaxProperties,
        Keyword::UniqueItems,
        Keyword::Contains,
        Keyword::MinContains,
        Keyword::MaxContains,
    ]),
    ..JSON_GRAMMAR
};

pub(super) const INTERACTIONS: Dialect = Dialect {
    name: "gemini-interactions",
    surface: "Gemini API, Interactions, `tools[].parameters`",
    documentation: "https://ai.google.dev/gemini-api/docs/interactions",
    as_of: "2026-11-26",
    facts: &[
        IGNORED,
        quoted(gemini::JSON_ROOT),
        quoted(gemini::JSON_CONST),
        quoted(gemini::JSON_REFERENCES),
        quoted(gemini::JSON_RECURSION),
        quoted(gemini::JSON_ENUMS),
        gemini::NAME,
        VALID,
    ],
    unverified: &[
        "whether `allOf`, `pattern` and `default` have any effect: they are accepted",
        "limit of complexity: `minItems` and `maxItems` are enforced, and a schema that is too complex is rejected \
            with 400",
        "maximum number of functions in a request",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::GeminiInteractions,
        names: gemini::NAMES,
        requests: super::requests::GEMINI_INTERACTIONS,
        ..Surface::PLAIN
    },
    ..JSON_SCHEMA
};
