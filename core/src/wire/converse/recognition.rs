//! Recognizes requests of Bedrock Converse.

use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    wire::recognition::{is_given, SentTo},
};

/// Gateways accept some of these members in Chat Completions requests, but those requests have `model` or `tools`.
///
/// Source: botocore 1.43.127, `bedrock-runtime`: `ConverseRequest`.
pub(super) fn recognizes(request: &Node<'_>, _: SentTo) -> Result<bool, Error> {
    const MEMBERS: [&str; 9] = [
        "additionalModelRequestFields",
        "additionalModelResponseFieldPaths",
        "guardrailConfig",
        "inferenceConfig",
        "modelId",
        "outputConfig",
        "performanceConfig",
        "promptVariables",
        "requestMetadata",
    ];
    let given = |key: &str| is_given(request, key);
    let is_named = given("toolConfig") || !given("model") && MEMBERS.iter().any(|key| given(key));
    Ok(!given("tools") && (is_named || !given("model") && has_calls(request)?))
}

/// No other format represents calls and results in this way.
fn has_calls(request: &Node<'_>) -> Result<bool, Error> {
    for message in request.items_at("messages") {
        if may_hold(message, Flags::CALL | Flags::RESULT) {
            let message = view(message)?;
            let is_of_a_call = |block: &Node<'_>| block.get("toolUse").is_some() || block.get("toolResult").is_some();
            if message.items_at("content").iter().any(is_of_a_call) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
