//! Which regular expressions an engine compiles, and where it looks at them.

use crate::{
    json::{Node, Object},
    schema::keyword::{Keyword, Keywords},
};

/// Which regular expressions compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternRule {
    /// All of them.
    Any,
    /// What Python's `re` compiles, as far as the constructs that are known to fail go.
    Python,
    /// What JavaScript compiles with the flag `u`, as far as the constructs that are known to fail go.
    Unicode,
    /// Regular ones: what `Python` allows, without lookaround, backreferences and word boundaries.
    Regular,
    /// Those that llama.cpp's converter reads; others it does not enforce, and only a few are refused.
    Gbnf,
    /// Regular ones, held to the whole string, whether they have anchors or not.
    Whole,
    /// Regular ones without anchors.
    Unanchored,
}

impl PatternRule {
    /// Is `pattern`, or a key of `patternProperties`, read in this schema at all? What becomes a grammar is read for
    /// strings that nothing else describes.
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
