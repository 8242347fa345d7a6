//! Numbers of types in Google's protocol, whose JSON accepts a number in place of a name.

use crate::json::Node;

/// Names of the types 1 to 7; 0 is not a type.
///
/// Source: googleapis, google/ai/generativelanguage/v1beta/content.proto, `enum Type`; the API's answers to `"type": 6`
/// and `"type": 1`, 200 (tmc/langchaingo, open-telemetry/opentelemetry-python-contrib, recorded).
const NAMES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// Returns the type of a number.
pub(crate) fn protocol_type(value: &Node<'_>) -> Option<&'static str> {
    let number = usize::try_from(value.as_u64()?).ok()?;
    NAMES.get(number.checked_sub(1)?).copied()
}
