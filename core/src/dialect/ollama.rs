//! Ollama: its structs determine which parts of a tool reach the model. Tools do not become a grammar.

use super::{
    grammar::{Grammar, ObjectRule, OpenRule, RefRule},
    surface::{NoArguments, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const STRUCTS: &str = "ollama/ollama@fb307609, api/types.go, ToolFunctionParameters and ToolProperty (2026-08-21)";

const GRAMMAR: Grammar = Grammar {
    root_refuses: Keywords::of(&[Keyword::AnyOf, Keyword::Enum]),
    // Keywords without a field in Ollama's structs, except for annotations.
    refuses: Keywords::all_but(&[
        Keyword::Type,
        Keyword::Defs,
        Keyword::Items,
        Keyword::Required,
        Keyword::Properties,
        Keyword::AnyOf,
        Keyword::Description,
        Keyword::Enum,
        Keyword::Title,
        Keyword::Schema,
        Keyword::Id,
        Keyword::Anchor,
        Keyword::Comment,
        Keyword::Vocabulary,
        Keyword::Deprecated,
        Keyword::ReadOnly,
        Keyword::WriteOnly,
    ])
    .difference(Keywords::UNKNOWN),
    through: Keywords::all_but(&[Keyword::Items]),
    opaque: Keywords::of(&[Keyword::Items]),
    refs: RefRule::NONE,
    describes_root: false,
    objects: ObjectRule { open: OpenRule::Unread, ..ObjectRule::OPEN },
    boolean_schemas: false,
    strings: Keywords::of(&[Keyword::Description]),
    empty_root: true,
    ..Grammar::OPEN
};

pub(super) const OLLAMA: Dialect = Dialect {
    name: "ollama",
    surface: "Ollama's chat API, and its OpenAI and Anthropic endpoints: the part of a tool that the model sees",
    documentation: "https://docs.ollama.com/capabilities/tool-calling",
    as_of: "2026-11-29",
    revision: 3,
    options: &["untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "keywords without a field in the structs never reach the model: a property keeps `type`, \
                `description`, `enum`, `properties`, `required`, `anyOf`, and `items` whole; the root `type`, \
                `properties`, `required` and `$defs`",
            confidence: Grade::A,
            source: STRUCTS,
            rules: &[Constraint::RefusedKeyword, Constraint::RootKeyword],
            severity: Severity::Ignored,
            hides: true,
            ..Fact::REFUSED
        },
        Fact {
            statement: "references are dropped, so the model never sees their targets",
            confidence: Grade::A,
            source: STRUCTS,
            rules: &[Constraint::RefusedKeyword],
            severity: Severity::Ignored,
            keywords: Keywords::of(&[Keyword::Ref, Keyword::DynamicRef]),
            hides: true,
            ..Fact::REFUSED
        },
        Fact {
            statement: "the root's `type` is the string `object`",
            confidence: Grade::A,
            source: "ollama#10328: `json: cannot unmarshal array into Go struct field …type of type string`",
            rules: &[Constraint::RootObject, Constraint::RootNotSchema],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`parameters: {}` is accepted, and so is a function without `parameters`",
            confidence: Grade::A,
            source: "recorded answers of llama3.2: `{}` (llama-stack@be866054, 2025-11-07) and no `parameters` \
                (llama-stack@d47a7d42, 2025-10-03) were answered 200",
            rules: &[],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`properties` is an object of objects, and the branches of `anyOf` are objects",
            confidence: Grade::A,
            source: STRUCTS,
            rules: &[Constraint::PropertiesNotObject, Constraint::NotASchema, Constraint::CombinatorNotList],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`required` is a list of strings, `enum` a list, and `description` a string",
            confidence: Grade::A,
            source: STRUCTS,
            rules: &[Constraint::RequiredNotStrings, Constraint::EnumNotList, Constraint::NotAString],
            ..Fact::REFUSED
        },
        Fact {
            statement: "the model sees type names unchanged",
            confidence: Grade::A,
            source: STRUCTS,
            rules: &[Constraint::UnknownType],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact::accepts_strict("recorded answers: 296 exchanges with `strict: true` were answered 200"),
        WELL_FORMED,
    ],
    unverified: &[
        "before 0.6.6, the `type` of a property was one name; `anyOf` came with 0.11.3, nested `properties` with \
            0.13.5",
        "nothing enforces the schema, and `tool_choice` is not supported",
        "`title`, `$schema` and the like are dropped, too: no argument depends on them",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        no_arguments: NoArguments::OptionalInRequests,
        requests: super::requests::OLLAMA,
        ..Surface::PLAIN
    },
};
