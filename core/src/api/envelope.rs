//! `normalize_envelope`.

use alloc::borrow::Cow;
use serde_json::Value;

use super::{text_of, JsonText, Rewritten};
use crate::{envelope, error::Error, json, json::Node, report::Recorder, sanitize::decode::Plan};

/// Repairs the envelope of a tool's parameters: the root becomes an object with `properties`. Nothing else is touched.
///
/// ```
/// use serde_json::json;
/// let schema = json!({"properties": {"city": {"$ref": "#/$defs/City"}}});
/// assert_eq!(
///     toolwire::normalize_envelope(&schema)?,
///     json!({"type": "object", "properties": {"city": {"$ref": "#/$defs/City"}}}),
/// );
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `too-deep` beyond 512 levels of nesting.
pub fn normalize_envelope(schema: &Value) -> Result<Value, Error> {
    let mut node = Node::from_value(schema)?;
    envelope::normalize(&mut node, &mut Recorder::off());
    node.to_value()
}

/// [`normalize_envelope`], and what it changed.
///
/// # Errors
/// As [`normalize_envelope`].
pub fn normalize_envelope_with_report(schema: &Value) -> Result<Rewritten<Value>, Error> {
    let mut node = Node::from_value(schema)?;
    let mut recorder = Recorder::on();
    envelope::normalize(&mut node, &mut recorder);
    Ok(Rewritten::new(node.to_value()?, recorder.finish(), Plan::default()))
}

/// [`normalize_envelope`] from text to text; the input itself if there is nothing to repair.
///
/// # Errors
/// `invalid-json`, `too-deep`.
pub fn normalize_envelope_json<'a, T: JsonText<'a>>(schema: T) -> Result<Cow<'a, T::Form>, Error> {
    let schema = schema.text()?;
    let mut node = json::read(schema)?;
    envelope::normalize(&mut node, &mut Recorder::off());
    Ok(T::form(text_of(schema, &node)))
}

/// [`normalize_envelope_json`], and what it changed.
///
/// # Errors
/// As [`normalize_envelope_json`].
pub fn normalize_envelope_json_with_report<'a, T: JsonText<'a>>(
    schema: T,
) -> Result<Rewritten<Cow<'a, T::Form>>, Error> {
    let schema = schema.text()?;
    let mut node = json::read(schema)?;
    let mut recorder = Recorder::on();
    envelope::normalize(&mut node, &mut recorder);
    Ok(Rewritten::new(T::form(text_of(schema, &node)), recorder.finish(), Plan::default()))
}
