//! GitHub Copilot Chat in VS Code: the tools that its own validation accepts, independent of the model's API.

use super::{
    grammar::{ArrayRule, EnumRule, Grammar},
    surface::Surface,
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const NORMALIZER: &str = "microsoft/vscode-copilot-chat@31acd00a, toolSchemaNormalizer.ts (the same text in \
    microsoft/vscode@33be5f5c, extensions/copilot)";

/// The rules that draft 7 shares with 2020-12. `items` may be a list of schemas in draft 7, so that rule is omitted.
const METASCHEMA: &[Constraint] = &[
    Constraint::KeywordValue,
    Constraint::UnknownType,
    Constraint::NotASchema,
    Constraint::ItemsNotSchema,
    Constraint::PropertiesNotObject,
    Constraint::AdditionalPropertiesNotSchema,
    Constraint::RequiredNotStrings,
    Constraint::CombinatorNotList,
    Constraint::AnyOfSize,
    Constraint::EnumNotList,
    Constraint::EnumEmpty,
    Constraint::DefsNotObject,
    Constraint::RefNotString,
    Constraint::RefTarget,
];

const GRAMMAR: Grammar = Grammar {
    root_refuses: Keywords::of(&[
        Keyword::OneOf,
        Keyword::AnyOf,
        Keyword::AllOf,
        Keyword::Not,
        Keyword::If,
        Keyword::Then,
        Keyword::Else,
    ]),
    drafts: Some(&["draft-07"]),
    metaschema: true,
    enums: EnumRule { distinct: true, ..EnumRule::OPEN },
    arrays: ArrayRule { needs_items: true, truthy_items: true, ..ArrayRule::OPEN },
    required_is_known: true,
    required_needs_properties: true,
    // VS Code does not visit the subschemas of definitions, of `propertyNames` and `additionalItems`, and of keywords
    // that draft 7 does not have.
    required_is_free_under: Keywords::of(&[
        Keyword::Defs,
        Keyword::Definitions,
        Keyword::PropertyNames,
        Keyword::AdditionalItems,
        Keyword::PrefixItems,
        Keyword::DependentSchemas,
        Keyword::UnevaluatedItems,
        Keyword::UnevaluatedProperties,
        Keyword::ContentSchema,
    ]),
    ..Grammar::OPEN
};

pub(super) const VSCODE: Dialect = Dialect {
    name: "vscode",
    surface: "GitHub Copilot Chat in VS Code, tools of MCP servers: what VS Code lets through",
    documentation: "https://code.visualstudio.com/docs/copilot/chat/mcp-servers",
    as_of: "2026-11-21",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement:
                "every array has `items` other than `false`, whatever its other keywords: otherwise the request fails",
            confidence: Grade::A,
            source:
                "microsoft/vscode-copilot-chat@31acd00a; live, for many servers: `Failed to validate tool X: Error: \
                    tool parameters array type must have items`",
            rules: &[Constraint::ArrayWithoutItems, Constraint::OpenItems],
            ..Fact::REFUSED
        },
        Fact {
            statement: "the schema is valid against the draft 7 meta-schema",
            confidence: Grade::A,
            source: "microsoft/vscode-copilot-chat@31acd00a, by ajv: `tool parameters do not match JSON schema: …`",
            rules: METASCHEMA,
            ..Fact::REFUSED
        },
        Fact {
            statement: "`$schema` names draft 7 or is absent: some builds omit a tool that names another",
            confidence: Grade::B,
            source: "live: `… meta-schema features ($dynamicRef) … not yet supported (at /$schema)` (2025-10)",
            rules: &[Constraint::UnknownDraft],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a root that is not an object becomes an object without properties",
            confidence: Grade::A,
            source: NORMALIZER,
            rules: &[Constraint::RootObject, Constraint::RootNotSchema],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "`oneOf`, `anyOf`, `allOf`, `not`, `if`, `then` and `else` are deleted at the root",
            confidence: Grade::A,
            source: NORMALIZER,
            rules: &[Constraint::RootKeyword],
            severity: Severity::Reinterpreted,
            hides: true,
            ..Fact::REFUSED
        },
        Fact {
            statement: "names in `required` that are not properties are deleted, wherever an object lists properties",
            confidence: Grade::A,
            source: NORMALIZER,
            rules: &[Constraint::RequiredUnknown],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        WELL_FORMED,
    ],
    unverified: &[
        "`$defs` may be lost on the way to the model, so that references break (fastmcp#2808, fastmcp#2861): the \
            source does not show it, and `refs: \"inline\"` avoids it",
        "for GPT-4, VS Code deletes lengths, bounds, `pattern`, `format`, `default` and `patternProperties`, and \
            truncates descriptions in schemas to 1,024 characters",
        "for Gemini, VS Code turns null in a list of types into `nullable`, and deletes it next to several types",
        "the model's own API may refuse more: this table describes only the client",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface { is_client: true, ..Surface::PLAIN },
};
