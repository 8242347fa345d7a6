//! llama.cpp's server and what is built on it: schemas become grammars, and what the converter does not know it leaves
//! out.

use super::{
    grammar::{Grammar, ObjectRule, OpenRule, PatternRule, PropertiesRule},
    surface::Surface,
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::Severity,
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const README: &str = "ggml-org/llama.cpp, grammars/README.md and json-schema-to-grammar.cpp";

const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::PrefixItems]),
    objects: ObjectRule { properties: PropertiesRule::Written, open: OpenRule::ClosedByDefault, ..ObjectRule::OPEN },
    patterns: PatternRule::Anchored,
    at_most: &[
        (Keyword::MaxLength, 1_999),
        (Keyword::MinLength, 1_999),
        (Keyword::MaxItems, 1_999),
        (Keyword::MinItems, 1_999),
    ],
    array_items: false,
    ..Grammar::OPEN
};

pub(super) const LLAMA_CPP: Dialect = Dialect {
    name: "llama-cpp",
    surface: "llama.cpp's server: tools become a grammar (GBNF)",
    documentation: "https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement: "an object that does not say `additionalProperties` is closed, so an open one says `true`",
            confidence: 'A',
            source: README,
            rules: &[Constraint::ObjectOpenness],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "objects have `properties`",
            confidence: 'B',
            source: "live: `JSON schema conversion failed: Unrecognized schema: \"object\"`",
            rules: &[Constraint::ObjectWithoutProperties],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`pattern` begins with `^`, ends with `$`, and has no lookaround, backreference and word \
                boundary",
            confidence: 'A',
            source: "live: `Pattern must start with '^' and end with '$'`",
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a tuple has exactly as many items as positions",
            confidence: 'A',
            source: README,
            rules: &[Constraint::RefusedKeyword, Constraint::ArrayItems],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "lengths and counts stay below 2,000, the most repetitions of a grammar",
            confidence: 'A',
            source: README,
            rules: &[Constraint::KeywordTooLarge],
            ..Fact::REFUSED
        },
        WELL_FORMED,
    ],
    unverified: &[
        "builds differ: `\\d`, `\\w` and `\\s` in patterns, nested references, `properties` beside `anyOf`",
        "keywords that the grammar does not know, `not`, `if`, `contains` and `uniqueItems` among them: ignored \
            without a word",
        "bounds of numbers that are no integers: ignored",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface { format: ToolFormat::OpenaiChat, ..Surface::PLAIN },
};
