//! Translates the members of a request other than tools and history.

use alloc::vec::Vec;

use crate::{
    error::Error,
    json::{lazy::view, Member, Node, Text},
    options::Api,
    request::report::Warnings,
};

/// Members with the same meaning in all formats.
const SHARED: [&str; 4] = ["model", "stream", "temperature", "top_p"];
/// Members that the writers have already set.
const WRITTEN: [&str; 7] =
    ["input", "messages", "system", "system_instruction", "tools", "tool_choice", "parallel_tool_calls"];
/// Members of OpenAI's formats that have no counterpart elsewhere and are dropped without a warning.
const SILENT: [&str; 6] = ["store", "include", "prompt_cache_key", "client_metadata", "stream_options", "service_tier"];
/// The maximum number of output tokens in each format. Chat Completions has two names for it.
const LIMITS: [&str; 3] = ["max_tokens", "max_output_tokens", "max_completion_tokens"];

/// Renames, keeps or drops each member.
pub(super) fn write(
    request: &mut Node<'_>,
    (source, target): (Api, Api),
    max_tokens: u64,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let limit = match target {
        Api::Anthropic => "max_tokens",
        Api::OpenaiResponses | Api::GeminiInteractions => "max_output_tokens",
        _ => "max_completion_tokens",
    };
    let rename = |key: &Text<'_>| match (source, target) {
        _ if LIMITS.iter().any(|name| key.is(name)) => Some(limit),
        (Api::Anthropic | Api::GeminiInteractions, Api::OpenaiChat) if key.is("stop_sequences") => Some("stop"),
        (_, Api::Anthropic | Api::GeminiInteractions) if key.is("stop") || key.is("stop_sequences") => {
            Some("stop_sequences")
        }
        _ => None,
    };
    // Anthropic's `metadata` accepts only one key.
    let keeps_metadata = target != Api::GeminiInteractions && (source == Api::Anthropic || target != Api::Anthropic);
    let stays =
        |key: &Text<'_>| SHARED.iter().chain(&WRITTEN).any(|name| key.is(name)) || keeps_metadata && key.is("metadata");
    let Some(object) = request.as_object() else { return Ok(()) };
    if !object.iter().all(|member| stays(&member.key)) {
        let Some(object) = request.as_object_mut() else { return Ok(()) };
        let mut members: Vec<Member<'_>> = Vec::with_capacity(object.len());
        for mut member in core::mem::take(object.members_mut()) {
            if let Some(name) = rename(&member.key) {
                let view = view(&member.value)?;
                let is_nothing =
                    view.is_null() && target == Api::Anthropic || view.as_array().is_some_and(<[Node<'_>]>::is_empty);
                drop(view);
                if is_nothing || members.iter().any(|written| written.key.is(name)) {
                    continue;
                }
                member.key = Text::literal(name);
                if name == "stop_sequences" && member.value.as_text().is_some() {
                    member.value = Node::array(alloc::vec![member.value]);
                }
            } else if !stays(&member.key) {
                let is_silent = source != Api::Anthropic && SILENT.iter().any(|name| member.key.is(name));
                if !is_silent {
                    warnings.lose(&member.key.display(), &*view(&member.value)?);
                }
                continue;
            }
            members.push(member);
        }
        *object.members_mut() = members;
    }
    if target == Api::Anthropic {
        request.remove("parallel_tool_calls");
        if request.get("max_tokens").is_none() {
            warnings.warn("max-tokens-defaulted");
            request.set("max_tokens", Node::count(max_tokens));
        }
    }
    Ok(())
}
