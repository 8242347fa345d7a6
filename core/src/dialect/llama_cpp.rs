//! llama.cpp's server and what is built on it: schemas become grammars, and what the converter does not know it leaves
//! out.

use super::{
    grammar::{Grammar, ObjectRule, OpenRule, PatternRule, RefRule},
    name_rule::NameRule,
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

const CONVERTER: &str = "ggml-org/llama.cpp, common/json-schema-to-grammar.cpp@011c6c3c";
const README: &str = "ggml-org/llama.cpp, grammars/README.md and json-schema-to-grammar.cpp";

const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::PrefixItems, Keyword::AllOf]),
    empty_schemas: false,
    refs: RefRule { to_root: false, plain_pointers: true, ..RefRule::OPEN },
    objects: ObjectRule { open: OpenRule::ClosedByDefault, ..ObjectRule::OPEN },
    patterns: PatternRule::Gbnf,
    boolean_schemas: false,
    true_items: false,
    at_most: &[
        (Keyword::MaxLength, 1_999),
        (Keyword::MinLength, 1_999),
        (Keyword::MaxItems, 1_999),
        (Keyword::MinItems, 1_999),
    ],
    array_items: false,
    names: NameRule { reserved: &["$ref"], ..NameRule::OPEN },
    ..Grammar::OPEN
};

pub(super) const LLAMA_CPP: Dialect = Dialect {
    name: "llama-cpp",
    surface: "llama.cpp's server: tools become a grammar (GBNF)",
    documentation: "https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md",
    as_of: "2026-11-20",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes"],
    encodes: &["a property named `$ref` is renamed"],
    limits: &[],
    facts: &[
        Fact {
            statement: "an object without `additionalProperties` is closed, so an open one says `true`",
            confidence: 'A',
            source: README,
            rules: &[Constraint::ObjectOpenness],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "a schema is an object, not a boolean or a string",
            confidence: 'A',
            source: "live: `Unrecognized schema: true` (oh-my-pi#5914, mezmo/aura#358), `Unrecognized schema: \
                \"object\"`",
            rules: &[Constraint::NotASchema, Constraint::ItemsNotSchema, Constraint::OpenItems],
            ..Fact::REFUSED
        },
        Fact {
            statement: "`{}` means any object; with a description, it means any value",
            confidence: 'A',
            source: CONVERTER,
            rules: &[Constraint::EmptySchema],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "where a string is read by it, `pattern` begins with `^`, ends with `$`, and has no lookaround, \
                backreference and word boundary; its escapes are those of GBNF: `\\d`, `\\w`, `\\s`, `\\/` and `\\-` \
                are none",
            confidence: 'A',
            source: "live: `Pattern must start with '^' and end with '$'`; `Failed to initialize samplers: failed to \
                parse grammar` (llama.cpp#25895, ablation of 2026-07-19)",
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a tuple has exactly as many items as positions",
            confidence: 'A',
            source: CONVERTER,
            rules: &[Constraint::RefusedKeyword, Constraint::ArrayItems],
            severity: Severity::Reinterpreted,
            keywords: Keywords::of(&[Keyword::PrefixItems, Keyword::Items]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "`allOf` is not read beside `properties`, and requires every property of its branches",
            confidence: 'A',
            source: CONVERTER,
            rules: &[Constraint::RefusedKeyword],
            severity: Severity::Reinterpreted,
            keywords: Keywords::of(&[Keyword::AllOf]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "a reference is a pointer from `#/` on, whose escapes are not decoded: no `#`, no anchor, no \
                identifier",
            confidence: 'A',
            source: "ggml-org/llama.cpp, common/json-schema-to-grammar.cpp@011c6c3c: `Unsupported ref`, \
                `Error resolving ref`",
            rules: &[Constraint::RefForm],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no property is named `$ref`: that key is read as a reference everywhere",
            confidence: 'A',
            source: CONVERTER,
            rules: &[Constraint::ReservedName],
            ..Fact::REFUSED
        },
        Fact {
            statement: "lengths and counts stay below 2,000, the most repetitions of a grammar",
            confidence: 'A',
            source: README,
            rules: &[Constraint::KeywordTooLarge],
            ..Fact::REFUSED
        },
        Fact::accepts_strict("recorded answers: 28 exchanges with it were answered 200"),
        WELL_FORMED,
    ],
    unverified: &[
        "builds differ: nested references, `properties` beside `anyOf`; older ones answer without any constraint where \
            a grammar does not parse (llama.cpp#19051)",
        "lookaround in patterns: left out with a warning by newer builds",
        "a key `$ref` in values and under unknown keywords: taken for a reference, too, and refused where it leads \
            nowhere",
        "builds before llama.cpp#13117 (2025-04) make no grammar of `maxItems: 0`; later ones allow the empty array",
        "keywords that the grammar does not know, `not`, `if`, `contains` and `uniqueItems` among them: ignored \
            without a word",
        "bounds of numbers that are no integers: ignored",
    ],
    reasons: &[],
    method: Method::Rules(&GRAMMAR),
    tools: Surface { format: ToolFormat::OpenaiChat, ..Surface::PLAIN },
};
