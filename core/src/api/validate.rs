//! `validate_arguments`.

use super::Input;
use crate::{
    error::Error,
    json::Node,
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
/// `invalid-schema` if the schema is neither an object nor a boolean; `invalid-json`, `too-deep`.
pub fn validate_arguments(arguments: impl Input, schema: impl Input) -> Result<Validation, Error> {
    validate_node(&arguments.given()?.read()?, &schema.given()?.read()?)
}

/// [`validate_arguments`] on trees.
///
/// # Errors
/// As [`validate_arguments`].
pub(super) fn validate_node(arguments: &Node<'_>, schema: &Node<'_>) -> Result<Validation, Error> {
    Ok(Validator::new(schema)?.arguments(arguments))
}
