//! Recognizes requests that only Anthropic accepts.

use alloc::{format, string::String};

use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    wire::units::has_type,
};

/// Returns a pointer to a block that only Anthropic has, or to the system prompt if the tools also have Anthropic's
/// format. A system prompt without such tools, or such tools without a system prompt, also occur in requests to other
/// servers.
pub(super) fn evidence(request: &Node<'_>, history: &str) -> Result<Option<String>, Error> {
    for (at, message) in request.items_at(history).iter().enumerate() {
        if !may_hold(message, Flags::CALL | Flags::RESULT | Flags::CHAT) {
            continue;
        }
        let message = view(message)?;
        let is_call = |block: &Node<'_>| has_type(block, "tool_use") || has_type(block, "tool_result");
        if let Some(index) = message.items_at("content").iter().position(is_call) {
            return Ok(Some(format!("/{history}/{at}/content/{index}")));
        }
    }
    let tools = request.get("tools").map(view).transpose()?;
    let tools = tools.as_ref().and_then(|tools| tools.as_array()).unwrap_or_default();
    let has_tools = !tools.is_empty() && tools.iter().all(|tool| tool.get("input_schema").is_some());
    let prompt = request.get("system").map(view).transpose()?;
    let has_prompt = prompt.is_some_and(|prompt| !prompt.is_null());
    Ok((has_tools && has_prompt).then(|| String::from("/system")))
}
