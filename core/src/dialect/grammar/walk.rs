//! Where rules about types hold, if a program that knows only some keywords walks the schema.

use crate::{
    json::{Pointer, Step, Text},
    schema::keyword::{Keyword, Keywords},
};

/// The schemas that a program looks at, by the keywords on the way to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// The keyword of the root that leads to them.
    pub(crate) first: Keywords,
    /// All keywords that follow it.
    pub(crate) nested: Keywords,
    /// The last keyword.
    pub(crate) last: Keywords,
}

impl Walk {
    /// All schemas.
    pub(crate) const EVERYWHERE: Walk = Walk { first: Keywords::ALL, nested: Keywords::ALL, last: Keywords::ALL };

    /// Does it lead to the schema at this place?
    pub(crate) fn reaches(&self, place: &Pointer<'_>) -> bool {
        if *self == Walk::EVERYWHERE {
            return true;
        }
        let mut keywords = place.steps().iter().filter_map(|step| match step {
            Step::Name(name) => Keyword::named(&Text::literal(name)),
            _ => None,
        });
        let Some(first) = keywords.next() else { return false };
        let last = keywords.clone().last().unwrap_or(first);
        self.first.contains(first) && self.last.contains(last) && keywords.all(|keyword| self.nested.contains(keyword))
    }
}
