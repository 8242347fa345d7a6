//! Encoding for strict dialects: rewrites what they cannot express, so that `restore_arguments` can undo it.
//!
//! The passes produce a *plain* schema: it uses only `type`, `properties`, `items`, `anyOf` and kept references to
//! express which values it accepts. [`write`] rewrites it for an API whose objects are all closed. [`plan`] describes
//! how to restore the model's arguments, and [`crate::sanitize::decode`] restores them. Both use [`layout`] to
//! determine the shape of a schema, so they cannot disagree. [`normalize`] prepares the plain schema.

pub(crate) mod json_string;
pub(crate) mod layout;
pub(crate) mod lower;
pub(crate) mod normalize;
pub(crate) mod plan;
pub(crate) mod require_one;

use crate::{error::Error, json::Node, sanitize::context::PassContext};

pub(crate) fn write(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    lower::lower_schema(root, context)
}
