//! Canonicalize: one spelling for one meaning.
//!
//! Assumes nothing: any JSON may stand where a schema should. Guarantees that every schema is an object or a boolean, that every keyword
//! holds what its keyword may hold, and that everything is written in the words of the 2020-12 draft.

pub(in crate::sanitize) mod repair;
pub(in crate::sanitize) mod upgrade_draft;

use crate::{
    error::Error,
    json::Node,
    sanitize::{
        context::PassContext,
        legalize::{pattern_properties, property_names},
        resolve::prune,
        switch::runs,
    },
    schema::{
        keyword::{Keyword, Keywords},
        walk::{Next, Place, Rewrite},
    },
};

/// The walk down: each schema is repaired and respelled before anything looks inside it.
pub(in crate::sanitize) struct Canonicalize<'r> {
    pub(in crate::sanitize) rules: &'r mut PassContext,
}

impl<'a> Rewrite<'a> for Canonicalize<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        if runs("malformed") {
            repair::repair(node, place, self.rules);
        }
        let Some(present) = node.as_object().map(Keywords::in_object) else { return Ok(Next::Into) };
        if self.rules.no_references && present.meet(prune::CONCERNS) && runs("tables") {
            prune::drop_tables(node, place.position, self.rules);
        }
        let is_tuple = || node.get("items").is_some_and(|items| items.as_array().is_some());
        let respells =
            present.meet(upgrade_draft::CONCERNS.with(Keyword::PatternProperties)) || (present.has(Keyword::Items) && is_tuple());
        if respells && runs("respell") {
            upgrade_draft::respell(node, place, self.rules);
            pattern_properties::say(node, place, self.rules);
        }
        let present = if respells { node.as_object().map_or(present, Keywords::in_object) } else { present };
        self.rules.present = self.rules.present.and(present);
        self.rules.lists_objects |= property_names::lists_objects(node, present);
        Ok(Next::Into)
    }
}
