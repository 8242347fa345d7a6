//! llama.cpp's server and servers built on it: schemas become grammars, and the converter ignores keywords that it does
//! not know.

use super::{
    grammar::{AnyOfRule, Effects, Grammar, ObjectRule, OpenRule, PatternRule, RefRule, TypedKeywords},
    name_rules::NameRule,
    surface::{NamePattern, Surface},
    well_formed::WELL_FORMED,
    Dialect, Fact, Method,
};
use crate::{
    options::ToolFormat,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

const CONVERTER: &str = "run: llama.cpp b11434, common/json-schema.cpp and json-schema-to-grammar.cpp \
    (python/tests/test_judge_llama_cpp.py)";

/// Accepted siblings of unions and references. The converter ignores all assertions next to them.
const BESIDE: Keywords = Keywords::of(&[
    Keyword::Comment,
    Keyword::Default,
    Keyword::Deprecated,
    Keyword::Description,
    Keyword::Examples,
    Keyword::ReadOnly,
    Keyword::Schema,
    Keyword::Title,
    Keyword::WriteOnly,
]);

pub(super) const GRAMMAR: Grammar = Grammar {
    refuses: Keywords::of(&[Keyword::PrefixItems, Keyword::AllOf, Keyword::OneOf]),
    root_refuses: Keywords::of(&[Keyword::AnyOf, Keyword::OneOf]),
    ignores: Keywords::of(&[
        Keyword::Contains,
        Keyword::Dependencies,
        Keyword::DependentRequired,
        Keyword::DependentSchemas,
        Keyword::DynamicRef,
        Keyword::Else,
        Keyword::If,
        Keyword::MaxContains,
        Keyword::MaxProperties,
        Keyword::MinContains,
        Keyword::MinProperties,
        Keyword::MultipleOf,
        Keyword::Not,
        Keyword::PatternProperties,
        Keyword::PropertyNames,
        Keyword::RecursiveRef,
        Keyword::Then,
        Keyword::UnevaluatedItems,
        Keyword::UnevaluatedProperties,
        Keyword::UniqueItems,
    ]),
    effects: Effects {
        typed: &[
            TypedKeywords {
                keywords: Keywords::of(&[
                    Keyword::ExclusiveMaximum,
                    Keyword::ExclusiveMinimum,
                    Keyword::Maximum,
                    Keyword::Minimum,
                ]),
                of_types: &["integer"],
                without_types: &["number"],
                or_beside: Keywords::NONE,
            },
            TypedKeywords {
                keywords: Keywords::of(&[Keyword::MaxItems, Keyword::MinItems]),
                of_types: &["array"],
                without_types: &[],
                or_beside: Keywords::of(&[Keyword::Items, Keyword::PrefixItems]),
            },
        ],
        listed_required: true,
        values_alone: true,
        without_pattern: Keywords::of(&[Keyword::MinLength, Keyword::MaxLength]),
        without_format: Keywords::of(&[Keyword::MinLength, Keyword::MaxLength]),
        formats: &["date", "time", "date-time", "uuid"],
    },
    checked_values: Keywords::of(&[
        Keyword::ExclusiveMaximum,
        Keyword::ExclusiveMinimum,
        Keyword::Format,
        Keyword::Maximum,
        Keyword::Minimum,
        Keyword::Pattern,
    ]),
    refs: RefRule { to_root: false, plain_pointers: true, no_left_recursion: true, beside: BESIDE, ..RefRule::OPEN },
    any_of: AnyOfRule { beside: BESIDE, ..AnyOfRule::OPEN },
    objects: ObjectRule { open: OpenRule::Closes, ..ObjectRule::OPEN },
    patterns: PatternRule::Gbnf,
    boolean_schemas: false,
    true_items: false,
    maxima: &[
        (Keyword::MinLength, 2_000),
        (Keyword::MaxLength, 2_147_483_647),
        (Keyword::MinItems, 2_001),
        (Keyword::MaxItems, 2_147_483_647),
    ],
    gaps: &[(Keyword::MaxItems, 1_999, 2_001)],
    array_items: false,
    plain_counts: true,
    ordered_counts: true,
    names: NameRule { no_brackets_beside_others: true, ..NameRule::OPEN },
    ..Grammar::OPEN
};

pub(super) const LLAMA_CPP: Dialect = Dialect {
    name: "llama-cpp",
    surface: "llama.cpp's server: tools become a grammar (GBNF)",
    documentation: "https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md",
    as_of: "2026-11-26",
    revision: 1,
    options: &["refs", "untyped", "hints", "maxNodes", "template"],
    encodes: &[],
    limits: &[],
    facts: &[
        Fact {
            statement:
                "an object with `properties` and without `additionalProperties` is closed; adding `true` breaks \
                the grammar for some lists of names, so it stays closed",
            confidence: Grade::A,
            source: CONVERTER,
            rules: &[Constraint::ObjectOpenness],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "a schema is an object, not a boolean or a string",
            confidence: Grade::A,
            source: "live: `JSON schema error at #/properties/a: schema must be an object`",
            rules: &[Constraint::NotASchema, Constraint::ItemsNotSchema, Constraint::OpenItems],
            ..Fact::REFUSED
        },
        Fact {
            statement: "keyword values have the right type, and counts are integers written without a fraction",
            confidence: Grade::A,
            source:
                "live: `minLength must be a non-negative integer`, `format must be a string`, `must be an array of \
                schemas`, `maximum must be a number`",
            rules: &[Constraint::KeywordValue],
            ..Fact::REFUSED
        },
        Fact {
            statement: "a `pattern` from `^` to `$` has no unclosed parenthesis or class, no quantifier with nothing \
                to repeat, and no backslash at its end",
            confidence: Grade::A,
            source: "live: `Invalid pattern ^(a$: unbalanced parentheses`",
            rules: &[Constraint::Pattern],
            ..Fact::REFUSED
        },
        Fact {
            statement: "patterns without both anchors, with lookaround, backreferences, `\\d`, `\\w`, `\\s`, `\\b` or \
                `\\p` are not enforced",
            confidence: Grade::A,
            source: "llama.cpp#26939 (August 2026); run: b11434 warns of them in its log, and accepts any string",
            rules: &[Constraint::PatternNotEnforced],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "no maximum length or item count is below its minimum; otherwise the server never answers",
            confidence: Grade::A,
            source: "llama.cpp#25602; run: b11434 does not answer, and its memory grows",
            rules: &[Constraint::MaximumBelowMinimum],
            ..Fact::REFUSED
        },
        Fact {
            statement: "siblings of `anyOf` or a reference are ignored, and at the root `anyOf` and `oneOf` drop the \
                    `properties` next to them",
            confidence: Grade::A,
            source: CONVERTER,
            rules: &[Constraint::BesideAnyOf, Constraint::BesideRef, Constraint::RootKeyword],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact {
            statement: "`oneOf` is read as `anyOf`",
            confidence: Grade::A,
            source: CONVERTER,
            rules: &[Constraint::RefusedKeyword],
            severity: Severity::Reinterpreted,
            keywords: Keywords::of(&[Keyword::OneOf]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "a tuple has exactly as many items as positions",
            confidence: Grade::A,
            source: CONVERTER,
            rules: &[Constraint::RefusedKeyword, Constraint::ArrayItems],
            severity: Severity::Reinterpreted,
            keywords: Keywords::of(&[Keyword::PrefixItems, Keyword::Items]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "`allOf` is ignored next to `properties`, requires every property of its branches, and turns \
                    everything else into an object",
            confidence: Grade::A,
            source: CONVERTER,
            rules: &[Constraint::RefusedKeyword],
            severity: Severity::Reinterpreted,
            keywords: Keywords::of(&[Keyword::AllOf]),
            ..Fact::REFUSED
        },
        Fact {
            statement: "`not`, `if`, `contains`, `uniqueItems`, `multipleOf`, `propertyNames`, `patternProperties`, \
                `dependent…`, `unevaluated…`, `$dynamicRef`, `$recursiveRef`, property counts, bounds of `number`, \
                item counts without a type, names in `required` that `properties` does not list, lengths next to \
                `pattern` or an enforced `format`, and other keywords next to `enum` or `const` are not enforced",
            confidence: Grade::A,
            source: CONVERTER,
            rules: &[Constraint::IgnoredKeyword],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "an unlisted property name in an open object may contain control characters, so the arguments \
                may be invalid JSON; `repairArguments` repairs them",
            confidence: Grade::A,
            source: "run: b11434 with a random model (python/tests/test_judge_llama_server.py)",
            severity: Severity::Ignored,
            ..Fact::REFUSED
        },
        Fact {
            statement: "a reference is a pointer that begins with `#/`, without decoded escapes: no `#`, anchor or \
                identifier",
            confidence: Grade::A,
            source: "live: `unsupported $ref`, `cannot resolve $ref`",
            rules: &[Constraint::RefForm],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no union is a branch of itself, directly or through references: its grammar would be \
                left-recursive",
            confidence: Grade::A,
            source: "run: b11434, `failed to parse grammar`",
            rules: &[Constraint::LeftRecursion],
            ..Fact::REFUSED
        },
        Fact {
            statement: "no additional properties are accepted next to a name with `[` or `]`",
            confidence: Grade::A,
            source: "live: `Failed to initialize samplers: failed to parse grammar`; run: b11434",
            rules: &[Constraint::PropertyName],
            ..Fact::REFUSED
        },
        Fact {
            statement:
                "`minLength` is at most 2,000, `minItems` at most 2,001; a `maxItems` of 1,999 to 2,001 is refused",
            confidence: Grade::A,
            source: "run: b11434, `failed to parse grammar` (llama.cpp#26613, #28469); larger bounds have no limit",
            rules: &[Constraint::KeywordTooLarge],
            ..Fact::REFUSED
        },
        Fact {
            statement: "tool names differ in a letter, a digit or `-`, and none is `call` or `calls`: otherwise only \
                the last of them can be called, or no tool at all",
            confidence: Grade::A,
            source: "run: b11434, whose grammar uses the names as rule names",
            rules: &[Constraint::ToolName],
            severity: Severity::Reinterpreted,
            ..Fact::REFUSED
        },
        Fact::accepts_strict("recorded answers: 28 exchanges with `strict: true` were answered 200"),
        WELL_FORMED,
    ],
    unverified: &[
        "builds before August 2026: patterns that are not enforced today were refused, and so were properties named \
            `$ref`; `{}` meant any object until September 2026",
        "builds with LLAMA_LLGUIDANCE pass the schema to llguidance unchanged",
        "integer bounds beyond 64 bits: refused",
        "two more limits: the sum of all repetitions in a request, and some 1,000 letters of names next to \
            `additionalProperties`",
        "a tool name that is a prefix of another: of 20 requests with `get_schema` before `get`, 17 called the wrong \
            one",
    ],
    method: Method::Rules(&GRAMMAR),
    tools: Surface {
        format: ToolFormat::OpenaiChat,
        names: NamePattern { rules: Some(&["call", "calls"]), ..NamePattern::ANY },
        requests: super::requests::LLAMA_CPP,
        ..Surface::PLAIN
    },
};
