//! Finds messages that add tools: system messages of Kimi and Anthropic, items of OpenAI Responses, and results in
//! Gemini Interactions.

use super::{
    prefilter::{CALL, CARRIER, DEFERRAL},
    tool::has_type,
};
use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Node,
    },
    options::Api,
};

/// Calls `take` with the tools of each message of the history that adds some, in order.
///
/// # Errors
/// `invalid-json`, if a message is text that cannot be read.
pub(crate) fn each<'a>(request: &Node<'a>, api: Api, mut take: impl FnMut(&[Node<'a>])) -> Result<(), Error> {
    let marks = match api {
        Api::OpenaiResponses => CARRIER,
        Api::GeminiInteractions => DEFERRAL | CALL,
        _ => DEFERRAL,
    };
    for message in request.get(api.history()).and_then(Node::as_array).unwrap_or_default() {
        if !may_hold(message, marks) {
            continue;
        }
        let message = view(message)?;
        if !brings(&message, api) {
            continue;
        }
        if api == Api::Anthropic {
            let blocks = message.get("content").and_then(Node::as_array).unwrap_or_default();
            blocks.iter().filter_map(added).for_each(|definition| take(core::slice::from_ref(definition)));
        } else {
            take(message.get(list_of(api)).and_then(Node::as_array).unwrap_or_default());
        }
    }
    Ok(())
}

/// Returns the member of a message that holds the tools that it adds, for an API other than Anthropic's.
pub(crate) const fn list_of(api: Api) -> &'static str {
    match api {
        Api::GeminiInteractions => "result",
        _ => "tools",
    }
}

/// Returns true if the history adds any tool.
///
/// # Errors
/// As [`each`].
pub(crate) fn any(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let mut found = false;
    each(request, api, |tools| found |= !tools.is_empty())?;
    Ok(found)
}

/// Returns the definition that a block of Anthropic's adds.
pub(crate) fn added<'n, 'a>(block: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let tool = block.get("tool").filter(|tool| has_type(block, "tool_addition") && has_type(tool, "tool_definition"));
    tool?.get("definition")
}

/// Returns true if a message may add tools.
pub(crate) fn brings(message: &Node<'_>, api: Api) -> bool {
    let is_system = message.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"));
    let list = message.get(list_of(api)).and_then(Node::as_array).unwrap_or_default();
    let lists_tools = || !list.is_empty();
    match api {
        Api::OpenaiChat => is_system && lists_tools(),
        Api::OpenaiResponses => {
            (has_type(message, "additional_tools") || has_type(message, "tool_search_output")) && lists_tools()
        }
        Api::GeminiInteractions => {
            has_type(message, "tool_search_result") && lists_tools()
                || has_type(message, "function_result") && list.iter().any(|entry| has_type(entry, "function"))
        }
        Api::Anthropic => is_system && message.get("content").is_some_and(|content| content.as_array().is_some()),
        _ => false,
    }
}
