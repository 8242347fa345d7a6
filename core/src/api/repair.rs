//! `repair_arguments`.

use alloc::borrow::Cow;

use super::{input::Given, Input};
use crate::{
    error::Error,
    json::{self, Node},
    options::RepairOptions,
    repair::{self, unreadable, RawArguments},
    report::Repaired,
    schema::validate::Validator,
};

/// Repairs invalid arguments that a model produced: text that is almost JSON, a list in a string, a number in quotes,
/// null for an optional member, a name in another spelling.
///
/// `schema` is the tool's own schema. Valid arguments are never changed, and no values are invented: each repair fixes
/// a violation, and is kept only if it introduces no other. Violations that cannot be repaired remain, which is not an
/// error. Text is the model's output, as JSON or almost JSON; a string at the root of a value is read as such text,
/// too, and null represents missing arguments.
///
/// ```
/// use serde_json::json;
/// use toolwire::{repair_arguments, RepairOptions};
/// let schema = json!({
///     "properties": {"ids": {"type": "array", "items": {"type": "integer"}}, "limit": {"type": "integer"}}
/// });
/// let answered = json!({"ids": "[1, 2]", "limit": "10"});
/// let repaired = repair_arguments(&answered, &schema, &RepairOptions::default())?;
/// assert_eq!(repaired.arguments, json!({"ids": [1, 2], "limit": 10}));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// In addition to the arguments, the result contains every repair, the remaining violations, and whether the schema
/// accepts the repaired arguments.
///
/// ```
/// use toolwire::{repair_arguments, RepairOptions};
/// let schema = r#"{"properties": {"path": {"type": "string"}}, "required": ["path", "mode"]}"#;
/// let repaired = repair_arguments("```json\n{'path': \"a.txt\",}\n```", schema, &RepairOptions::default())?;
/// assert_eq!(repaired.arguments, r#"{"path":"a.txt"}"#);
/// assert_eq!((repaired.valid, repaired.left[0].keyword), (Some(false), "required"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-json` if the text cannot be read, with the reason and the byte offset in the message; `invalid-schema`,
/// `too-deep`.
pub fn repair_arguments<T: Input>(
    arguments: T,
    schema: impl Input,
    options: &RepairOptions,
) -> Result<Repaired<T::Output>, Error> {
    let given = arguments.given()?;
    let raw = match given {
        Given::Value(value) => RawArguments::value(Node::from_value(value)?).map_err(unreadable)?,
        Given::Text(text) => RawArguments::text(text)?,
    };
    let repaired = repair_node(raw, &schema.given()?.read()?, options)?;
    let written = match (repaired.changed, given) {
        (false, _) => arguments.text(None)?,
        (true, Given::Value(_)) => arguments.written(&repaired.arguments)?,
        (true, Given::Text(_)) => arguments.text(Some(json::write(&repaired.arguments)))?,
    };
    Ok(repaired.map(|_| written))
}

/// Repairs arguments in JSON text.
///
/// # Errors
/// Same as [`repair_arguments`].
pub(super) fn repair_text<'a>(
    arguments: &'a str,
    schema: &str,
    options: &RepairOptions,
) -> Result<Repaired<Cow<'a, str>>, Error> {
    let repaired = repair_node(RawArguments::text(arguments)?, &json::read(schema)?, options)?;
    let text = match repaired.changed {
        true => Cow::Owned(json::write(&repaired.arguments)),
        false => Cow::Borrowed(arguments),
    };
    Ok(repaired.map(|_| text))
}

/// Repairs arguments in a tree.
///
/// # Errors
/// Same as [`repair_arguments`].
pub(super) fn repair_node<'n>(
    raw: RawArguments<'n>,
    schema: &Node<'_>,
    options: &RepairOptions,
) -> Result<Repaired<Node<'n>>, Error> {
    repair::repair(&Validator::new(schema)?, raw, options).map_err(unreadable)
}
