//! Finds the text part of a stream that an event belongs to, in the APIs whose text consists of blocks, parts or steps.

use super::{
    answer_parts::is_text_part,
    buffered_calls::{Key, CONVERSE_DELTA},
    buffered_text::{at, TextKey},
};
use crate::{
    json::{Node, Text},
    request::tool::has_type,
};

pub(super) const DELTA_TEXT: &[&str] = &["delta", "text"];
pub(super) const COHERE_TEXT: &[&str] = &["delta", "message", "content", "text"];

/// Relation of an event to a text part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Begins(TextKey),
    /// The event contains a piece of the text, at this path.
    GoesOn(TextKey, &'static [&'static str]),
    Ends(TextKey),
    /// The event has no content.
    Ping,
    Other,
}

/// Returns the relation of an event to a text part.
pub(super) fn step_of(event: &Node<'_>) -> Step {
    if let Some((key, path)) = delta_of(event) {
        return Step::GoesOn(key, path);
    }
    let whole = || TextKey { block: Key::of(event), part: 0 };
    let is_text = |part: Option<&Node<'_>>| part.is_some_and(is_text_part);
    let Some(kind) = event.text_at("type").and_then(Text::value) else {
        let stopped = event.get("contentBlockStop").map(|block| Key::of_block(block.get("contentBlockIndex")));
        return stopped.map_or(Step::Other, |block| Step::Ends(TextKey { block, part: 0 }));
    };
    match &*kind {
        "ping" => Step::Ping,
        "content_block_start" if is_text(event.get("content_block")) => Step::Begins(whole()),
        "content-start" if is_text(event.get("delta").and_then(|delta| delta.get("message")?.get("content"))) => {
            Step::Begins(whole())
        }
        "response.content_part.added" if is_text(event.get("part")) => Step::Begins(text_key(event)),
        "content_block_stop" | "content-end" => Step::Ends(whole()),
        "response.output_text.done" | "response.content_part.done" => Step::Ends(text_key(event)),
        _ => Step::Other,
    }
}

/// Returns the text that an event contains a piece of, and the path to the piece, if the event contains nothing else.
pub(super) fn delta_of(event: &Node<'_>) -> Option<(TextKey, &'static [&'static str])> {
    let delta = event.get("delta");
    let is_step = event.get("event_type").is_some_and(|kind| kind.is_text("step.delta"));
    if has_type(event, "content_block_delta") && delta.is_some_and(|delta| has_type(delta, "text_delta"))
        || is_step && delta.is_some_and(|delta| has_type(delta, "text"))
    {
        return Some((TextKey { block: Key::of(event), part: 0 }, DELTA_TEXT));
    }
    if has_type(event, "response.output_text.delta") {
        return Some((text_key(event), &["delta"]));
    }
    // Cohere Chat v2.
    if has_type(event, "content-delta") {
        return at(event, COHERE_TEXT).map(|_| (TextKey { block: Key::of(event), part: 0 }, COHERE_TEXT));
    }
    let block = event.get(CONVERSE_DELTA)?;
    block.get("delta")?.get("text")?;
    let block = Key::of_block(block.get("contentBlockIndex"));
    Some((TextKey { block, part: 0 }, &[CONVERSE_DELTA, "delta", "text"]))
}

/// Returns the key of a text part of Responses.
pub(super) fn text_key(event: &Node<'_>) -> TextKey {
    TextKey { block: Key::of(event), part: event.u64_at("content_index").unwrap_or_default() }
}
