//! `sanitize`, `check` and `restore_arguments`.

use alloc::{borrow::Cow, vec::Vec};
use serde_json::Value;

use super::{text_of, JsonText, RestorePlan};
use crate::{
    check::{self as violations, Violation},
    error::Error,
    json,
    json::Node,
    options::SanitizeOptions,
    report::{lossless, Change, Detail},
    sanitize::{self as rules, decode::Plan},
};

/// A rewritten schema and what was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewritten<T> {
    /// The schema.
    pub schema: T,
    /// Every change, in document order.
    pub changes: Vec<Change>,
    /// Whether the same arguments are accepted and no guidance is lost.
    pub lossless: bool,
    /// Brings the model's arguments back into the shape that the tool's own schema has; empty where nothing is encoded,
    /// as after [`normalize_envelope_with_report`](crate::normalize_envelope_with_report).
    pub restore_plan: RestorePlan,
}

impl<T> Rewritten<T> {
    pub(super) fn new(schema: T, changes: Vec<Change>, plan: Plan) -> Self {
        Rewritten { schema, lossless: lossless(&changes), changes, restore_plan: RestorePlan(plan) }
    }

    /// The same with the schema in another form.
    fn with_schema<U>(self, schema: U) -> Rewritten<U> {
        let Rewritten { changes, lossless, restore_plan, .. } = self;
        Rewritten { schema, changes, lossless, restore_plan }
    }
}

/// Rewrites a tool's parameter schema into one dialect, with the least loss of meaning.
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"unit": {"const": "celsius"}}});
/// assert_eq!(
///     sanitize(&schema, &SanitizeOptions::new("codex"))?,
///     json!({"type": "object", "properties": {"unit": {"type": "string", "enum": ["celsius"]}}}),
/// );
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `unknown-dialect`, `invalid-option`, `too-deep`, `not-representable`, `too-lossy`, and what else the dialect names.
pub fn sanitize(schema: &Value, options: &SanitizeOptions) -> Result<Value, Error> {
    let mut node = Node::from_value(schema)?;
    rules::sanitize(&mut node, options, false)?;
    node.to_value()
}

/// [`sanitize`], what it changed, and the plan that brings the model's arguments back.
///
/// # Errors
/// As [`sanitize`].
pub fn sanitize_with_report(schema: &Value, options: &SanitizeOptions) -> Result<Rewritten<Value>, Error> {
    let done = sanitize_node(Node::from_value(schema)?, options)?;
    let value = done.schema.to_value()?;
    Ok(done.with_schema(value))
}

/// [`sanitize_with_report`] from tree to tree.
///
/// # Errors
/// As [`sanitize`].
pub fn sanitize_node<'a>(mut schema: Node<'a>, options: &SanitizeOptions) -> Result<Rewritten<Node<'a>>, Error> {
    let (changes, plan) = rules::sanitize_with_plan(&mut schema, options, Detail::Whole)?;
    Ok(Rewritten::new(schema, changes, plan))
}

/// [`sanitize`] from text to text: key order, number spelling and escapes of what no rule touches are kept, and the
/// input itself comes back if there is nothing to change.
///
/// # Errors
/// As [`sanitize`], and `invalid-json`.
pub fn sanitize_json<'a, T: JsonText<'a>>(schema: T, options: &SanitizeOptions) -> Result<Cow<'a, T::Form>, Error> {
    let schema = schema.text()?;
    let mut node = json::read(schema)?;
    rules::sanitize(&mut node, options, false)?;
    Ok(T::form(text_of(schema, &node)))
}

/// [`sanitize_json`], what it changed, and the plan that brings the model's arguments back.
///
/// # Errors
/// As [`sanitize_json`].
pub fn sanitize_json_with_report<'a, T: JsonText<'a>>(
    schema: T,
    options: &SanitizeOptions,
) -> Result<Rewritten<Cow<'a, T::Form>>, Error> {
    let schema = schema.text()?;
    let done = sanitize_node(json::read(schema)?, options)?;
    let text = T::form(text_of(schema, &done.schema));
    Ok(done.with_schema(text))
}

/// What the dialect would reject about a schema as it is. Empty means accepted.
///
/// ```
/// use serde_json::json;
/// use toolwire::{check, SanitizeOptions};
/// let schema = json!({"type": "array", "items": [{"type": "string"}]});
/// let violations = check(&schema, &SanitizeOptions::new("codex-wire"))?;
/// assert_eq!(violations[0].pointer, "/items");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `unknown-dialect`, `invalid-option`, `too-deep`.
pub fn check(schema: &Value, options: &SanitizeOptions) -> Result<Vec<Violation>, Error> {
    violations::check(&Node::from_value(schema)?, options)
}

/// [`check`] of JSON text.
///
/// # Errors
/// As [`check`], and `invalid-json`.
pub fn check_json<'a>(schema: impl JsonText<'a>, options: &SanitizeOptions) -> Result<Vec<Violation>, Error> {
    violations::check(&json::read(schema.text()?)?, options)
}

/// Brings the model's arguments back into the shape that the tool's own schema has, where the dialect had to encode
/// something.
///
/// Takes the tool's *original* schema and the options that [`sanitize`] was given, and makes the plan anew on each
/// call: where there are many calls, keep the `restore_plan` of [`sanitize_with_report`]. What it does not understand
/// stays as it is.
///
/// ```
/// use serde_json::json;
/// use toolwire::{restore_arguments, sanitize, SanitizeOptions};
/// let options = SanitizeOptions::new("moonshot");
/// let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
/// assert_eq!(sanitize(&schema, &options)?["properties"], json!({"dollar_ref_": {"type": "string"}}));
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
