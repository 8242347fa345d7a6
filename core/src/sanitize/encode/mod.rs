//! Encoding for strict dialects: rewrites what they cannot express, so that `restore_arguments` can undo it.
//!
//! The passes leave a *plain* schema: one that expresses what it accepts by `type`, `properties`, `items`, `anyOf` and
//! kept references. [`write`] rewrites it for an API whose objects are all closed. [`plan`] describes how to restore
//! the model's arguments, and [`crate::sanitize::decode`] restores them. Both use [`layout`] to determine the shape of
//! a schema, so they cannot disagree. [`normalize`] prepares the plain schema.

mod discriminate;
mod flatten;
pub(crate) mod json_string;
pub(crate) mod layout;
pub(crate) mod lower;
pub(crate) mod normalize;
mod overlap;
pub(crate) mod plan;
pub(crate) mod require_one;

use crate::{error::Error, json::Node, sanitize::context::PassContext};

/// Member of a pair that holds the name.
pub(crate) const KEY: &str = "key";
/// Member of a pair that holds the value.
pub(crate) const VALUE: &str = "value";
/// Only member of the object that wraps a list of pairs, if the bare list could be mistaken for another array.
pub(crate) const PAIRS: &str = "pairs";
/// Property for members that no other property declares.
const OTHERS: &str = "additional_properties";

/// Lowers a plain schema into a form that the API accepts.
pub(crate) fn write(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    lower::write(root, context)
}
