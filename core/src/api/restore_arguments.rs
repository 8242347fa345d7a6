//! `restore_arguments`.

use alloc::borrow::Cow;
use serde_json::Value;

use super::{text_of, JsonText};
use crate::{
    error::Error,
    json::{self, Node},
    options::SanitizeOptions,
    sanitize as rules,
};

/// Brings the model's arguments back into the shape that the tool's own schema has, where the dialect had to encode
/// something.
///
/// Takes the tool's *original* schema and the options that [`sanitize`](crate::sanitize) was given, and makes the plan
/// anew on each call: where there are many calls, keep the `restore_plan` of [`sanitize`](crate::sanitize). What it
/// does not understand stays as it is.
///
/// ```
/// use serde_json::json;
/// use toolwire::{restore_arguments, sanitize, SanitizeOptions};
/// let options = SanitizeOptions::new("moonshot");
/// let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
/// assert_eq!(sanitize(&schema, &options)?.schema["properties"], json!({"dollar_ref_": {"type": "string"}}));
/// assert_eq!(restore_arguments(&json!({"dollar_ref_": "main"}), &schema, &options)?, json!({"$ref": "main"}));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `unknown-dialect`, `invalid-option`, `too-deep`.
pub fn restore_arguments(arguments: &Value, schema: &Value, options: &SanitizeOptions) -> Result<Value, Error> {
    let mut node = Node::from_value(arguments)?;
    rules::restore_arguments(&mut node, &Node::from_value(schema)?, options)?;
    node.to_value()
}

/// [`restore_arguments`] from text to text; the arguments themselves if there is nothing to restore.
///
/// # Errors
/// As [`restore_arguments`], and `invalid-json`.
pub fn restore_arguments_json<'a, 's, T: JsonText<'a>>(
    arguments: T,
    schema: impl JsonText<'s>,
    options: &SanitizeOptions,
) -> Result<Cow<'a, T::Form>, Error> {
    let arguments = arguments.text()?;
    let mut node = json::read(arguments)?;
    rules::restore_arguments(&mut node, &json::read(schema.text()?)?, options)?;
    Ok(T::form(text_of(arguments, &node)))
}
