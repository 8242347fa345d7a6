//! A reply in pieces: names restored at once; arguments that are encoded, or are to be repaired, held back and restored
//! where their call ends.
//!
//! The events of all APIs are told apart by what is in them; which API it is need not be known. Events that hold whole
//! calls (Gemini's, and the closing ones of Responses) are restored like whole replies.

use alloc::{string::String, vec::Vec};

use super::{
    call_repair::Told,
    call_sites::{self, Site},
    held::{Calls, Held, Key},
    item_stream::Items,
    restore::RestoreMap,
    sse::{Buffer, Sink},
};
use crate::{
    error::Error,
    json::{Data, Node, Text},
    report::RepairedCall,
};

/// After these nothing comes any more.
const ENDS: [&str; 5] =
    ["response.completed", "response.incomplete", "response.failed", "response.done", "message_stop"];

/// A stream being restored.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(super) restore_map: RestoreMap,
    /// The calls whose arguments are held back.
    pub(super) held: Calls,
    /// The items that become others.
    items: Items,
    /// Calls in chunks of Chat Completions of which the first piece was held back just now.
    pub(super) fresh: Vec<Key>,
    /// The text that is no whole event yet.
    text: Buffer,
    /// What became of the arguments of calls.
    pub(super) told: Told,
    /// The events of calls that another one has taken the place of.
    pub(super) before: Vec<Node<'static>>,
}

/// What becomes of an event in pieces.
pub(super) enum Passed {
    /// It is passed on.
    Event,
    /// It is held back.
    Nothing,
}

impl Stream {
    pub(crate) fn new(restore_map: RestoreMap) -> Stream {
        Stream {
            restore_map,
            held: Calls::default(),
            items: Items::default(),
            fresh: Vec::new(),
            text: Buffer::default(),
            // What breaks off in a stream is not whole.
            told: Told::cut(),
            before: Vec::new(),
        }
    }

    /// What became of the calls that ended since this was asked last.
    pub(crate) fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.told.take()
    }

    /// Returns true if no state is buffered.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.held.is_empty()
            && self.items.is_empty()
            && self.text.is_at_rest()
            && self.told.is_at_rest()
            && self.before.is_empty()
            && self.fresh.is_empty()
    }

    /// What is to be passed on for an event.
    ///
    /// # Errors
    /// `limit-exceeded`, and those of restoring. What was held back before is held back still.
    pub(crate) fn feed<'a>(&mut self, mut event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        let mut out = Vec::new();
        if self.items.feed(&mut event, &self.restore_map, &mut out)? {
            return Ok(out);
        }
        if let Some(passed) = self.converse(&mut event, &mut out)? {
            out.extend(matches!(passed, Passed::Event).then_some(event));
            return Ok(out);
        }
        let is = |name: &str| event.get("type").is_some_and(|kind| kind.is_text(name));
        let ends = ENDS.iter().any(|end| is(end));
        if ends {
            // Nobody reads on after it: calls that never ended go before.
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
            // The whole response of Responses has the calls once more.
            self.told.skips_seen = event.get("response").is_some();
            let restored = self.restore_map.reply(&mut event, &mut self.told);
            self.told.skips_seen = false;
            if ends {
                self.told.forget();
            }
            restored?;
        }
        out.push(event);
        Ok(out)
    }

    /// What is still held back: calls that never ended.
    pub(crate) fn finish(&mut self) -> Vec<Node<'static>> {
        let calls = self.leave();
        self.told.forget();
        self.fresh = Vec::new();
        calls.into_iter().chain(self.items.finish()).collect()
    }

    /// The calls that never ended.
    pub(super) fn leave(&mut self) -> Vec<Node<'static>> {
        let mut calls = core::mem::take(&mut self.before);
        for held in self.held.close_all() {
            if !held.is_told && !held.pieces.is_empty() {
                self.told.see(held.id.as_deref());
            }
            calls.extend(self.carried(held));
        }
        calls
    }

    /// The text to be passed on for a piece of text.
    pub(crate) fn feed_text(&mut self, piece: &str) -> Result<String, Error> {
        let mut lines = core::mem::take(&mut self.text);
        let out = lines.feed(piece, self);
        self.text = lines;
        out
    }

    /// The text that is left at the end of a stream.
    pub(crate) fn finish_text(&mut self) -> Result<String, Error> {
        let mut lines = core::mem::take(&mut self.text);
        let out = lines.finish(self);
        self.text = lines;
        out
    }

    /// A block or an item begins.
    fn begin<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        for inner in ["content_block", "item"] {
            let is_call = |item: &Node<'_>| {
                item.get("type").is_some_and(|kind| kind.is_text("tool_use") || kind.is_text("function_call"))
            };
            let item = event.get(inner).filter(|item| is_call(item));
            let called = item.and_then(|item| self.restore_map.called(item, "name"));
            let Some(name) = called.filter(|name| self.restore_map.is_held(name)).map(Text::into_owned) else {
                // One that never ended, and in whose place another one begins.
                if event.get(inner).is_some() {
                    out.extend(self.held.close(&Key::of(event)).and_then(|held| self.carried(held)));
                }
                self.in_item(event, inner)?;
                continue;
            };
            let id = event.get(inner).and_then(call_sites::id_of).map(|id| id.display().into_owned());
            // Mostly its arguments come later, and what stands here is none.
            let is_bare =
                event.get(inner).is_some_and(|item| ["input", "arguments"].iter().all(|key| is_none(item, key)));
            if is_bare {
                event.visit(inner, |node| self.names_of(node)).unwrap_or(Ok(()))?;
            } else {
                self.in_item(event, inner)?;
            }
            // One that never ended: what was held back of it goes before.
            if !is_bare && inner == "item" {
                self.told.see(id.as_deref());
            }
            let before = self.held.open(Key::of(event), name, id, !is_bare)?;
            out.extend(before.and_then(|held| self.carried(held)));
        }
        Ok(())
    }

    /// Restores the one call that an event wraps.
    pub(super) fn in_item(&mut self, event: &mut Node<'_>, inner: &str) -> Result<(), Error> {
        event.visit(inner, |item| self.restore_map.item(item, &mut self.told)).unwrap_or(Ok(()))
    }

    pub(super) fn rename(&self, event: &mut Node<'_>) {
        if let Some(name) = self.restore_map.called(event, "name").map(Text::into_owned) {
            self.restore_map.rename(&name, event, "name");
        }
    }

    /// Holds a piece back, if it belongs to a call whose arguments have to be restored.
    fn hold(&mut self, event: &Node<'_>) -> Result<bool, Error> {
        let key = Key::of(event);
        if self.held.get(&key).is_none() {
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
        self.held.carry(&key, event)?;
        self.held.add(&key, piece)?;
        Ok(true)
    }

    /// A block of Anthropic's ends: the event that carries its arguments, if any were held back.
    fn end_block(&mut self, event: &Node<'_>) -> Option<Node<'static>> {
        let held = self.held.close(&Key::of(event))?;
        self.end_of(held, || {
            let delta = [("type", Node::literal("input_json_delta")), ("partial_json", Node::literal(""))];
            Node::record([
                ("type", Node::literal("content_block_delta")),
                ("index", event.get("index").map(Node::detached).unwrap_or_default()),
                ("delta", Node::record(delta)),
            ])
        })
    }

    /// The event that carries the arguments of a call whose block ends; `carrier` makes it if no piece came.
    pub(super) fn end_of(&mut self, mut held: Held, carrier: impl FnOnce() -> Node<'static>) -> Option<Node<'static>> {
        if held.is_told || !held.pieces.is_empty() || !self.restore_map.repairs(&held.name) {
            return self.carried(held);
        }
        // A block without pieces is a call without arguments.
        match self.restore_map.text(&held.name, "{}", held.id.take(), &mut self.told) {
            Some(whole) => held.beside(carrier).carried(whole),
            None => held.carried(String::new()),
        }
    }

    /// Restores the names of a call, and nothing else.
    pub(super) fn names_of(&mut self, node: &mut Node<'_>) -> Result<(), Error> {
        self.restore_map.site(Site { node, name: "name", arguments: None, id: None }, &mut self.told)
    }

    pub(super) fn carried(&mut self, mut held: Held) -> Option<Node<'static>> {
        let whole = self.whole(&mut held);
        held.carried(whole)
    }

    /// The whole of what was held back, restored.
    pub(super) fn whole(&mut self, held: &mut Held) -> String {
        let pieces = core::mem::take(&mut held.pieces);
        if pieces.is_empty() {
            return pieces;
        }
        self.told.is_silent = held.is_told;
        let restored = self.restore_map.text(&held.name, &pieces, held.id.take(), &mut self.told);
        self.told.is_silent = false;
        restored.unwrap_or(pieces)
    }
}

impl Sink for Stream {
    fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        Stream::feed(self, event)
    }

    fn finish(&mut self) -> Vec<Node<'static>> {
        Stream::finish(self)
    }
}

/// Whether a call that begins has no arguments yet.
pub(super) fn is_none(item: &Node<'_>, key: &str) -> bool {
    item.get(key).is_none_or(|value| match value.data() {
        Data::Object(object) => object.is_empty(),
        _ => value.is_null() || value.is_text("") || value.is_text("{}"),
    })
}
