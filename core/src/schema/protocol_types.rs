//! The numbers of types in Google's protocol, whose JSON accepts a number in place of a name.

use crate::json::Node;

/// The names of the types 1 to 7; 0 is no type.
///
/// Source: googleapis, google/ai/generativelanguage/v1beta/content.proto, `enum Type`; the API's answers to `"type": 6`
/// and `"type": 1`, 200 (tmc/langchaingo, open-telemetry/opentelemetry-python-contrib, recorded).
const NAMES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// The type that a number names.
pub(crate) fn protocol_type(value: &Node<'_>) -> Option<&'static str> {
    let number = usize::try_from(value.as_u64()?).ok()?;
    NAMES.get(number.checked_sub(1)?).copied()
}
