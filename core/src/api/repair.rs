//! `repair_arguments`.

use alloc::borrow::Cow;
use serde_json::Value;

use super::JsonText;
use crate::{
    error::Error,
    json::{self, Node},
    options::RepairOptions,
    repair::{self, unreadable, Answered},
    report::Repaired,
    schema::validate::Validator,
};

/// Repairs arguments that a model answered wrongly: text that is almost JSON, a list in a string, a number in quotes,
/// null for an optional member, a name in another spelling.
///
/// `schema` is the tool's own. What it takes is never touched, and nothing is invented: a repair answers one violation,
/// and is kept if nothing that held is broken. What cannot be repaired stays as it is, and is no error. A string at the
/// root is the text of the arguments; null is no arguments.
///
/// ```
/// use serde_json::json;
/// use toolwire::{repair_arguments, RepairOptions};
/// let schema = json!({
///     "properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "limit": {"type": "integer"}}
/// });
/// let answered = json!({"ids": "[1, 2]", "limit": "10"});
/// let repaired = repair_arguments(&answered, &schema, &RepairOptions::default())?;
/// assert_eq!(repaired, json!({"ids": [1, 2], "limit": 10}));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-json` if a string at the root cannot be read; `invalid-schema`, `too-deep`.
pub fn repair_arguments(arguments: &Value, schema: &Value, options: &RepairOptions) -> Result<Value, Error> {
    repair_arguments_with_report(arguments, schema, options).map(|repaired| repaired.arguments)
}

/// [`repair_arguments`], and every repair, what is still wrong, and whether the schema takes the arguments now.
///
/// ```
/// use serde_json::json;
/// use toolwire::{repair_arguments_with_report, RepairOptions};
/// let schema = json!({"properties": {"limit": {"type": "integer"}}, "required": ["query"]});
/// let repaired = repair_arguments_with_report(&json!({"limit": "10"}), &schema, &RepairOptions::default())?;
/// assert_eq!(repaired.repairs[0].rule.as_str(), "string-to-number");
/// assert_eq!(repaired.valid, Some(false));
/// assert_eq!(repaired.left[0].keyword, "required");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// As [`repair_arguments`].
pub fn repair_arguments_with_report(
    arguments: &Value,
    schema: &Value,
    options: &RepairOptions,
) -> Result<Repaired<Value>, Error> {
    let answered = Answered::value(Node::from_value(arguments)?).map_err(unreadable)?;
    let repaired = repair_node(answered, &Node::from_value(schema)?, options)?;
    let value = if repaired.changed { repaired.arguments.to_value()? } else { arguments.clone() };
    Ok(repaired.map(|_| value))
}

/// [`repair_arguments`] of JSON text, or of what the model meant as such; the text itself if it needs no repair.
///
/// ```
/// use toolwire::{repair_arguments_json, RepairOptions};
/// let schema = r#"{"properties": {"path": {"type": "string"}}}"#;
/// let repaired = repair_arguments_json("```json\n{'path': \"a.txt\",}\n```", schema, &RepairOptions::default())?;
/// assert_eq!(repaired, r#"{"path":"a.txt"}"#);
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// As [`repair_arguments`]. The message of `invalid-json` names the reason and the byte.
pub fn repair_arguments_json<'a, 's, T: JsonText<'a>>(
    arguments: T,
    schema: impl JsonText<'s>,
    options: &RepairOptions,
) -> Result<Cow<'a, T::Form>, Error> {
    repair_arguments_json_with_report(arguments, schema, options).map(|repaired| repaired.arguments)
}

/// [`repair_arguments_with_report`] of JSON text.
///
/// # Errors
/// As [`repair_arguments_json`].
pub fn repair_arguments_json_with_report<'a, 's, T: JsonText<'a>>(
    arguments: T,
    schema: impl JsonText<'s>,
    options: &RepairOptions,
) -> Result<Repaired<Cow<'a, T::Form>>, Error> {
    let repaired = repair_text(arguments.text()?, schema.text()?, options)?;
    Ok(repaired.map(T::form))
}

/// Repairs a text.
///
/// # Errors
/// As [`repair_arguments_json`].
pub(super) fn repair_text<'a>(
    arguments: &'a str,
    schema: &str,
    options: &RepairOptions,
) -> Result<Repaired<Cow<'a, str>>, Error> {
    let repaired = repair_node(Answered::text(arguments)?, &json::read(schema)?, options)?;
    let text = match repaired.changed {
        true => Cow::Owned(json::write(&repaired.arguments)),
        false => Cow::Borrowed(arguments),
    };
    Ok(repaired.map(|_| text))
}

/// Repairs a tree.
///
/// # Errors
/// As [`repair_arguments`].
pub(super) fn repair_node<'n>(
    answered: Answered<'n>,
    schema: &Node<'_>,
    options: &RepairOptions,
) -> Result<Repaired<Node<'n>>, Error> {
    repair::repair(&Validator::new(schema)?, answered, options).map_err(unreadable)
}
