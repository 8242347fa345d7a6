//! Canonicalize: one spelling for each meaning.
//!
//! Assumes nothing: any JSON may occur in place of a schema. Guarantees that every schema is an object or a boolean,
//! that every keyword has a valid value, and that the schema is written in terms of draft 2020-12.

pub(in crate::sanitize) mod counts;
pub(in crate::sanitize) mod misplaced;
mod names;
pub(in crate::sanitize) mod never;
pub(in crate::sanitize) mod repair;
mod scalars;
pub(in crate::sanitize) mod upgrade_draft;
mod zod;

use alloc::vec::Vec;

use crate::{
    error::Error,
    json::Node,
    sanitize::{
        context::PassContext,
        legalize::property_names,
        pass::{run_all, InferenceContext, Walked},
    },
    schema::{
        keyword::Keywords,
        visit::{SchemaPath, Visit, VisitorMut},
    },
};

/// The walk down: repairs and upgrades each schema before its subschemas.
pub(in crate::sanitize) struct Canonicalize<'r> {
    pub(in crate::sanitize) context: &'r mut PassContext,
    pub(in crate::sanitize) passes: Vec<Walked>,
}

impl<'a> VisitorMut<'a> for Canonicalize<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let present = node.as_object().map_or(Keywords::NONE, Keywords::in_object);
        let present = run_all(&self.passes, node, place, InferenceContext::default(), present, self.context)?;
        if node.as_object().is_some() {
            self.context.keywords = self.context.keywords.union(present);
            self.context.lists_objects |= property_names::lists_objects(node, present);
        }
        Ok(Visit::Descend)
    }
}
