//! `validate_arguments`.

use serde_json::Value;

use super::JsonText;
use crate::{
    error::Error,
    json::{self, Node},
    schema::validate::{Validation, Validator},
};

/// What the tool's own schema says against the arguments of a call.
///
/// `schema` is the tool's parameters, in any draft from 4 to 2020-12. Arguments are an object, also where the root has
/// no `type`. [`Validation::valid`] is `None` where it cannot be told: see the page of this function for what that is.
/// No message has a value of the arguments, so errors may be logged and handed to the model.
///
/// ```
/// use serde_json::json;
/// use toolwire::validate_arguments;
/// let schema = json!({"properties": {"limit": {"type": "integer"}}, "required": ["query"]});
/// let found = validate_arguments(&json!({"limit": "10"}), &schema)?;
/// assert_eq!(found.valid, Some(false));
/// assert_eq!(found.errors[0].pointer, "/limit");
/// assert_eq!(found.errors[0].message, "expected an integer, found a string");
/// assert_eq!(found.errors[1].keyword, "required");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-schema` if the schema is neither an object nor a boolean; `too-deep`.
pub fn validate_arguments(arguments: &Value, schema: &Value) -> Result<Validation, Error> {
    validate_node(&Node::from_value(arguments)?, &Node::from_value(schema)?)
}

/// [`validate_arguments`] of JSON text.
///
/// # Errors
/// As [`validate_arguments`], and `invalid-json`.
pub fn validate_arguments_json<'a, 's>(
    arguments: impl JsonText<'a>,
    schema: impl JsonText<'s>,
) -> Result<Validation, Error> {
    validate_node(&json::read(arguments.text()?)?, &json::read(schema.text()?)?)
}

/// [`validate_arguments`] on trees.
///
/// # Errors
/// As [`validate_arguments`].
pub(super) fn validate_node(arguments: &Node<'_>, schema: &Node<'_>) -> Result<Validation, Error> {
    Ok(Validator::new(schema)?.arguments(arguments))
}
