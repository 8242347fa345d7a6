//! Recognizes requests of Bedrock Converse.

use crate::{
    error::Error,
    json::Node,
    wire::recognition::{is_given, SentTo},
};

/// Returns true for a request of Bedrock Converse. Gateways accept some of its members in Chat Completions requests,
/// but those have `model` or `tools`.
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
    Ok(is_named && !given("tools"))
}
