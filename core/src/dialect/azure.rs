//! Azure OpenAI: strict function tools. Tools that are not strict use OpenAI's dialect.

use super::{
    grammar::Grammar,
    openai,
    surface::{StrictFlag, Surface},
    well_formed, Dialect, Fact, Method,
};
use crate::{
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

/// Keywords that OpenAI's strict mode now supports, but Azure's does not.
const UNSUPPORTED: Keywords = Keywords::of(&[
    Keyword::MinLength,
    Keyword::MaxLength,
    Keyword::Pattern,
    Keyword::Format,
    Keyword::Minimum,
    Keyword::Maximum,
    Keyword::MultipleOf,
    Keyword::MinItems,
    Keyword::MaxItems,
]);

const GRAMMAR: Grammar = Grammar {
    refuses: openai::STRICT_GRAMMAR.refuses.union(UNSUPPORTED).insert(Keyword::Default),
    ignores: Keywords::NONE,
    formats: None,
    ..openai::STRICT_GRAMMAR
};

const STRICT_MODE: Fact =
    Fact::enforces_strict(Grade::A, "Microsoft, structured outputs, function calling (2026-05-13)");

pub(super) const STRICT: Dialect = Dialect {
    name: "azure-strict",
    surface: "Azure OpenAI (Microsoft Foundry), function tools with `strict: true`",
    documentation: "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/structured-outputs",
    as_of: "2026-11-21",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: openai::STRICT.encodes,
    limits: &[
        ("propertiesPerPart", 100),
        ("depthPerPart", 5),
        ("enumValuesPerPart", 500),
        ("longEnumCharacters", 15_000),
        ("charactersPerPart", 120_000),
    ],
    facts: &[
        openai::STRICT_ROOT,
        openai::STRICT_PROPERTIES,
        openai::ROOT,
        openai::METASCHEMA,
        well_formed::ENUM_EMPTY,
        openai::ITEMS,
        openai::ENUM,
        openai::STRICT_CLOSED,
        openai::STRICT_KEYWORDS,
        openai::STRICT_META_KEYWORDS,
        Fact {
            statement: "no `minLength`, `maxLength`, `pattern`, `format`, `minimum`, `maximum`, `multipleOf`, \
                `minItems` or `maxItems`",
            confidence: Grade::A,
            source: "Microsoft, structured outputs, unsupported type-specific keywords (2026-05-13)",
            rules: &[Constraint::RefusedKeyword],
            keywords: UNSUPPORTED,
            ..Fact::REFUSED
        },
        Fact {
            statement: "no `default`",
            confidence: Grade::B,
            source: "live: one report (openai-agents-python#4390)",
            rules: &[Constraint::RefusedKeyword],
            keywords: Keywords::of(&[Keyword::Default]),
            severity: Severity::Refused,
            ..Fact::REFUSED
        },
        openai::STRICT_TYPED,
        openai::STRICT_REFS,
        openai::STRICT_FIRST_KEYS,
        Fact {
            statement: "at most 100 properties and 5 levels of nesting, according to the documentation; at most 500 \
                values in `enum`, according to Portkey's library; other limits are OpenAI's",
            confidence: Grade::A,
            source: "Microsoft, structured outputs, limitations (2026-05-13)",
            rules: &[
                Constraint::TooManyProperties,
                Constraint::TooDeep,
                Constraint::TooManyEnumValues,
                Constraint::EnumTooLong,
                Constraint::TooManyCharacters,
            ],
            ..Fact::REFUSED
        },
        openai::NAMES,
        openai::TOOLS,
        STRICT_MODE,
    ],
    unverified: &[
        "whether deployments of newer models accept what OpenAI's own API accepts: the documentation names no model",
        "`exclusiveMinimum` and `exclusiveMaximum`: the documentation does not mention them, so they are kept",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        strict: StrictFlag::True,
        strict_fact: Some(&STRICT_MODE),
        not_strict: Some("openai-chat"),
        ..openai::CHAT_TOOLS
    },
};
