//! Counts the properties that make the grammar of a schema large, in a tool or a response format.

use super::{
    keyword::{Keyword, Keywords},
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::Set,
    error::Error,
    json::{Member, Node, Text},
};

/// Counts that do not follow references: a definition is counted once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Complexity {
    pub(crate) properties: usize,
    pub(crate) optional: usize,
    /// Properties with `anyOf` or a list of types.
    pub(crate) unions: usize,
}

impl Complexity {
    pub(crate) fn of(root: &Node<'_>, budget: &Budget) -> Result<Complexity, Error> {
        let mut counts = Complexity::default();
        visit::walk(budget, root, Keywords::ALL, &mut |node, _| {
            let Some(object) = node.as_object() else { return Ok(Visit::Skip) };
            let required: Set<&Text<'_>> =
                object.array_at(Keyword::Required).into_iter().flatten().filter_map(Node::as_text).collect();
            for Member { key, value } in object.object_at(Keyword::Properties).into_iter().flatten() {
                let types = value.get(Keyword::Type).and_then(Node::as_array).map_or(0, <[_]>::len);
                counts.properties += 1;
                counts.optional += usize::from(!required.contains(&key));
                counts.unions += usize::from(types > 1 || value.get(Keyword::AnyOf).is_some());
            }
            Ok(Visit::Descend)
        })?;
        Ok(counts)
    }
}
