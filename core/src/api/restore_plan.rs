//! `RestorePlan`: the way back of one schema's arguments, to be kept.

use alloc::{borrow::Cow, string::String};
use serde_json::Value;

use super::{text_of, JsonText};
use crate::{
    error::Error,
    json::{self, Node},
    sanitize::decode::Plan,
};

/// What sanitizing a schema leaves for its arguments: what has to be undone in them, and nothing else of the schema.
///
/// [`Rewritten::restore_plan`](crate::Rewritten::restore_plan) returns it. Running it asks neither the schema nor the
/// dialect, so that arguments may come back in a later turn or in another process: [`Self::to_json`] and
/// [`Self::from_json`] keep it until then.
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize, RestorePlan, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
/// let rewritten = sanitize(&schema, &SanitizeOptions::new("openai-strict"))?;
/// let kept: String = rewritten.restore_plan()?.to_json();
/// // The model says by null that there are no days.
/// let plan = RestorePlan::from_json(&kept)?;
/// assert_eq!(plan.restore(&json!({"days": null}))?, json!({}));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RestorePlan(pub(crate) Plan);

impl RestorePlan {
    /// Brings arguments back into the shape that the tool's own schema has. What does not look as the plan says stays
    /// as it is.
    ///
    /// # Errors
    /// `too-deep`; `budget-exceeded` if the plan is none that sanitizing has left.
    pub fn restore(&self, arguments: &Value) -> Result<Value, Error> {
        let mut node = Node::from_value(arguments)?;
        self.0.restore(&mut node)?;
        node.to_value()
    }

    /// [`Self::restore`] from text to text; the arguments themselves if there is nothing to restore.
    ///
    /// # Errors
    /// As [`Self::restore`], and `invalid-json`.
    pub fn restore_json<'a, T: JsonText<'a>>(&self, arguments: T) -> Result<Cow<'a, T::Form>, Error> {
        let arguments = arguments.text()?;
        let mut node = json::read(arguments)?;
        self.0.restore(&mut node)?;
        Ok(T::form(text_of(arguments, &node)))
    }

    /// Whether all arguments come back as they are.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As JSON text, to be kept for a later turn.
    pub fn to_json(&self) -> String {
        json::write(&self.0.to_kept())
    }

    /// From the JSON text that [`Self::to_json`] gave.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`, `invalid-value` if it is something else, or of another version.
    pub fn from_json(text: &str) -> Result<RestorePlan, Error> {
        Plan::from_kept(&json::read(text)?).map(RestorePlan)
    }
}

/// Two plans are equal if they are kept as the same text.
impl PartialEq for RestorePlan {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for RestorePlan {}
