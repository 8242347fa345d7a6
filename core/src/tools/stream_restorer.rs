//! A reply in pieces: names restored at once, encoded arguments held back and restored where their call ends.
//!
//! The events of all APIs are told apart by what is in them; which API it is need not be known. Events that hold whole
//! calls (Gemini's, and the closing ones of Responses) are restored like whole replies.

use alloc::{string::String, vec::Vec};

use super::{
    call_sites,
    held::{self, Calls, Held, Key},
    item_stream::Items,
    restore::RestoreMap,
    sse::{Buffer, Sink},
    tool_format::{remove, set},
};
use crate::{
    error::Error,
    json::{Data, Node, Text},
};

/// A stream being restored.
#[derive(Debug)]
pub(crate) struct Stream {
    restore_map: RestoreMap,
    /// The calls whose arguments are held back.
    held: Calls,
    /// The items that become others.
    items: Items,
    /// Calls in chunks of Chat Completions of which the first piece was held back just now.
    fresh: Vec<Key>,
    /// The text that is no whole event yet.
    text: Buffer,
}

impl Stream {
    pub(crate) fn new(restore_map: RestoreMap) -> Stream {
        Stream {
            restore_map,
            held: Calls::default(),
            items: Items::default(),
            fresh: Vec::new(),
            text: Buffer::default(),
        }
    }

    /// Whether a new one would go on as well.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.held.is_empty() && self.items.is_empty() && self.text.is_at_rest()
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
        let is = |name: &str| event.get("type").is_some_and(|kind| kind.is_text(name));
        if is("content_block_start") || is("response.output_item.added") {
            self.begin(&mut event, &mut out)?;
        } else if is("content_block_delta") || is("response.function_call_arguments.delta") {
            if self.hold(&event)? {
                return Ok(out);
            }
        } else if is("content_block_stop") {
            out.extend(self.end(&event));
        } else if is("response.function_call_arguments.done") {
            if let Some(name) = self.held.get(&Key::of(&event)).map(|held| held.name.clone()) {
                event.visit("arguments", |arguments| self.restore_map.any(&name, arguments)).unwrap_or(Ok(()))?;
            }
            out.extend(self.end(&event));
            self.rename(&mut event);
        } else if is("response.output_item.done") {
            self.in_item(&mut event, "item")?;
            out.extend(self.end(&event));
        } else if event.get("choices").is_some_and(|choices| choices.as_array().is_some()) {
            if self.chat(&mut event)? {
                return Ok(out);
            }
        } else {
            self.restore_map.reply(&mut event)?;
        }
        out.push(event);
        Ok(out)
    }

    /// What is still held back: calls that never ended.
    pub(crate) fn finish(&mut self) -> Vec<Node<'static>> {
        let held = self.held.close_all();
        let calls = held.into_iter().filter_map(|held| self.carried(held)).collect::<Vec<_>>();
        calls.into_iter().chain(self.items.finish()).collect()
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
            let called =
                event.get(inner).filter(|item| is_call(item)).and_then(|item| item.get("name")).and_then(Node::as_text);
            let encoded = called.filter(|name| self.restore_map.is_encoded(name)).map(|name| name.clone().into_owned());
            self.in_item(event, inner)?;
            if let Some(name) = encoded {
                // One that never ended: what was held back of it goes before.
                let before = self.held.open(Key::of(event), name)?;
                out.extend(before.and_then(|held| self.carried(held)));
            }
        }
        Ok(())
    }

    /// Restores the one call that an event wraps.
    fn in_item(&self, event: &mut Node<'_>, inner: &str) -> Result<(), Error> {
        event.visit(inner, |item| self.restore_map.item(item)).unwrap_or(Ok(()))
    }

    fn rename(&self, event: &mut Node<'_>) {
        if let Some(name) = event.get("name").and_then(Node::as_text).map(|name| name.clone().into_owned()) {
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

    /// A call ends: the event that carries its arguments, if any were held back.
    fn end(&mut self, event: &Node<'_>) -> Option<Node<'static>> {
        let held = self.held.close(&Key::of(event))?;
        self.carried(held)
    }

    fn carried(&self, held: Held) -> Option<Node<'static>> {
        held.carried(|name, pieces| self.restore_map.text(name, &pieces).unwrap_or(pieces))
    }

    /// A chunk of Chat Completions. Tells whether nothing is left of it.
    fn chat(&mut self, event: &mut Node<'_>) -> Result<bool, Error> {
        let mut outcome = Ok(false);
        let mut nothing_left = event.get("usage").is_none_or(Node::is_null);
        call_sites::each(event, "choices", &mut |choice| {
            let number = choice.get("index").and_then(Node::as_u64).unwrap_or_default();
            match self.choice(choice, number) {
                Ok(held) => outcome = outcome.clone().map(|before| before || held),
                Err(error) => outcome = Err(error),
            }
            let says = |key: &str| choice.get(key).is_some_and(|value| !value.is_null());
            let delta = choice.get("delta").and_then(Node::as_object);
            let empty =
                delta.is_none_or(|delta| delta.iter().all(|member| member.key.is("role") || member.value.is_null()));
            nothing_left &= empty && !says("finish_reason") && !says("message");
        });
        let held = outcome?;
        let fresh = core::mem::take(&mut self.fresh);
        if held && !fresh.is_empty() {
            self.held.carry_in_chunk(fresh, event)?;
        }
        Ok(held && nothing_left)
    }

    /// A choice of a chunk. Tells whether something was held back.
    fn choice(&mut self, choice: &mut Node<'_>, number: u64) -> Result<bool, Error> {
        // Some servers send whole messages as chunks.
        choice.visit("message", |message| self.restore_map.reply(message)).unwrap_or(Ok(()))?;
        let (mut outcome, mut withheld) = (Ok(()), false);
        let (mut place, mut gone) = (0_u64, Vec::new());
        choice.visit("delta", |delta| {
            call_sites::each(delta, "tool_calls", &mut |call| {
                match self.call(call, number, place) {
                    Ok(Piece::Passes) => {}
                    Ok(Piece::Held { alone }) => {
                        withheld = true;
                        if alone {
                            gone.push(place);
                        }
                    }
                    Err(error) => outcome = Err(error),
                }
                place += 1;
            });
            if gone.is_empty() {
                return;
            }
            delta.visit("tool_calls", |list| {
                let (mut at, mut gone) = (0_u64, gone.into_iter().peekable());
                list.as_array_mut().into_iter().for_each(|list| {
                    list.retain(|_| {
                        let goes = gone.next_if_eq(&at).is_some();
                        at += 1;
                        !goes
                    });
                });
            });
            if delta.get("tool_calls").and_then(Node::as_array).is_some_and(<[Node<'_>]>::is_empty) {
                remove(delta, "tool_calls");
            }
        });
        outcome?;
        if choice.get("finish_reason").is_some_and(|reason| !reason.is_null()) {
            self.close(choice, number);
        }
        Ok(withheld)
    }

    /// An entry of `tool_calls` in a chunk.
    fn call(&mut self, call: &mut Node<'_>, choice: u64, place: u64) -> Result<Piece, Error> {
        let key = Key::in_choice(choice, call.get("index").and_then(Node::as_u64).unwrap_or(place));
        let name = call.get("function").and_then(|function| function.get("name")).and_then(Node::as_text);
        if let Some(name) = name.filter(|name| self.restore_map.is_encoded(name) && self.held.get(&key).is_none()) {
            self.held.open(key.clone(), name.clone().into_owned())?;
        }
        let alone = name.is_none_or(Text::is_empty) && call.get("id").is_none_or(Node::is_null);
        for inner in ["function", "custom"] {
            call.visit(inner, |function| self.rename(function));
        }
        let Some(held) = self.held.get(&key) else { return Ok(Piece::Passes) };
        let piece = call.get("function").and_then(|function| function.get("arguments")).and_then(Node::as_text);
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else { return Ok(Piece::Passes) };
        let is_first = held.pieces.is_empty();
        self.held.add(&key, piece)?;
        if is_first {
            self.fresh.push(key);
        }
        call.visit("function", |function| set(function, "arguments", Node::string("")));
        Ok(Piece::Held { alone })
    }

    /// A choice is finished: its calls get their arguments in this very chunk.
    fn close(&mut self, choice: &mut Node<'_>, number: u64) {
        let closed = self.held.close_choice(number).into_iter().filter(|(_, held)| !held.pieces.is_empty());
        let restored = |held: Held| self.restore_map.text(&held.name, &held.pieces).unwrap_or(held.pieces);
        let whole: Vec<(u64, String)> = closed.map(|(index, held)| (index, restored(held))).collect();
        if whole.is_empty() {
            return;
        }
        if choice.get("delta").is_none_or(|delta| delta.as_object().is_none()) {
            set(choice, "delta", Node::empty_object());
        }
        choice.visit("delta", |delta| held::put(delta, whole));
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

/// What became of an entry of `tool_calls`.
enum Piece {
    Passes,
    /// Its arguments were held back; `alone`: there was nothing else in it.
    Held {
        alone: bool,
    },
}
