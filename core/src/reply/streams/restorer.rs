//! Restores the events of a streamed reply. Names are restored at once. Arguments that are encoded or have to be
//! repaired are buffered, and restored at the end of their call.
//!
//! Events of all APIs are distinguished by their content, so the API need not be known. Events with complete calls (of
//! Gemini, and the closing events of Responses) are restored like whole replies.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{
    buffered_calls::{BufferedCall, Calls, Chunks},
    chunk_calls::ChunkCalls,
    pieces::Items,
    sse::{Buffer, Sink},
    text::{Run, Texts},
};
use crate::{
    error::Error,
    json::{Node, Text},
    reply::{
        answer::{call::HiddenIndices, call_stream::AnswerEvents},
        call_repair::CallReports,
        call_sites::{self, has_no_arguments},
        restore::RestoreMap,
    },
    report::{AnswerChange, RepairedCall},
    wire::{
        events::{at, decode, visit, Content, Key, KnownEvent, Meaning, Path},
        units::NamedUnit,
    },
};

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) restore_map: RestoreMap,
    chunk_calls: ChunkCalls,
    /// Calls whose index the server has used for another call.
    pub(crate) replaced: Vec<Key>,
    pub(crate) buffered: Calls,
    pub(crate) texts: Texts,
    /// Text parts that together form one answer.
    pub(crate) run: Option<Run>,
    /// Blocks whose text was moved into another block.
    pub(crate) gone: HiddenIndices,
    items: Items,
    /// Calls to the function that replaces the response format.
    answers: AnswerEvents,
    /// Calls of a Chat Completions chunk whose arguments have to be buffered from this chunk on.
    pub(crate) fresh: Vec<Key>,
    /// Text of incomplete events.
    text: Buffer,
    pub(crate) reports: CallReports,
    /// Events of the calls in `replaced`. They are sent before the current event.
    pub(crate) before: Vec<Node<'static>>,
}

pub(crate) enum Passed {
    Event,
    Nothing,
}

impl Stream {
    pub(crate) fn new(restore_map: RestoreMap) -> Stream {
        Stream {
            restore_map,
            chunk_calls: ChunkCalls::default(),
            replaced: Vec::new(),
            buffered: Calls::default(),
            texts: Texts::default(),
            run: None,
            gone: HiddenIndices::default(),
            items: Items::default(),
            answers: AnswerEvents::default(),
            fresh: Vec::new(),
            text: Buffer::default(),
            // In a stream, unterminated text is treated as truncated.
            reports: CallReports::of_incomplete_reply(),
            before: Vec::new(),
        }
    }

    pub(crate) fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.reports.take()
    }

    pub(crate) fn take_answer_changes(&mut self) -> Vec<AnswerChange> {
        self.reports.take_answer_changes()
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.buffered.is_empty()
            && self.chunk_calls.is_at_rest()
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

    #[cfg(feature = "exchange")]
    pub(crate) fn is_answered(&self) -> bool {
        self.answers.has_answer()
    }

    /// # Errors
    /// `limit-exceeded`, and the errors of restoring. Earlier events stay buffered, except the calls that this event
    /// ends: arguments that cannot be restored are never passed on.
    pub(crate) fn feed<'a>(&mut self, mut event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        if let Some(chunks) = Chunks::of(&event) {
            self.rewrite_calls(&mut event, chunks);
        }
        let restored = self.restore_event(event);
        if let Err(error) = self.reports.take_failure() {
            self.before = Vec::new();
            return Err(error);
        }
        self.convert_answers(restored?)
    }

    fn rewrite_calls(&mut self, event: &mut Node<'_>, chunks: Chunks) {
        let (restore_map, chunk_calls, replaced) = (&self.restore_map, &mut self.chunk_calls, &mut self.replaced);
        chunk_calls.read(event, chunks);
        chunks.of.visit(event, &mut |item, number| {
            let is_tool = |name: &str| restore_map.list.contains_key(name);
            let is_repaired = |name: &str| restore_map.repairs(&Text::new(name));
            let rewritten = chunk_calls.rewrite(item, number, chunks, (&is_tool, &is_repaired));
            replaced.extend(rewritten.into_iter().map(|index| Key::in_choice(number, index)));
        });
        chunk_calls.keep_template(event, chunks);
        self.reports.push_changes(chunk_calls.take_changes());
    }

    fn convert_answers<'a>(&mut self, mut restored: Vec<Node<'a>>) -> Result<Vec<Node<'a>>, Error> {
        restored.iter_mut().for_each(|event| self.gone.renumber(event));
        let Some(answer) = self.restore_map.called_answer() else { return Ok(restored) };
        let mut out = Vec::with_capacity(restored.len());
        let fed = restored.into_iter().try_for_each(|event| self.answers.feed(event, answer, &mut out));
        self.reports.push_changes(self.answers.dropped().changes());
        fed.map(|()| out)
    }

    fn restore_event<'a>(&mut self, mut event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        let mut out = Vec::new();
        if let Passed::Nothing = self.answer(&mut event, &mut out)? {
            return Ok(out);
        }
        if self.items.feed(&mut event, &self.restore_map, &mut out)? {
            return Ok(out);
        }
        let known_event = decode(&event);
        let says = known_event.map(KnownEvent::meaning);
        let ends = known_event.is_some_and(KnownEvent::is_finish);
        if ends {
            // Clients stop reading after this event, so unfinished calls are sent before it.
            out.extend(self.take_unended());
        }
        match (known_event, says) {
            (Some(known_event), Some(Meaning::Begin)) if !known_event.unit_path().is_empty() => {
                self.begin(known_event, &mut event, &mut out)?;
            }
            (Some(known_event), Some(Meaning::Delta)) if known_event.may_have(Content::Arguments) => {
                if self.hold(known_event, &event)? {
                    return Ok(out);
                }
                // A piece can also be a whole unit.
                if !known_event.unit_path().is_empty() {
                    let restored = visit(&mut event, known_event.unit_path(), |unit| {
                        self.restore_map.message(unit, &mut self.reports)
                    });
                    restored.unwrap_or(Ok(()))?;
                }
            }
            (Some(known_event), Some(Meaning::End)) if !known_event.unit_path().is_empty() => {
                out.extend(self.end_item(known_event, &mut event)?);
            }
            (Some(known_event), Some(Meaning::End)) => out.extend(self.end_block(known_event, &event)),
            (Some(known_event), Some(Meaning::Snapshot)) => {
                out.extend(self.end_arguments(known_event, &mut event)?);
                self.rename(&mut event);
            }
            _ => {
                if let Some(chunks) = Chunks::of(&event) {
                    let nothing_left = self.chunk(&mut event, chunks)?;
                    out.extend(core::mem::take(&mut self.before));
                    if !nothing_left {
                        out.push(event);
                    }
                    return Ok(out);
                }
                // An event with a complete reply repeats the calls.
                self.reports.skips_seen = ["response", "interaction"].iter().any(|key| event.get(*key).is_some());
                let restored = self.restore_map.reply(&mut event, &mut self.reports);
                self.reports.skips_seen = false;
                if ends {
                    self.reports.reset_stream();
                }
                restored?;
            }
        }
        out.push(event);
        Ok(out)
    }

    /// Ends the stream. Returns the buffered calls that never ended.
    ///
    /// # Errors
    /// The errors of restoring. The buffered calls are discarded.
    pub(crate) fn finish(&mut self) -> Result<Vec<Node<'static>>, Error> {
        let mut held = Vec::new();
        for event in self.chunk_calls.finish() {
            held.extend(self.restore_event(event)?);
        }
        let texts = self.take_unended_texts();
        let calls = self.take_unended();
        self.reports.reset_stream();
        self.fresh = Vec::new();
        let items = self.items.finish();
        self.reports.take_failure()?;
        let events = held.into_iter().chain(texts).chain(calls).chain(items?).collect();
        let mut out = self.convert_answers(events)?;
        if let Some(answer) = self.restore_map.called_answer() {
            out.extend(self.answers.finish(answer)?);
        }
        Ok(out)
    }

    pub(crate) fn take_unended(&mut self) -> Vec<Node<'static>> {
        let mut calls = core::mem::take(&mut self.before);
        for buffered in self.buffered.close_all() {
            if !buffered.is_reported && !buffered.pieces.is_empty() {
                self.reports.record_reported(buffered.id.as_deref());
            }
            calls.extend(self.call_event(buffered));
        }
        calls
    }

    pub(crate) fn feed_text<'p>(&mut self, piece: &'p str) -> Result<Cow<'p, str>, Error> {
        let mut lines = core::mem::take(&mut self.text);
        let out = lines.feed(piece, self);
        self.text = lines;
        out
    }

    pub(crate) fn finish_text(&mut self) -> Result<String, Error> {
        let mut lines = core::mem::take(&mut self.text);
        let out = lines.finish(self);
        self.text = lines;
        out
    }

    fn begin<'a>(
        &mut self,
        known_event: KnownEvent,
        event: &mut Node<'a>,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        let (key, path) = (known_event.key(event), known_event.unit_path());
        let call = known_event.call(event);
        let called = call.and_then(|call| self.restore_map.called(call, known_event.call_name()));
        let called = called.filter(|name| self.restore_map.is_buffered(name)).map(Text::into_owned);
        let id = call.and_then(call_sites::id_of).map(|id| id.display().into_owned());
        // The arguments are usually in later events.
        let is_bare =
            call.is_some_and(|call| known_event.call_arguments().is_none_or(|key| has_no_arguments(call, key)));
        if is_bare {
            visit(event, path, |call| self.names_of(call, known_event.call_name())).unwrap_or(Ok(()))?;
        } else {
            self.in_item(event, path)?;
        }
        if called.is_some() && !is_bare && known_event.repeats_call() {
            self.reports.record_reported(id.as_deref());
        }
        // Passes on the buffered pieces of a call that never ended.
        let before = match called {
            Some(name) => self.buffered.open(key, name, id, !is_bare)?,
            None => self.buffered.close(&key),
        };
        out.extend(before.and_then(|buffered| self.call_event(buffered)));
        Ok(())
    }

    pub(crate) fn in_item(&mut self, event: &mut Node<'_>, path: Path) -> Result<(), Error> {
        visit(event, path, |item| self.restore_map.item(item, &mut self.reports)).unwrap_or(Ok(()))
    }

    pub(crate) fn rename(&self, event: &mut Node<'_>) {
        if let Some(name) = self.restore_map.called(event, "name").map(Text::into_owned) {
            self.restore_map.rename(&name, event, "name");
        }
    }

    /// Returns true if the piece was buffered.
    fn hold(&mut self, known_event: KnownEvent, event: &Node<'_>) -> Result<bool, Error> {
        let key = known_event.key(event);
        if self.buffered.get(&key).is_none() {
            return Ok(false);
        }
        let piece = known_event.piece(event, Content::Arguments).and_then(|path| at(event, path)?.as_text());
        let Some(piece) = piece else { return Ok(false) };
        self.buffered.keep_template(&key, event)?;
        self.buffered.add(&key, piece)?;
        Ok(true)
    }

    fn end_block(&mut self, known_event: KnownEvent, event: &Node<'_>) -> Option<Node<'static>> {
        let buffered = self.buffered.close(&known_event.key(event))?;
        let empty = || known_event.piece_event(event, Content::Arguments).map(|(event, _)| event);
        self.end_of(buffered, empty)
    }

    /// Returns the event with the restored arguments of a call. If no piece was received, `template` creates the event.
    pub(crate) fn end_of(
        &mut self,
        mut buffered: BufferedCall,
        template: impl FnOnce() -> Option<Node<'static>>,
    ) -> Option<Node<'static>> {
        if buffered.is_reported || !buffered.pieces.is_empty() || !self.restore_map.repairs(&buffered.name) {
            return self.call_event(buffered);
        }
        // A block without pieces is a call without arguments.
        let restored = self.restore_map.text(&buffered.name, "{}", buffered.id.take(), &mut self.reports);
        match self.reports.record_failure(restored) {
            Some(whole) => buffered.with_template(template).into_event(whole),
            None => buffered.into_event(String::new()),
        }
    }

    pub(crate) fn names_of(&mut self, node: &mut Node<'_>, name: &'static str) -> Result<(), Error> {
        let call = NamedUnit { name, ..NamedUnit::call(node, None, None) };
        self.restore_map.site(call, &mut self.reports)
    }

    pub(crate) fn call_event(&mut self, mut buffered: BufferedCall) -> Option<Node<'static>> {
        let whole = self.whole(&mut buffered);
        buffered.into_event(whole)
    }

    pub(crate) fn whole(&mut self, buffered: &mut BufferedCall) -> String {
        let pieces = core::mem::take(&mut buffered.pieces);
        if pieces.is_empty() {
            return pieces;
        }
        self.reports.is_silent = buffered.is_reported;
        let restored = self.restore_map.text(&buffered.name, &pieces, buffered.id.clone(), &mut self.reports);
        let restored = self.reports.record_failure(restored);
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
