//! Tells requests of Gemini Interactions from requests of OpenAI Responses.

use crate::{
    error::Error,
    json::{lazy::view, Node, Text},
    options::Api,
    wire::{
        recognition::{is_given, SentTo},
        units::has_type,
    },
};

/// Members that do not exist in OpenAI Responses.
const MEMBERS: [&str; 12] = [
    "agent",
    "agent_config",
    "cached_content",
    "continuation_token",
    "generation_config",
    "previous_interaction_id",
    "response_mime_type",
    "response_modalities",
    "safety_settings",
    "system_instruction",
    "video_config",
    "webhook_config",
];

/// Members that do not exist in Gemini Interactions.
const OTHERS: [&str; 20] = [
    "client_metadata",
    "conversation",
    "include",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "top_p",
    "truncation",
    "user",
];

/// Recognizes requests by members, tools and steps that exist in only one of the two APIs.
///
/// Sources of the lists: google-genai 3.6.1, `_gaos/types/interactions/{createmodelinteraction,tool,step}.py`, and
/// openai-python's `types/responses` (read 2026-11-26).
pub(super) fn recognizes(request: &Node<'_>, sent_to: SentTo) -> Result<bool, Error> {
    let has = |key: &&str| is_given(request, key);
    if MEMBERS.iter().any(&has) {
        return Ok(true);
    }
    if OTHERS.iter().any(has) {
        return Ok(false);
    }
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        if let Some(decision) =
            tools.as_array().unwrap_or_default().iter().find_map(|entry| is_entry_of_interactions(entry, sent_to))
        {
            return Ok(decision);
        }
    }
    if let Some(input) = request.get("input") {
        let input = view(input)?;
        if input.as_object().is_some() {
            return Ok(true);
        }
        for item in input.as_array().unwrap_or_default() {
            if let Some(decision) = is_step(&*view(item)?) {
                return Ok(decision);
            }
        }
    }
    // Routers prefix the model with the vendor, and do not offer Interactions.
    let model = request.get("model").map(view).transpose()?;
    let is_gemini = model.is_some_and(|model| model.as_text().is_some_and(|name| starts_with(name, "gemini-")));
    Ok(sent_to.api == Some(Api::GeminiInteractions) || is_gemini)
}

/// Returns true for an entry that exists only in Gemini Interactions, and false for an entry that exists only in OpenAI
/// Responses.
fn is_entry_of_interactions(entry: &Node<'_>, sent_to: SentTo) -> Option<bool> {
    const THEIRS: [&str; 5] = ["mcp_server", "google_search", "google_maps", "url_context", "retrieval"];
    const OF_RESPONSES: [&str; 7] =
        ["custom", "namespace", "mcp", "web_search", "web_search_preview", "code_interpreter", "image_generation"];
    let is = |name: &&str| has_type(entry, name);
    if THEIRS.iter().any(&is) || entry.get("short_description").is_some() {
        return Some(true);
    }
    if is(&"tool_search") && entry.get("name").is_some() || is(&"code_execution") && !sent_to.has_code_execution {
        return Some(true);
    }
    (OF_RESPONSES.iter().any(is) || entry.get("strict").is_some()).then_some(false)
}

/// Returns true for an item that exists only in Gemini Interactions, and false for an item that exists only in OpenAI
/// Responses.
fn is_step(item: &Node<'_>) -> Option<bool> {
    const STEPS: [&str; 10] = [
        "user_input",
        "model_output",
        "thought",
        "function_result",
        "tool_search_result",
        "text",
        "image",
        "audio",
        "document",
        "video",
    ];
    if item.get("role").is_some() {
        return Some(false);
    }
    if STEPS.iter().any(|name| has_type(item, name)) {
        return Some(true);
    }
    let is_call = has_type(item, "function_call") || has_type(item, "tool_search_call");
    if is_call {
        let is_item = item.get("call_id").is_some() || item.get("execution").is_some();
        return Some(!is_item);
    }
    // Calls of hosted tools, and their results. Both APIs have `file_search_call`.
    const HOSTED: [&str; 6] =
        ["code_execution_", "google_", "mcp_server_", "processing_", "retrieval_", "url_context_"];
    let kind = item.text_at("type").filter(|kind| !kind.is("file_search_call"))?;
    Some(HOSTED.iter().any(|start| starts_with(kind, start)) || kind.is("file_search_result"))
}

fn starts_with(text: &Text<'_>, start: &str) -> bool {
    text.display().starts_with(start)
}
