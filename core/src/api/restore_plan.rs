//! `RestorePlan`: the way back of one schema's arguments, to be kept.

use alloc::string::String;

use crate::{error::Error, json, sanitize::decode::Plan};

/// What sanitizing a schema leaves for its arguments: what has to be undone in them, and nothing else of the schema.
///
/// [`Rewritten::restore_plan`](crate::Rewritten::restore_plan) returns it.
/// [`restore_arguments`](crate::restore_arguments) runs it without the schema and the dialect, so that arguments may
/// come back in a later turn or in another process: [`Self::to_json`] and [`Self::from_json`] keep it until then.
///
/// ```
/// use serde_json::json;
/// use toolwire::{restore_arguments, sanitize, RestorePlan, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
/// let rewritten = sanitize(&schema, &SanitizeOptions::new("openai-strict"))?;
/// let kept: String = rewritten.restore_plan()?.to_json();
/// // The model says by null that there are no days.
/// let plan = RestorePlan::from_json(&kept)?;
/// assert_eq!(restore_arguments(&json!({"days": null}), &plan)?, json!({}));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RestorePlan(pub(crate) Plan);

impl RestorePlan {
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
