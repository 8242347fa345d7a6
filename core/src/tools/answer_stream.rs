//! The answer to a response format, restored in a stream: text that may be JSON is held back and comes whole where its
//! block ends; other text passes at once.

use alloc::{string::String, vec::Vec};

use super::{
    answer::is_text_part,
    call_sites::each,
    held::{Key, CONVERSE_DELTA},
    held_text::{at, set, Held, Slot, TextKey},
    stream_restorer::{Passed, Stream},
};
use crate::{
    error::Error,
    json::{Node, Text},
    request::tool::has_type,
};

const DELTA_TEXT: &[&str] = &["delta", "text"];
/// Events that end all texts of a reply.
const ENDS: [&str; 6] =
    ["message_stop", "message-end", "response.completed", "response.incomplete", "response.failed", "response.done"];

impl Stream {
    /// Handles what an event has of the answer, if the answer has to be restored.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn answer<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) -> Result<Passed, Error> {
        if self.restore_map.answer.is_none() {
            return Ok(Passed::Event);
        }
        if let Some((key, path)) = delta_of(event) {
            return self.delta(event, &key, path);
        }
        if event.get("choices").is_some_and(|choices| choices.as_array().is_some()) {
            return self.chat_texts(event);
        }
        let has_candidates =
            |node: &Node<'_>| node.get("candidates").is_some_and(|candidates| candidates.as_array().is_some());
        if has_candidates(event) {
            self.gemini_texts(event)?;
            return Ok(Passed::Event);
        }
        if event.get("response").is_some_and(has_candidates) {
            event.visit("response", |inner| self.gemini_texts(inner)).unwrap_or(Ok(()))?;
            return Ok(Passed::Event);
        }
        // Ollama's own API.
        if event.get("done").is_some_and(|done| done.as_bool().is_some()) && event.get("message").is_some() {
            return self.ollama_text(event);
        }
        self.begin_text(event)?;
        self.end_texts(event, out);
        Ok(Passed::Event)
    }

    /// Returns the texts that never ended.
    pub(super) fn texts_left(&mut self) -> Vec<Node<'static>> {
        let held = self.texts.close_all(None);
        held.into_iter().filter_map(|held| self.carried_text(held)).collect()
    }

    fn carried_text(&self, mut held: Held) -> Option<Node<'static>> {
        let whole = self.whole_text(&mut held);
        let (mut event, slot) = held.carrier?;
        slot.set(&mut event, whole);
        Some(event)
    }

    fn whole_text(&self, held: &mut Held) -> String {
        let pieces = core::mem::take(&mut held.pieces);
        self.restore_map.content(&pieces).text.unwrap_or(pieces)
    }

    /// Handles an event that has a piece of a text, and nothing else.
    fn delta(&mut self, event: &mut Node<'_>, key: &TextKey, path: &'static [&'static str]) -> Result<Passed, Error> {
        let Some(piece) = at(event, path).and_then(Node::as_text).map(|text| text.clone().into_owned()) else {
            return Ok(Passed::Event);
        };
        match self.texts.piece(key, &piece, || (event.detached(), Slot::Path(path)))? {
            None => Ok(Passed::Nothing),
            Some(text) => {
                if !piece.is(text.as_str()) {
                    set(event, path, Node::string(text));
                }
                Ok(Passed::Event)
            }
        }
    }

    /// Handles the first text of a block or a step, which comes with its start.
    fn begin_text(&mut self, event: &mut Node<'_>) -> Result<(), Error> {
        let is_step = event.get("event_type").is_some_and(|kind| kind.is_text("step.start"));
        if !is_step && !has_type(event, "content_block_start") {
            return Ok(());
        }
        let key = TextKey { block: Key::of(event), part: 0 };
        let index = || event.get("index").map(Node::detached).unwrap_or_default();
        let text = |kind| Node::record([("type", Node::literal(kind)), ("text", Node::literal(""))]);
        let carrier = match is_step {
            true => {
                Node::record([("event_type", Node::literal("step.delta")), ("index", index()), ("delta", text("text"))])
            }
            false => Node::record([
                ("type", Node::literal("content_block_delta")),
                ("index", index()),
                ("delta", text("text_delta")),
            ]),
        };
        let (texts, mut outcome) = (&mut self.texts, Ok(()));
        let mut take = |part: &mut Node<'_>| {
            let Some(piece) = part.get("text").and_then(Node::as_text).filter(|text| !text.is_empty()) else { return };
            let piece = piece.clone().into_owned();
            match texts.piece(&key, &piece, || (carrier.clone(), Slot::Path(DELTA_TEXT))) {
                Ok(text) => {
                    let text = text.unwrap_or_default();
                    if !piece.is(text.as_str()) {
                        part.set("text", Node::string(text));
                    }
                }
                Err(error) => outcome = Err(error),
            }
        };
        event.visit("content_block", |block| has_type(block, "text").then(|| take(block)));
        event.visit("step", |step| {
            if has_type(step, "model_output") {
                each(step, "content", &mut |part| {
                    if is_text_part(part) {
                        take(part);
                    }
                });
            }
        });
        outcome
    }

    /// Sends the texts that an event ends before it, and restores those that it repeats.
    fn end_texts<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) {
        let kind = ["type", "event_type"].into_iter().find_map(|key| event.get(key)?.as_text()).cloned();
        let is = |name: &str| kind.as_ref().is_some_and(|kind| kind.is(name));
        let mut ended = Vec::new();
        if is("response.output_text.done") || is("response.content_part.done") {
            ended.extend(self.texts.close(&text_key(event)));
        } else if ["content_block_stop", "response.output_item.done", "step.stop", "content-end"].into_iter().any(is) {
            ended = self.texts.close_all(Some(&Key::of(event)));
        } else if let Some(block) = event.get("contentBlockStop") {
            ended = self.texts.close_all(Some(&Key::of_block(block.get("contentBlockIndex"))));
        } else if ENDS.into_iter().any(is) || is("interaction.completed") || event.get("messageStop").is_some() {
            ended = self.texts.close_all(None);
        }
        out.extend(ended.into_iter().filter_map(|held| self.carried_text(held)));
        // Whole replies, and the events that repeat what came in pieces.
        let is_start = ["message_start", "content_block_start", "step.start"].into_iter().any(is);
        if !is_start {
            self.restore_map.contents(event);
        }
    }

    /// Handles the texts in a chunk of Chat Completions.
    fn chat_texts(&mut self, event: &mut Node<'_>) -> Result<Passed, Error> {
        let mut chunk = None;
        let has_text = event.get("choices").and_then(Node::as_array).unwrap_or_default().iter().any(|choice| {
            choice.get("delta").and_then(|delta| delta.get("content")).is_some_and(|content| !content.is_null())
        });
        if has_text {
            let mut bare = event.detached();
            bare.remove("choices");
            chunk = Some(bare);
        }
        let (mut outcome, mut is_withheld) = (Ok(()), false);
        let mut nothing_left = event.get("usage").is_none_or(Node::is_null);
        each(event, "choices", &mut |choice| {
            let number = choice.get("index").and_then(Node::as_u64).unwrap_or_default();
            match self.choice_text(choice, number, chunk.as_ref()) {
                Ok(withheld) => is_withheld |= withheld,
                Err(error) => outcome = Err(error),
            }
            let is_empty = |value: &Node<'_>| value.is_null() || value.is_text("");
            let delta = choice.get("delta").and_then(Node::as_object);
            nothing_left &= delta
                .is_none_or(|delta| delta.iter().all(|member| member.key.is("content") && is_empty(&member.value)))
                && ["finish_reason", "message", "logprobs"]
                    .iter()
                    .all(|key| choice.get(*key).is_none_or(Node::is_null));
        });
        outcome?;
        Ok(if is_withheld && nothing_left { Passed::Nothing } else { Passed::Event })
    }

    /// Handles the text of a choice. Returns true if it was held back.
    fn choice_text(
        &mut self,
        choice: &mut Node<'_>,
        number: u64,
        chunk: Option<&Node<'static>>,
    ) -> Result<bool, Error> {
        let key = TextKey { block: Key::in_choice(number, 0), part: 0 };
        choice.visit("message", |message| self.restore_map.contents(message));
        let carrier = || (chunk.cloned().unwrap_or_default(), Slot::Choice(number));
        let (mut outcome, mut is_withheld) = (Ok(()), false);
        let texts = &mut self.texts;
        let mut take = |holder: &mut Node<'_>, member: &'static str| {
            let Some(piece) = holder.get(member).and_then(Node::as_text).filter(|piece| !piece.is_empty()) else {
                return;
            };
            let piece = piece.clone().into_owned();
            match texts.piece(&key, &piece, carrier) {
                Ok(text) => {
                    is_withheld |= text.is_none();
                    let text = text.unwrap_or_default();
                    if !piece.is(text.as_str()) {
                        holder.set(member, Node::string(text));
                    }
                }
                Err(error) => outcome = Err(error),
            }
        };
        choice.visit("delta", |delta| {
            take(delta, "content");
            // Mistral has parts.
            each(delta, "content", &mut |part| {
                if is_text_part(part) {
                    take(part, "text");
                }
            });
        });
        outcome?;
        if choice.get("finish_reason").is_some_and(|reason| !reason.is_null()) {
            if let Some(mut held) = self.texts.close(&key).filter(|held| !held.pieces.is_empty()) {
                let whole = self.whole_text(&mut held);
                if choice.get("delta").is_none_or(|delta| delta.as_object().is_none()) {
                    choice.set("delta", Node::empty_object());
                }
                choice.visit("delta", |delta| delta.set("content", Node::string(whole)));
            }
        }
        Ok(is_withheld)
    }

    /// Handles the texts of Gemini's candidates.
    fn gemini_texts(&mut self, event: &mut Node<'_>) -> Result<(), Error> {
        let mut bare = event.detached();
        bare.remove("candidates");
        let mut outcome = Ok(());
        each(event, "candidates", &mut |candidate| {
            let number = candidate.get("index").and_then(Node::as_u64).unwrap_or_default();
            let key = TextKey { block: Key::in_choice(number, 0), part: 0 };
            let texts = &mut self.texts;
            candidate.visit("content", |content| {
                each(content, "parts", &mut |part| {
                    let piece = part.get("text").and_then(Node::as_text).filter(|piece| !piece.is_empty());
                    let Some(piece) = piece.cloned().map(Text::into_owned) else { return };
                    if !is_text_part(part) {
                        return;
                    }
                    match texts.piece(&key, &piece, || (bare.clone(), Slot::Candidate(number))) {
                        Ok(text) => {
                            let text = text.unwrap_or_default();
                            if !piece.is(text.as_str()) {
                                part.set("text", Node::string(text));
                            }
                        }
                        Err(error) => outcome = Err(error),
                    }
                });
            });
            if candidate.get("finishReason").is_none_or(Node::is_null) {
                return;
            }
            if let Some(mut held) = self.texts.close(&key).filter(|held| !held.pieces.is_empty()) {
                put_in_candidate(candidate, self.whole_text(&mut held));
            }
        });
        outcome
    }

    /// Handles a part of a message of Ollama, or its last one.
    fn ollama_text(&mut self, event: &mut Node<'_>) -> Result<Passed, Error> {
        const PATH: &[&str] = &["message", "content"];
        let key = TextKey { block: Key::in_choice(0, 0), part: 0 };
        let ends = event.get("done").and_then(Node::as_bool) == Some(true);
        let piece = at(event, PATH).and_then(Node::as_text).filter(|piece| !piece.is_empty());
        let mut passed = Passed::Event;
        if let Some(piece) = piece.cloned().map(Text::into_owned) {
            let text = self.texts.piece(&key, &piece, || (event.detached(), Slot::Path(PATH)))?;
            let message = event.get("message").and_then(Node::as_object);
            let is_alone = message
                .is_none_or(|message| message.iter().all(|member| member.key.is("role") || member.key.is("content")));
            if text.is_none() && is_alone && !ends {
                passed = Passed::Nothing;
            }
            let text = text.unwrap_or_default();
            if !piece.is(text.as_str()) {
                set(event, PATH, Node::string(text));
            }
        }
        let ended = if ends { self.texts.close(&key) } else { None };
        if let Some(mut held) = ended.filter(|held| !held.pieces.is_empty()) {
            set(event, PATH, Node::string(self.whole_text(&mut held)));
        }
        Ok(passed)
    }
}

/// Returns the text that an event has a piece of, and where, if it has nothing else.
fn delta_of(event: &Node<'_>) -> Option<(TextKey, &'static [&'static str])> {
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
        let path: &[&str] = &["delta", "message", "content", "text"];
        return at(event, path).map(|_| (TextKey { block: Key::of(event), part: 0 }, path));
    }
    let block = event.get(CONVERSE_DELTA)?;
    block.get("delta")?.get("text")?;
    let block = Key::of_block(block.get("contentBlockIndex"));
    Some((TextKey { block, part: 0 }, &[CONVERSE_DELTA, "delta", "text"]))
}

/// Returns the key of a text of Responses.
fn text_key(event: &Node<'_>) -> TextKey {
    TextKey { block: Key::of(event), part: event.get("content_index").and_then(Node::as_u64).unwrap_or_default() }
}

/// Puts a text into a candidate: into its first part that is text, or into a new first part.
fn put_in_candidate(candidate: &mut Node<'_>, whole: String) {
    let mut whole = Some(whole);
    candidate.visit("content", |content| {
        each(content, "parts", &mut |part| {
            if part.get("text").is_some() && is_text_part(part) {
                if let Some(whole) = whole.take() {
                    part.set("text", Node::string(whole));
                }
            }
        });
    });
    let Some(whole) = whole else { return };
    if candidate.get("content").is_none_or(|content| content.as_object().is_none()) {
        candidate.set("content", Node::record([("role", Node::literal("model"))]));
    }
    candidate.visit("content", |content| {
        if content.get("parts").and_then(Node::as_array).is_none() {
            content.set("parts", Node::array(Vec::new()));
        }
        let part = Node::record([("text", Node::string(whole))]);
        content.visit("parts", |parts| parts.as_array_mut().map(|parts| parts.insert(0, part)))
    });
}
