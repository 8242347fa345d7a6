//! Restores the events of a streamed reply. Names are restored at once. Arguments that are encoded or have to be
//! repaired are buffered, and restored at the end of their call.
//!
//! Events of all APIs are distinguished by their content, so the API need not be known. Events with complete calls (of
//! Gemini, and the closing events of Responses) are restored like whole replies.

use alloc::{string::String, vec::Vec};

use super::{
    buffered_calls::{BufferedCall, Calls, Key},
    pieces::Items,
    sse::{Buffer, Sink},
    text::{Run, Texts},
};
use crate::{
    error::Error,
    json::{Data, Node, Text},
    report::{AnswerChange, RepairedCall},
    tools::{
        answer::{call::Gone, call_stream::AnswerEvents},
        call_repair::CallReports,
        call_sites::{self, is_none},
        restore::RestoreMap,
    },
    wire::units::NamedUnit,
};

/// Types of the event that ends a stream.
const ENDS: [&str; 5] =
    ["response.completed", "response.incomplete", "response.failed", "response.done", "message_stop"];

/// The state of a stream that is being restored.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) restore_map: RestoreMap,
    /// The calls whose arguments are buffered.
    pub(crate) buffered: Calls,
    /// The buffered text parts of the answer.
    pub(crate) texts: Texts,
    /// Text parts that together form one answer.
    pub(crate) run: Option<Run>,
    /// Blocks whose text was moved into another block.
    pub(crate) gone: Gone,
    /// Items that are restored as items of another type.
    items: Items,
    /// Calls to the function that replaces the response format.
    answers: AnswerEvents,
    /// Calls of a Chat Completions chunk whose arguments have to be buffered from this chunk on.
    pub(crate) fresh: Vec<Key>,
    /// Text of incomplete events.
    text: Buffer,
    /// The reports of repaired calls.
    pub(crate) reports: CallReports,
    /// Events of calls that another call replaced. They are sent before the current event.
    pub(crate) before: Vec<Node<'static>>,
}

/// Result of processing an event of a stream.
pub(crate) enum Passed {
    /// The event is passed on.
    Event,
    /// The event is buffered.
    Nothing,
}

impl Stream {
    pub(crate) fn new(restore_map: RestoreMap) -> Stream {
        Stream {
            restore_map,
            buffered: Calls::default(),
            texts: Texts::default(),
            run: None,
            gone: Gone::default(),
            items: Items::default(),
            answers: AnswerEvents::default(),
            fresh: Vec::new(),
            text: Buffer::default(),
            // In a stream, unterminated text counts as truncated.
            reports: CallReports::cut(),
            before: Vec::new(),
        }
    }

    /// Returns the reports of the calls that ended since the last call to this function.
    pub(crate) fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.reports.take()
    }

    /// Returns the changes to the structured output since the last call to this function.
    pub(crate) fn take_answer_changes(&mut self) -> Vec<AnswerChange> {
        self.reports.take_answer_changes()
    }

    /// Returns true if no state is buffered.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.buffered.is_empty()
            && self.texts.is_empty()
            && self.run.is_none()
            && self.gone.is_empty()
            && self.items.is_empty()
            && self.answers.is_at_rest()
            && self.text.is_at_rest()
            && self.reports.is_at_rest()
            && self.before.is_empty()
            && self.fresh.is_empty()
    }

    /// Returns true if the model returned the structured output in a call.
    #[cfg(feature = "search")]
    pub(crate) fn is_answered(&self) -> bool {
        self.answers.has_answer()
    }

    /// Processes an event. Returns the events to pass on.
    ///
    /// # Errors
    /// `limit-exceeded`, and those of restoring. Everything that was buffered before stays buffered, except the calls
    /// that this event ends: arguments that cannot be restored are never passed on.
    pub(crate) fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        let restored = self.restored(event);
        if let Err(error) = self.reports.check() {
            self.before = Vec::new();
            return Err(error);
        }
        self.answered(restored?)
    }

    /// Converts the answer in restored events to text, if the model returns it in a function call.
    fn answered<'a>(&mut self, mut restored: Vec<Node<'a>>) -> Result<Vec<Node<'a>>, Error> {
        restored.iter_mut().for_each(|event| self.gone.renumber(event));
        let Some(answer) = self.restore_map.called_answer() else { return Ok(restored) };
        let mut out = Vec::with_capacity(restored.len());
        let fed = restored.into_iter().try_for_each(|event| self.answers.feed(event, answer, &mut out));
        self.reports.push_changes(self.answers.dropped().changes());
        fed.map(|()| out)
    }

    fn restored<'a>(&mut self, mut event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        let mut out = Vec::new();
        if let Passed::Nothing = self.answer(&mut event, &mut out)? {
            return Ok(out);
        }
        if self.items.feed(&mut event, &self.restore_map, &mut out)? {
            return Ok(out);
        }
        if let Some(passed) = self.converse(&mut event, &mut out)? {
            out.extend(matches!(passed, Passed::Event).then_some(event));
            return Ok(out);
        }
        if let Some(passed) = self.interactions(&mut event, &mut out)? {
            out.extend(matches!(passed, Passed::Event).then_some(event));
            return Ok(out);
        }
        let is = |name: &str| event.get("type").is_some_and(|kind| kind.is_text(name));
        let ends = ENDS.iter().any(|end| is(end));
        if ends {
            // Clients stop reading after this event, so unfinished calls are sent before it.
            out.extend(self.leave());
        }
        if is("content_block_start") || is("response.output_item.added") {
            self.begin(&mut event, &mut out)?;
        } else if is("content_block_delta") || is("response.function_call_arguments.delta") {
            if self.hold(&event)? {
                return Ok(out);
            }
        } else if is("content_block_stop") {
            out.extend(self.end_block(&event));
        } else if is("response.function_call_arguments.done") {
            out.extend(self.end_arguments(&mut event)?);
            self.rename(&mut event);
        } else if is("response.output_item.done") {
            out.extend(self.end_item(&mut event)?);
        } else if event.get("choices").is_some_and(|choices| choices.as_array().is_some()) {
            let nothing_left = self.chat(&mut event)?;
            out.extend(core::mem::take(&mut self.before));
            if nothing_left {
                return Ok(out);
            }
        } else {
            // In Responses, the event with the complete response repeats the calls.
            self.reports.skips_seen = event.get("response").is_some();
            let restored = self.restore_map.reply(&mut event, &mut self.reports);
            self.reports.skips_seen = false;
            if ends {
                self.reports.forget();
            }
            restored?;
        }
        out.push(event);
        Ok(out)
    }

    /// Ends the stream. Returns the buffered calls that never ended.
    ///
    /// # Errors
    /// Those of restoring. The buffered calls are discarded.
    pub(crate) fn finish(&mut self) -> Result<Vec<Node<'static>>, Error> {
        let texts = self.texts_left();
        let calls = self.leave();
        self.reports.forget();
        self.fresh = Vec::new();
        let items = self.items.finish();
        self.reports.check()?;
        let left = texts.into_iter().chain(calls).chain(items?).collect();
        let mut out = self.answered(left)?;
        if let Some(answer) = self.restore_map.called_answer() {
            out.extend(self.answers.finish(answer)?);
        }
        Ok(out)
    }

    /// Removes and returns the calls that never ended.
    pub(crate) fn leave(&mut self) -> Vec<Node<'static>> {
        let mut calls = core::mem::take(&mut self.before);
        for buffered in self.buffered.close_all() {
            if !buffered.is_reported && !buffered.pieces.is_empty() {
                self.reports.see(buffered.id.as_deref());
            }
            calls.extend(self.carried(buffered));
        }
        calls
    }

    /// Processes a piece of text. Returns the text to pass on.
    pub(crate) fn feed_text(&mut self, piece: &str) -> Result<String, Error> {
        let mut lines = core::mem::take(&mut self.text);
        let out = lines.feed(piece, self);
        self.text = lines;
        out
    }

    /// Returns the rest of the text at the end of a stream.
    pub(crate) fn finish_text(&mut self) -> Result<String, Error> {
        let mut lines = core::mem::take(&mut self.text);
        let out = lines.finish(self);
        self.text = lines;
        out
    }

    /// Handles the start of a block or an item.
    fn begin<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        for inner in ["content_block", "item"] {
            let is_call = |item: &Node<'_>| {
                item.get("type").is_some_and(|kind| kind.is_text("tool_use") || kind.is_text("function_call"))
            };
            let item = event.get(inner).filter(|item| is_call(item));
            let called = item.and_then(|item| self.restore_map.called(item, "name"));
            let Some(name) = called.filter(|name| self.restore_map.is_buffered(name)).map(Text::into_owned) else {
                // Another block starts under the key of a call that never ended.
                if event.get(inner).is_some() {
                    out.extend(self.buffered.close(&Key::of(event)).and_then(|buffered| self.carried(buffered)));
                }
                self.in_item(event, inner)?;
                continue;
            };
            let id = event.get(inner).and_then(call_sites::id_of).map(|id| id.display().into_owned());
            // The arguments are usually in later events.
            let is_bare =
                event.get(inner).is_some_and(|item| ["input", "arguments"].iter().all(|key| is_none(item, key)));
            if is_bare {
                event.visit(inner, |node| self.names_of(node)).unwrap_or(Ok(()))?;
            } else {
                self.in_item(event, inner)?;
            }
            if !is_bare && inner == "item" {
                self.reports.see(id.as_deref());
            }
            let before = self.buffered.open(Key::of(event), name, id, !is_bare)?;
            // Passes on what was buffered of a call that never ended.
            out.extend(before.and_then(|buffered| self.carried(buffered)));
        }
        Ok(())
    }

    /// Restores the call that is the member `inner` of an event.
    pub(crate) fn in_item(&mut self, event: &mut Node<'_>, inner: &str) -> Result<(), Error> {
        event.visit(inner, |item| self.restore_map.item(item, &mut self.reports)).unwrap_or(Ok(()))
    }

    pub(crate) fn rename(&self, event: &mut Node<'_>) {
        if let Some(name) = self.restore_map.called(event, "name").map(Text::into_owned) {
            self.restore_map.rename(&name, event, "name");
        }
    }

    /// Buffers a piece if the arguments of its call have to be restored. Returns true if the piece was buffered.
    fn hold(&mut self, event: &Node<'_>) -> Result<bool, Error> {
        let key = Key::of(event);
        if self.buffered.get(&key).is_none() {
            return Ok(false);
        }
        let piece = match event.get("delta").map(Node::data) {
            Some(Data::String(piece)) => piece,
            Some(Data::Object(delta)) => match delta.get("partial_json").and_then(Node::as_text) {
                Some(piece) => piece,
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        self.buffered.carry(&key, event)?;
        self.buffered.add(&key, piece)?;
        Ok(true)
    }

    /// Ends an Anthropic block. Returns the event that carries its arguments, if any were buffered.
    fn end_block(&mut self, event: &Node<'_>) -> Option<Node<'static>> {
        let buffered = self.buffered.close(&Key::of(event))?;
        self.end_of(buffered, || {
            let delta = [("type", Node::literal("input_json_delta")), ("partial_json", Node::literal(""))];
            Node::record([
                ("type", Node::literal("content_block_delta")),
                ("index", event.get("index").map(Node::detached).unwrap_or_default()),
                ("delta", Node::record(delta)),
            ])
        })
    }

    /// Returns the event that carries the arguments of a call whose block ends. If no piece was received, `carrier`
    /// creates it.
    pub(crate) fn end_of(
        &mut self,
        mut buffered: BufferedCall,
        carrier: impl FnOnce() -> Node<'static>,
    ) -> Option<Node<'static>> {
        if buffered.is_reported || !buffered.pieces.is_empty() || !self.restore_map.repairs(&buffered.name) {
            return self.carried(buffered);
        }
        // A block without pieces is a call without arguments.
        let restored = self.restore_map.text(&buffered.name, "{}", buffered.id.take(), &mut self.reports);
        match self.reports.restored(restored) {
            Some(whole) => buffered.beside(carrier).carried(whole),
            None => buffered.carried(String::new()),
        }
    }

    /// Restores the names of a call, but not its arguments.
    pub(crate) fn names_of(&mut self, node: &mut Node<'_>) -> Result<(), Error> {
        self.restore_map.site(NamedUnit::call(node, None, None), &mut self.reports)
    }

    pub(crate) fn carried(&mut self, mut buffered: BufferedCall) -> Option<Node<'static>> {
        let whole = self.whole(&mut buffered);
        buffered.carried(whole)
    }

    /// Returns the complete buffered arguments, restored.
    pub(crate) fn whole(&mut self, buffered: &mut BufferedCall) -> String {
        let pieces = core::mem::take(&mut buffered.pieces);
        if pieces.is_empty() {
            return pieces;
        }
        self.reports.is_silent = buffered.is_reported;
        let restored = self.restore_map.text(&buffered.name, &pieces, buffered.id.clone(), &mut self.reports);
        let restored = self.reports.restored(restored);
        self.reports.is_silent = false;
        restored.unwrap_or(pieces)
    }
}

impl Sink for Stream {
    fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        Stream::feed(self, event)
    }

    fn finish(&mut self) -> Result<Vec<Node<'static>>, Error> {
        Stream::finish(self)
    }
}
