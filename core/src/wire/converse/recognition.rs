//! Recognizes requests of Bedrock Converse.

use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    wire::recognition::{is_given, SentTo},
};

/// Recognizes requests by members that only Converse has. Gateways accept some of them in Chat Completions requests,
/// but such requests have `model` or `tools`.
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
    let has_member = |key: &str| is_given(request, key);
    let is_named = has_member("toolConfig") || !has_member("model") && MEMBERS.iter().any(|key| has_member(key));
    Ok(!has_member("tools") && (is_named || !has_member("model") && has_calls(request)?))
}

/// Returns true if the history has calls or results in the form of Converse, which no other format uses.
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
