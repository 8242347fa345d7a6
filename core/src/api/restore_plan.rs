//! `RestorePlan`: the serializable plan that restores arguments of one schema.

use alloc::string::String;

use crate::{error::Error, json, sanitize::decode::Plan};

/// The changes to undo in the arguments of a sanitized schema. It contains nothing else of the schema.
///
/// [`Rewritten::restore_plan`](crate::Rewritten::restore_plan) returns it.
/// [`restore_arguments`](crate::restore_arguments) applies it without the schema and the dialect. Arguments may
/// therefore be restored in a later turn or in another process: [`Self::to_json`] and [`Self::from_json`] preserve the
/// plan until then.
///
/// ```
/// use serde_json::json;
/// use toolwire::{restore_arguments, sanitize, RestorePlan, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
/// let rewritten = sanitize(&schema, &SanitizeOptions::new("openai-strict"))?;
/// let kept: String = rewritten.restore_plan()?.to_json();
/// // By null, the model expresses that `days` is absent.
/// let plan = RestorePlan::from_json(&kept)?;
/// assert_eq!(restore_arguments(&json!({"days": null}), &plan)?, json!({}));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RestorePlan(pub(crate) Plan);

impl RestorePlan {
    /// Returns true if all arguments are restored unchanged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the plan as JSON text, to be stored for a later turn.
    pub fn to_json(&self) -> String {
        json::write(&self.0.to_versioned_node())
    }

    /// Reads the JSON text that [`Self::to_json`] returned.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`; `invalid-value` if the text is not a plan, or one of another version.
    pub fn from_json(text: &str) -> Result<RestorePlan, Error> {
        Plan::from_versioned_node(&json::read(text)?).map(RestorePlan)
    }
}

/// Two plans are equal if [`RestorePlan::to_json`] returns the same text.
impl PartialEq for RestorePlan {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for RestorePlan {}
