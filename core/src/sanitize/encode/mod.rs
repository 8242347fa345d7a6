//! Strict dialects: what they cannot say is encoded, and `restore_arguments` undoes it.
//!
//! The passes leave a *plain* schema: one that says with `type`, `properties`, `items`, `anyOf` and kept references
//! what is accepted. [`write`] writes it again for a surface whose objects are all closed; [`plan`] says what brings a
//! model's answer back, by which [`crate::sanitize::decode`] does. Both ask [`layout`] what a schema is, so that one
//! cannot disagree with the other. What must be settled before that is the business of [`normalize`].

mod discriminate;
mod flatten;
pub(in crate::sanitize) mod json_string;
pub(in crate::sanitize) mod layout;
pub(in crate::sanitize) mod lower;
pub(in crate::sanitize) mod normalize;
mod overlap;
pub(in crate::sanitize) mod plan;
pub(in crate::sanitize) mod require_one;

use crate::{error::Error, json::Node, sanitize::context::PassContext};

/// The member of a pair that holds the name.
pub(in crate::sanitize) const KEY: &str = "key";
/// The member of a pair that holds the value.
pub(in crate::sanitize) const VALUE: &str = "value";
/// The only member of an object that stands for one whose names are not known, where an array would be taken for
/// another.
pub(in crate::sanitize) const PAIRS: &str = "pairs";
/// The property for what no other property names.
const OTHERS: &str = "additional_properties";

/// Writes a plain schema so that the surface accepts it.
pub(in crate::sanitize) fn write(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    lower::write(root, context)
}
