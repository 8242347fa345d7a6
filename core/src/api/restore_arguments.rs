//! `restore_arguments`.

use super::{Input, RestorePlan};
use crate::error::Error;

/// Restores the model's arguments to the shape of the tool's own schema, if the dialect required an encoding.
///
/// `plan` is the result of [`Rewritten::restore_plan`](crate::Rewritten::restore_plan). Neither the schema nor the
/// dialect is needed. Arguments that do not match the plan are left unchanged.
///
/// ```
/// use serde_json::json;
/// use toolwire::{restore_arguments, sanitize, SanitizeOptions};
/// let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
/// let rewritten = sanitize(&schema, &SanitizeOptions::new("moonshot"))?;
/// assert_eq!(rewritten.schema["properties"], json!({"dollar_ref_": {"type": "string"}}));
/// let arguments = json!({"dollar_ref_": "main"});
/// assert_eq!(restore_arguments(&arguments, rewritten.restore_plan()?)?, json!({"$ref": "main"}));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-json`, `too-deep`; `budget-exceeded` if `plan` was not made by [`sanitize`](crate::sanitize).
pub fn restore_arguments<T: Input>(arguments: T, plan: &RestorePlan) -> Result<T::Output, Error> {
    let mut node = arguments.given()?.read()?;
    plan.0.restore(&mut node)?;
    arguments.written(&node)
}
