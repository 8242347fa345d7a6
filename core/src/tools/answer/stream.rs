//! Restores structured output in a stream. Text that may be JSON is buffered, and sent as a whole when
//! its block ends. Other text is passed on at once.

use alloc::{string::String, vec::Vec};

use super::text::{is_text_part, Restores};
use crate::{
    error::Error,
    json::{Node, Object, Text},
    report::AnswerChange,
    tools::{
        call_sites::each,
        streams::{
            restorer::{Passed, Stream},
            text::{delta_of, step_of, text_key, BufferedText, Carrier, Piece, Run, Slot, Step, TextKey},
        },
    },
    wire::events::{at, decode, set, Content, Cursor, Key, Meaning, Path},
};

/// Members of a Chat Completions chunk that need not be passed on while its text is buffered.
const OF_CHUNK: [&str; 9] =
    ["id", "object", "created", "model", "provider", "system_fingerprint", "service_tier", "obfuscation", "choices"];
/// Members of an event with a piece of text that need not be passed on if the text is buffered.
const OF_DELTA: [&str; 13] = [
    "type",
    "event_type",
    "event_id",
    "id",
    "index",
    "output_index",
    "content_index",
    "item_id",
    "sequence_number",
    "obfuscation",
    "p",
    "delta",
    "contentBlockDelta",
];
impl Stream {
    /// Processes the parts of an event that belong to the answer, if the answer has to be restored.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn answer<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) -> Result<Passed, Error> {
        // A model that calls no function may still write the answer as text.
        if self.restore_map.answer.as_ref().is_none_or(|answer| !answer.restores_text()) {
            return Ok(Passed::Event);
        }
        if self.in_run(event, out)? {
            return Ok(Passed::Nothing);
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

    /// Returns the text parts that never ended.
    pub(crate) fn texts_left(&mut self) -> Vec<Node<'static>> {
        let mut left = Vec::new();
        self.end_run(&mut left);
        let buffered = self.texts.close_all(None);
        left.extend(buffered.into_iter().filter_map(|buffered| self.carried_text(buffered)));
        left
    }

    /// Processes an event while adjacent text parts may form one answer. Returns true if the event is buffered.
    fn in_run<'a>(&mut self, event: &Node<'_>, out: &mut Vec<Node<'a>>) -> Result<bool, Error> {
        let Some(answer) = self.restore_map.answer.clone() else { return Ok(false) };
        let step = step_of(event);
        if let Some(run) = &mut self.run {
            if step == Step::Ping {
                return Ok(false);
            }
            let path = if let Step::GoesOn(_, path) = &step { *path } else { &[] };
            let has_others = matches!(step, Step::GoesOn(..)) && !has_only(event, &OF_DELTA);
            if !has_others && run.take(event, || Carrier::new(only(event, &OF_DELTA), Slot::Path(path)))? {
                return Ok(true);
            }
            self.end_run(out);
        }
        let Step::Ends(key) = step else { return Ok(false) };
        let breaks_off =
            |text: &str| answer.restores().may_be(text) && answer.read(text).is_none_or(|content| content.is_cut);
        if !self.texts.pieces(&key).is_some_and(breaks_off) {
            return Ok(false);
        }
        self.run = self.texts.close(&key).map(|buffered| Run::new(buffered, key, event));
        Ok(self.run.is_some())
    }

    /// Passes on the text parts that together form one answer.
    fn end_run(&mut self, out: &mut Vec<Node<'_>>) {
        let (Some(run), Some(answer)) = (self.run.take(), self.restore_map.answer.clone()) else { return };
        let released = answer.reading(&mut self.reports, |read| run.release(read));
        released.gone.into_iter().for_each(|index| self.gone.insert(index));
        out.extend(released.events);
    }

    fn carried_text(&mut self, mut buffered: BufferedText) -> Option<Node<'static>> {
        let whole = self.whole_text(&mut buffered);
        Some(buffered.carrier?.with(whole))
    }

    fn whole_text(&mut self, buffered: &mut BufferedText) -> String {
        let pieces = core::mem::take(&mut buffered.pieces);
        let content = self.restore_map.content(&pieces);
        self.reports.push_changes(content.is_unfenced.then_some(AnswerChange::RemoveFence));
        self.reports.fail(content.failure);
        content.text.unwrap_or(pieces)
    }

    fn restores(&self) -> Restores {
        let none = Restores { json: false, fenced: false };
        self.restore_map.answer.as_ref().map_or(none, |answer| answer.restores())
    }

    /// Processes an event that has a piece of text and nothing else.
    fn delta(&mut self, event: &mut Node<'_>, key: &TextKey, path: Path) -> Result<Passed, Error> {
        let Some(piece) = at(event, path).and_then(Node::as_text).map(|text| text.clone().into_owned()) else {
            return Ok(Passed::Event);
        };
        let carrier = || Carrier::new(only(event, &OF_DELTA), Slot::Path(path));
        let restores = self.restores();
        match self.texts.piece(key, &piece, restores, carrier)? {
            Piece::Same => {}
            Piece::Text(text) => set(event, path, Node::string(text)),
            Piece::BufferedText if has_only(event, &OF_DELTA) => return Ok(Passed::Nothing),
            Piece::BufferedText => set(event, path, Node::literal("")),
        }
        Ok(Passed::Event)
    }

    /// Processes the first piece of a text part, which is in the start event of its block or step.
    fn begin_text(&mut self, event: &mut Node<'_>) -> Result<(), Error> {
        let Some(cursor) = decode(event).filter(|cursor| cursor.has_first_text()) else { return Ok(()) };
        let Some((carrier, path)) = cursor.piece_event(event, Content::Text) else { return Ok(()) };
        let (key, carrier) = (text_key(cursor, event), Carrier::new(carrier, Slot::Path(path)));
        let mut outcome = Ok(());
        cursor.visit_first_text(event, &mut |part| {
            if outcome.is_ok() && is_text_part(part) {
                outcome = self.take(part, "text", &key, || carrier.clone()).map(drop);
            }
        });
        outcome
    }

    /// Processes the piece of text in a member. Returns true if the piece is buffered and the member is empty.
    fn take(
        &mut self,
        holder: &mut Node<'_>,
        member: &'static str,
        key: &TextKey,
        carrier: impl FnOnce() -> Carrier,
    ) -> Result<bool, Error> {
        let piece = holder.text_at(member).filter(|piece| !piece.is_empty());
        let Some(piece) = piece.cloned().map(Text::into_owned) else { return Ok(false) };
        let restores = self.restores();
        match self.texts.piece(key, &piece, restores, carrier)? {
            Piece::Same => return Ok(false),
            Piece::Text(text) => holder.set(member, Node::string(text)),
            Piece::BufferedText => {
                holder.set(member, Node::literal(""));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// If an event ends text parts, passes them on before the event. Restores text that the event repeats.
    fn end_texts<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) {
        let cursor = decode(event);
        let says = cursor.map(Cursor::meaning);
        let ends_all = cursor.is_some_and(Cursor::is_finish);
        let is_error = says == Some(Meaning::Error) || event.get("error").is_some_and(|error| !error.is_null());
        let mut ended = Vec::new();
        match (cursor, says) {
            (Some(cursor), Some(Meaning::EndPart)) => ended.extend(self.texts.close(&text_key(cursor, event))),
            (Some(cursor), Some(Meaning::End)) => ended = self.texts.close_all(Some(&cursor.key(event))),
            // Clients stop reading at an error.
            _ if ends_all || is_error => ended = self.texts.close_all(None),
            _ => {}
        }
        out.extend(ended.into_iter().filter_map(|buffered| self.carried_text(buffered)));
        // Whole replies, and events that repeat earlier pieces.
        // Deltas may continue the texts of a reply that begins.
        let is_start = says == Some(Meaning::ReplyBegin) && cursor.is_some_and(Cursor::begins_with_pieces);
        if !is_start && !cursor.is_some_and(Cursor::has_first_text) {
            let may_be_cut = ends_all || matches!(says, Some(Meaning::EndPart | Meaning::End));
            self.restore_map.contents(event, may_be_cut, &mut self.reports);
        }
    }

    /// Processes the text in a chunk of Chat Completions.
    fn chat_texts(&mut self, event: &mut Node<'_>) -> Result<Passed, Error> {
        let has_text = event.items_at("choices").iter().any(|choice| {
            choice.get("delta").and_then(|delta| delta.get("content")).is_some_and(|content| !content.is_null())
        });
        let chunk = if has_text { only(event, &OF_CHUNK) } else { Node::empty_object() };
        let chunk = Carrier::new(chunk, Slot::Choice(0));
        let (mut outcome, mut is_withheld) = (Ok(()), false);
        let mut nothing_left = has_only(event, &[OF_CHUNK.as_slice(), &["choices"]].concat());
        each(event, "choices", &mut |choice| {
            if outcome.is_err() {
                return;
            }
            let number = choice.u64_at("index").unwrap_or_default();
            match self.choice_text(choice, number, &chunk) {
                Ok(withheld) => is_withheld |= withheld,
                Err(error) => outcome = Err(error),
            }
            let is_empty = |value: &Node<'_>| value.is_null() || value.is_text("");
            let delta = choice.object_at("delta");
            nothing_left &= delta
                .is_none_or(|delta| delta.iter().all(|member| member.key.is("content") && is_empty(&member.value)))
                && has_only(choice, &["index", "delta"]);
        });
        outcome?;
        Ok(if is_withheld && nothing_left { Passed::Nothing } else { Passed::Event })
    }

    /// Processes the text of a choice. Returns true if the text is buffered.
    fn choice_text(&mut self, choice: &mut Node<'_>, number: u64, chunk: &Carrier) -> Result<bool, Error> {
        let key = TextKey { block: Key::in_choice(number, 0), part: 0 };
        let ends = choice.get("finish_reason").is_some_and(|reason| !reason.is_null());
        choice.visit("message", |message| self.restore_map.contents(message, ends, &mut self.reports));
        let (mut outcome, mut is_withheld) = (Ok(()), false);
        let mut take = |holder: &mut Node<'_>, member: &'static str| {
            if outcome.is_ok() {
                match self.take(holder, member, &key, || chunk.at(Slot::Choice(number))) {
                    Ok(withheld) => is_withheld |= withheld,
                    Err(error) => outcome = Err(error),
                }
            }
        };
        choice.visit("delta", |delta| {
            take(delta, "content");
            // Mistral sends a list of parts.
            each(delta, "content", &mut |part| {
                if is_text_part(part) {
                    take(part, "text");
                }
            });
        });
        outcome?;
        let ended = if ends { self.texts.close(&key) } else { None };
        if let Some(mut buffered) = ended.filter(|buffered| !buffered.pieces.is_empty()) {
            let whole = self.whole_text(&mut buffered);
            if choice.get("delta").is_none_or(|delta| delta.as_object().is_none()) {
                choice.set("delta", Node::empty_object());
            }
            choice.visit("delta", |delta| {
                if delta.get("content").is_some_and(|content| content.as_array().is_some()) {
                    put_in_parts(delta, "content", whole, true);
                } else {
                    delta.set("content", Node::string(whole));
                }
            });
        }
        Ok(is_withheld)
    }

    /// Processes the text of Gemini's candidates.
    fn gemini_texts(&mut self, event: &mut Node<'_>) -> Result<(), Error> {
        let mut bare = event.detached();
        bare.remove("candidates");
        // The event itself is passed on with its usage.
        bare.remove("usageMetadata");
        let chunk = Carrier::new(bare, Slot::Candidate(0));
        let mut outcome = Ok(());
        each(event, "candidates", &mut |candidate| {
            let number = candidate.u64_at("index").unwrap_or_default();
            let key = TextKey { block: Key::in_choice(number, 0), part: 0 };
            candidate.visit("content", |content| {
                each(content, "parts", &mut |part| {
                    if outcome.is_ok() && is_text_part(part) {
                        outcome = self.take(part, "text", &key, || chunk.at(Slot::Candidate(number))).map(drop);
                    }
                });
            });
            if outcome.is_err() || candidate.get("finishReason").is_none_or(Node::is_null) {
                return;
            }
            if let Some(mut buffered) = self.texts.close(&key).filter(|buffered| !buffered.pieces.is_empty()) {
                put_in_candidate(candidate, self.whole_text(&mut buffered));
            }
        });
        outcome
    }

    /// Processes an event of Ollama with a piece of a message.
    fn ollama_text(&mut self, event: &mut Node<'_>) -> Result<Passed, Error> {
        const PATH: Path = &["message", "content"];
        let key = TextKey { block: Key::in_choice(0, 0), part: 0 };
        let ends = event.bool_at("done") == Some(true);
        let mut passed = Passed::Event;
        let carrier = Carrier::new(event.detached(), Slot::Path(PATH));
        let is_withheld = event.visit("message", |message| self.take(message, "content", &key, || carrier));
        if is_withheld.unwrap_or(Ok(false))? && !ends {
            let message = event.object_at("message");
            let is_alone = message
                .is_none_or(|message| message.iter().all(|member| member.key.is("role") || member.key.is("content")));
            if is_alone && has_only(event, &["model", "created_at", "message", "done"]) {
                passed = Passed::Nothing;
            }
        }
        let ended = if ends { self.texts.close(&key) } else { None };
        if let Some(mut buffered) = ended.filter(|buffered| !buffered.pieces.is_empty()) {
            set(event, PATH, Node::string(self.whole_text(&mut buffered)));
        }
        Ok(passed)
    }
}

/// Returns a copy of an event that has only these members.
fn only(event: &Node<'_>, members: &[&str]) -> Node<'static> {
    let all = event.as_object().map(Object::members).unwrap_or_default();
    let kept = all.iter().filter(|member| members.iter().any(|key| member.key.is(*key)));
    Node::object(kept.map(|member| (member.key.clone().into_owned(), member.value.detached())).collect())
}

/// Returns true if all members of an object are among these, or are null or empty arrays.
fn has_only(node: &Node<'_>, members: &[&str]) -> bool {
    let is_empty = |value: &Node<'_>| value.is_null() || value.as_array().is_some_and(<[_]>::is_empty);
    let all = node.as_object().map(Object::members).unwrap_or_default();
    all.iter().all(|member| is_empty(&member.value) || members.iter().any(|key| member.key.is(*key)))
}

/// Puts text into a candidate: into its first part that is text, or into a new first part.
fn put_in_candidate(candidate: &mut Node<'_>, whole: String) {
    if candidate.get("content").is_none_or(|content| content.as_object().is_none()) {
        candidate.set("content", Node::record([("role", Node::literal("model"))]));
    }
    candidate.visit("content", |content| put_in_parts(content, "parts", whole, false));
}

/// Puts text into a list of parts: into the first one that is text, or into a new first one.
fn put_in_parts(holder: &mut Node<'_>, list: &'static str, whole: String, has_types: bool) {
    let mut whole = Some(whole);
    each(holder, list, &mut |part| {
        if part.get("text").is_some() && is_text_part(part) {
            if let Some(whole) = whole.take() {
                part.set("text", Node::string(whole));
            }
        }
    });
    let Some(whole) = whole else { return };
    if holder.array_at(list).is_none() {
        holder.set(list, Node::array(Vec::new()));
    }
    let mut part = Node::empty_object();
    if has_types {
        part.set("type", Node::literal("text"));
    }
    part.set("text", Node::string(whole));
    holder.visit(list, |parts| parts.as_array_mut().map(|parts| parts.insert(0, part)));
}
