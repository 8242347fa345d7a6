//! Canonicalize: one spelling for each meaning.
//!
//! Assumes nothing: any JSON may occur in place of a schema. Guarantees that every schema is an object or a boolean,
//! that every keyword has a valid value, and that the schema is written in terms of draft 2020-12.

pub(crate) mod misplaced;
pub(crate) mod never;
pub(crate) mod repair;
pub(crate) mod scalars;
pub(crate) mod upgrade_draft;

use alloc::vec::Vec;

use super::legalize::refused_keys;
use crate::{
    error::Error,
    json::Node,
    sanitize::{
        context::PassContext,
        pass::{run_all, InferenceContext, VisitorPass},
    },
    schema::{
        keyword::Keywords,
        visit::{SchemaPath, Visit, VisitorMut},
    },
};

pub(crate) struct Canonicalize<'r> {
    pub(crate) context: &'r mut PassContext,
    pub(crate) passes: Vec<VisitorPass>,
}

impl<'a> VisitorMut<'a> for Canonicalize<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let present = node.as_object().map_or(Keywords::NONE, Keywords::in_object);
        let present = run_all(&self.passes, node, path, InferenceContext::default(), present, self.context)?;
        if node.as_object().is_some() {
            self.context.survey.keywords = self.context.survey.keywords.union(present);
            self.context.survey.lists_objects |= refused_keys::lists_objects(node, present);
        }
        Ok(Visit::Descend)
    }
}
