//! The schemas to which rules about types apply, if a program that knows only some keywords walks the schema.

use alloc::vec::Vec;

use crate::{
    json::{Pointer, Step, Text},
    schema::keyword::{Keyword, Keywords},
};

/// Subschemas that a program visits, defined by the keywords of their path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// The first keyword.
    pub(crate) first: Keywords,
    /// All keywords that follow it.
    pub(crate) nested: Keywords,
    /// The last keyword.
    pub(crate) last: Keywords,
}

impl Walk {
    /// All schemas.
    pub(crate) const EVERYWHERE: Walk = Walk { first: Keywords::ALL, nested: Keywords::ALL, last: Keywords::ALL };

    /// Returns true if the program visits the schema at this pointer. This function reads the whole pointer: a walk
    /// over all schemas uses a [`Trail`] instead.
    pub(crate) fn reaches(&self, pointer: &Pointer<'_>) -> bool {
        if *self == Walk::EVERYWHERE {
            return true;
        }
        let mut keywords = pointer.steps().iter().filter_map(|step| match step {
            Step::Name(name) => Keyword::named(&Text::literal(name)),
            _ => None,
        });
        let Some(first) = keywords.next() else { return false };
        let last = keywords.clone().last().unwrap_or(first);
        self.first.contains(first) && self.last.contains(last) && keywords.all(|keyword| self.nested.contains(keyword))
    }
}

/// For each schema from the root to the current one: true if the program visits it.
pub(crate) struct Trail {
    walk: Walk,
    passed: Vec<bool>,
}

impl Trail {
    pub(crate) const fn new(walk: Walk) -> Trail {
        Trail { walk, passed: Vec::new() }
    }

    /// Returns true if the program visits the schema under this keyword, at this depth. Must be called for parents
    /// before their children.
    pub(crate) fn reaches(&mut self, depth: usize, keyword: Option<Keyword>) -> bool {
        if self.walk == Walk::EVERYWHERE {
            return true;
        }
        self.passed.truncate(depth);
        let is_next = |keywords: Keywords| keyword.is_some_and(|keyword| keywords.contains(keyword));
        let passes = match self.passed.as_slice() {
            [] => true,
            [_] => is_next(self.walk.first),
            [.., parent] => *parent && is_next(self.walk.nested),
        };
        self.passed.push(passes);
        passes && depth > 0 && is_next(self.walk.last)
    }
}
