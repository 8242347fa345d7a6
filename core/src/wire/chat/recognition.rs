//! Tells requests of Chat Completions from requests of Anthropic.

use alloc::{format, string::String};

use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    options::Api,
    wire::recognition::{is_given, SentTo},
};

/// Members that do not exist in Anthropic requests. They only matter if Chat Completions is the target. With them, a
/// Chat Completions request that this library wrote is recognized even without tools.
const CHAT_ONLY: [&str; 37] = [
    "audio",
    "chat_template_kwargs",
    "enable_thinking",
    "format",
    "frequency_penalty",
    "function_call",
    "functions",
    "guided_json",
    "json_schema",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "min_p",
    "modalities",
    "n",
    "parallel_tool_calls",
    "plugins",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "provider",
    "reasoning",
    "reasoning_effort",
    "repetition_penalty",
    "response_format",
    "safety_identifier",
    "seed",
    "stop",
    "store",
    "stream_options",
    "structured_outputs",
    "top_logprobs",
    "transforms",
    "user",
    "verbosity",
    "web_search_options",
];

/// Returns true if the request has a feature of Anthropic: a top-level `system`, tools with `input_schema`, or blocks
/// for calls and results.
fn has_shape_of_anthropic(request: &Node<'_>) -> Result<bool, Error> {
    if request.get("system").is_some() {
        return Ok(true);
    }
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        if tools.as_array().unwrap_or_default().iter().any(|tool| tool.get("input_schema").is_some()) {
            return Ok(true);
        }
    }
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::CALL | Flags::RESULT) {
            continue;
        }
        let message = view(message)?;
        let is_of_a_call = |block: &Node<'_>| {
            block.get("type").is_some_and(|kind| kind.is_text("tool_use") || kind.is_text("tool_result"))
        };
        if message.items_at("content").iter().any(is_of_a_call) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn recognizes(request: &Node<'_>, sent_to: SentTo) -> Result<bool, Error> {
    let has_member = |key: &str| is_given(request, key);
    // These response formats do not exist in other APIs with `messages`.
    let is_of_anthropic = has_member("output_config") || has_member("output_format");
    if has_member("response_format") && !is_of_anthropic && !has_shape_of_anthropic(request)? {
        return Ok(true);
    }
    let target = sent_to.api.filter(|_| !is_of_anthropic);
    let has_chat_member = || CHAT_ONLY.iter().any(|key| request.get(key).is_some());
    // Anthropic requires `max_tokens`.
    let is_chat = || has_chat_member() || sent_to.is_home && !has_member("max_tokens");
    if target == Some(Api::OpenaiChat) && is_chat() && !has_shape_of_anthropic(request)? {
        return Ok(true);
    }
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        // Anthropic's older clients wrap a definition, or its flags, in `custom`.
        let is_custom = |tool: &Node<'_>| {
            let custom = tool.get("custom").filter(|custom| custom.get("input_schema").is_none());
            custom.is_some_and(|custom| custom.get("name").is_some())
        };
        let wraps = |tool: &Node<'_>| {
            is_custom(tool) || tool.get("function").is_some_and(|function| function.as_object().is_some())
        };
        if tools.as_array().unwrap_or_default().iter().any(wraps) {
            return Ok(true);
        }
    }
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::CHAT) {
            continue;
        }
        let message = view(message)?;
        // Kimi's system messages may add tools.
        let brings_tools = message.get("tools").is_some_and(|tools| tools.as_array().is_some());
        let answers = message.get("role").is_some_and(|role| role.is_text("tool"));
        if answers || brings_tools || message.get("tool_calls").is_some() {
            return Ok(true);
        }
    }
    // In Anthropic's format, the first message is never a system message.
    let begins = request.items_at("messages").first().map(view).transpose()?;
    let is_prompt = begins.is_some_and(|first| {
        let is_text = first.get("content").is_some_and(|content| content.as_text().is_some());
        is_text && first.get("role").is_some_and(|role| role.is_text("system"))
    });
    Ok(is_prompt && !is_of_anthropic && !has_shape_of_anthropic(request)?)
}

pub(super) fn evidence(request: &Node<'_>, history: &str) -> Result<Option<String>, Error> {
    for (at, message) in request.items_at(history).iter().enumerate() {
        if !may_hold(message, Flags::CALL | Flags::RESULT | Flags::CHAT) {
            continue;
        }
        let message = view(message)?;
        let calls = message.array_at("tool_calls").is_some_and(|calls| !calls.is_empty());
        if calls || message.get("role").is_some_and(|role| role.is_text("tool")) {
            let member = if calls { "tool_calls" } else { "role" };
            return Ok(Some(format!("/{history}/{at}/{member}")));
        }
    }
    Ok(None)
}
