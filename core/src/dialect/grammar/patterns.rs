//! The regular expressions that an engine compiles, and the schemas in which it reads them.

use crate::{
    json::{Node, Object},
    schema::keyword::{Keyword, Keywords},
};

/// The regular expressions that compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternRule {
    /// All of them.
    Any,
    /// Expressions that Python's `re` compiles. Only constructs that are known to fail are refused.
    Python,
    /// Expressions that JavaScript compiles with the flag `u`. Only constructs that are known to fail are refused.
    Unicode,
    /// Regular expressions in the strict sense: those of `Python` without lookaround, backreferences and word
    /// boundaries.
    Regular,
    /// Expressions that llama.cpp's converter reads. It does not enforce most others, and refuses a few.
    Gbnf,
    /// The expressions of `Regular`, matched against the whole string with or without anchors.
    Whole,
    /// The expressions of `Regular`, without anchors.
    Unanchored,
}

impl PatternRule {
    /// Returns true if the engine reads `pattern`, or a key of `patternProperties`, in this schema. Engines that
    /// compile grammars read it only for strings without certain other keywords.
    pub(crate) fn reads(self, keyword: Keyword, schema: &Object<'_>) -> bool {
        const BEFORE: Keywords =
            Keywords::of(&[Keyword::Ref, Keyword::AnyOf, Keyword::OneOf, Keyword::Const, Keyword::Enum]);
        let names_string = |types: &Node<'_>| {
            types.is_text("string")
                || types.as_array().is_some_and(|names| names.iter().any(|name| name.is_text("string")))
        };
        match self {
            PatternRule::Any => false,
            PatternRule::Python | PatternRule::Unicode | PatternRule::Regular | PatternRule::Unanchored => true,
            PatternRule::Whole if keyword == Keyword::PatternProperties => true,
            PatternRule::Whole => {
                !Keywords::in_object(schema).intersects(BEFORE) && schema.get(Keyword::Type).is_some_and(names_string)
            }
            PatternRule::Gbnf => {
                keyword == Keyword::Pattern
                    && !Keywords::in_object(schema).intersects(BEFORE)
                    && schema.get(Keyword::Type).is_none_or(names_string)
            }
        }
    }
}
