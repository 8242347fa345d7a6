//! Restores calls in streams of chunks, and in the events of items.
//!
//! In a chunk, a call is identified by its index in an alternative. The pieces of its arguments are combined, and put
//! into the chunk that ends the alternative. In Responses, up to four events contain the arguments of a call, which are
//! reported once.

use alloc::{string::String, vec::Vec};

use super::{
    buffered_calls::{self, BufferedCall, Chunks},
    restorer::Stream,
};
use crate::{
    error::Error,
    json::{Node, Text},
    reply::call_sites::{self, entry_id, has_no_arguments},
    wire::{
        alternatives::PiecedCalls,
        events::{visit, Key, KnownEvent},
        reply,
        units::{call_in, FoundCall},
    },
};

impl Stream {
    /// Processes a chunk. Returns true if the chunk has nothing left to pass on.
    pub(crate) fn chunk(&mut self, event: &mut Node<'_>, chunks: Chunks) -> Result<bool, Error> {
        let mut outcome = Ok(false);
        let mut nothing_left = event.get("usage").is_none_or(Node::is_null);
        chunks.of.visit(event, &mut |item, number| {
            match self.alternative(item, number, chunks) {
                Ok(buffered) => outcome = outcome.clone().map(|before| before || buffered),
                Err(error) => outcome = Err(error),
            }
            nothing_left &= chunks.of.is_silent(item);
        });
        self.end_replaced();
        let fresh = core::mem::take(&mut self.fresh);
        // Keeps the template even if the chunk is refused, so that earlier pieces are not lost.
        let kept = if fresh.is_empty() { Ok(()) } else { self.buffered.keep_chunk_template(fresh, event, chunks) };
        let buffered = outcome?;
        kept?;
        Ok(buffered && nothing_left)
    }

    /// Processes an alternative of a chunk. Returns true if any part was buffered.
    fn alternative(&mut self, item: &mut Node<'_>, number: u64, chunks: Chunks) -> Result<bool, Error> {
        // Some servers send whole messages as chunks.
        self.reports.is_limited = reply::is_cut(item);
        let whole = item.visit(chunks.of.whole, |message| self.restore_map.reply(message, &mut self.reports));
        self.reports.is_limited = false;
        whole.unwrap_or(Ok(()))?;
        let list = chunks.of.units;
        let (mut outcome, mut withheld) = (Ok(()), false);
        let (mut index, mut gone) = (0_u64, Vec::new());
        item.visit(chunks.of.part, |part| {
            call_sites::each(part, list, &mut |call| {
                match self.call(call, number, chunks.calls) {
                    Ok(Piece::Passes) => {}
                    Ok(Piece::BufferedCall { alone }) => {
                        withheld = true;
                        if alone {
                            gone.push(index);
                        }
                    }
                    Err(error) => outcome = Err(error),
                }
                index += 1;
            });
            if gone.is_empty() {
                return;
            }
            part.visit(list, |list| {
                let (mut at, mut gone) = (0_u64, gone.into_iter().peekable());
                list.as_array_mut().into_iter().for_each(|list| {
                    list.retain(|_| {
                        let goes = gone.next_if_eq(&at).is_some();
                        at += 1;
                        !goes
                    });
                });
            });
            if part.array_at(list).is_some_and(<[Node<'_>]>::is_empty) {
                part.remove(list);
            }
        });
        outcome?;
        if chunks.of.ends(item) {
            self.close(item, number, chunks);
        }
        Ok(withheld)
    }

    fn call(&mut self, call: &mut Node<'_>, choice: u64, calls: PiecedCalls) -> Result<Piece, Error> {
        let name = calls.of(call).and_then(|function| function.text_at(calls.name()));
        let name = name.filter(|name| !name.is_empty()).map(|name| name.clone().into_owned());
        let id = entry_id(call).map(|id| id.display().into_owned());
        let alone = name.is_none() && id.is_none();
        let key = calls.index_of(call).map(|index| Key::in_choice(choice, index));
        if let (Some(name), Some(key)) = (name, &key) {
            if self.buffered.get(key).is_none() && self.restore_map.is_buffered(&name) {
                self.buffered.open(key.clone(), name, id, false)?;
                self.fresh.push(key.clone());
            }
        }
        calls.edit_any(call, &mut |function| self.rename(function));
        let Some(key) = key.filter(|key| self.buffered.get(key).is_some()) else { return Ok(Piece::Passes) };
        let arguments = calls.arguments_of(call);
        let Some(piece) = arguments.and_then(Node::as_text).filter(|piece| !piece.is_empty()) else {
            return Ok(Piece::Passes);
        };
        self.buffered.add(&key, piece)?;
        calls.edit(call, |function| function.set(calls.arguments(), Node::string("")));
        Ok(Piece::BufferedCall { alone })
    }

    /// Passes on the arguments of calls whose index the server has used for another call. Some clients read the calls
    /// of such servers in the order of their events. Calls that began in the current event end later.
    fn end_replaced(&mut self) {
        for key in core::mem::take(&mut self.replaced) {
            if self.buffered.get(&key).is_some_and(BufferedCall::has_template) {
                let whole = self.buffered.close(&key).map(|buffered| self.end_call(buffered));
                self.before.extend(whole.and_then(|(buffered, whole)| buffered.into_event(whole?)));
            }
        }
    }

    fn close(&mut self, item: &mut Node<'_>, number: u64, chunks: Chunks) {
        let mut whole = Vec::new();
        self.reports.is_limited = reply::is_cut(item);
        for (key, buffered) in self.buffered.close_choice(number) {
            let (_, arguments) = self.end_call(buffered);
            whole.extend(arguments.map(|arguments| BufferedCall::entry(&key, arguments)));
        }
        self.reports.is_limited = false;
        if !whole.is_empty() {
            chunks.of.edit_part(item, |part| buffered_calls::put(part, whole, chunks));
        }
    }

    /// Returns the call and its restored arguments, or `None` if there is nothing to send.
    fn end_call(&mut self, mut buffered: BufferedCall) -> (BufferedCall, Option<String>) {
        let pieces = core::mem::take(&mut buffered.pieces);
        if buffered.is_reported && pieces.is_empty() {
            return (buffered, None);
        }
        // Empty arguments are repaired as well: they are not JSON, and clients that parse them fail.
        self.reports.is_silent = buffered.is_reported;
        let restored = self.restore_map.text(&buffered.name, &pieces, buffered.id.clone(), &mut self.reports);
        let restored = self.reports.record_failure(restored);
        self.reports.is_silent = false;
        let whole = restored.or(Some(pieces).filter(|pieces| !pieces.is_empty()));
        (buffered, whole)
    }
}

enum Piece {
    Passes,
    /// The arguments were buffered. `alone` is true if the entry has no other content.
    BufferedCall {
        alone: bool,
    },
}

impl Stream {
    pub(crate) fn end_arguments(
        &mut self,
        known_event: KnownEvent,
        event: &mut Node<'_>,
    ) -> Result<Option<Node<'static>>, Error> {
        let key = known_event.key(event);
        let Some(buffered) = self.buffered.get(&key) else { return Ok(None) };
        if buffered.pieces.is_empty() && event.get("arguments").is_none() {
            // The arguments are not known yet.
            return Ok(None);
        }
        let (name, id) = (buffered.name.clone(), buffered.id.clone());
        let call_event = if buffered.pieces.is_empty() || !has_no_arguments(event, "arguments") {
            self.reports.is_silent = buffered.is_reported;
            let (restore_map, reports) = (&self.restore_map, &mut self.reports);
            let restored =
                event.visit("arguments", |node| restore_map.arguments(&name, node, (id.clone(), true), reports));
            self.reports.is_silent = false;
            restored.unwrap_or(Ok(()))?;
            self.buffered.close(&key).and_then(|buffered| self.call_event(buffered.with_reported(true)))
        } else {
            self.whole_in(&key, event)
        };
        self.record_call(key, name, id)?;
        Ok(call_event)
    }

    /// Processes the event that ends an item and contains the whole item.
    pub(crate) fn end_item(
        &mut self,
        known_event: KnownEvent,
        event: &mut Node<'_>,
    ) -> Result<Option<Node<'static>>, Error> {
        let (key, path) = (known_event.key(event), known_event.unit_path());
        let item = known_event.unit(event);
        let is_of_item =
            |buffered: &&BufferedCall| item.is_some_and(|item| call_sites::may_have_id(item, buffered.id.as_deref()));
        let Some(buffered) = self.buffered.get(&key).filter(is_of_item) else {
            // The item has no start event, or another item started under the same key.
            let call =
                item.and_then(|item| call_in(item, None, Some(known_event.wire()))).filter(FoundCall::has_arguments);
            let name = call.and_then(|call| self.restore_map.called(call.node, call.name_key())).map(Text::into_owned);
            let id = item.and_then(call_sites::id_of);
            let id = id.map(|id| id.display().into_owned());
            self.in_item(event, path)?;
            let call_event = self.buffered.close(&key).and_then(|buffered| self.call_event(buffered));
            if let Some(name) = name {
                self.record_call(key, name, id)?;
            }
            return Ok(call_event);
        };
        let (name, id) = (buffered.name.clone(), buffered.id.clone());
        // Some servers first send one id of the item, and later its second id.
        if let (Some(old), Some(new)) = (&id, item.and_then(call_sites::id_of)) {
            self.reports.add_id(old, &new.display());
        }
        if buffered.pieces.is_empty() || !item.is_some_and(|item| has_no_arguments(item, "arguments")) {
            self.reports.is_silent = buffered.is_reported;
            let restored = self.in_item(event, path);
            self.reports.is_silent = false;
            restored?;
            let call_event =
                self.buffered.close(&key).and_then(|buffered| self.call_event(buffered.with_reported(true)));
            self.record_call(key, name, id)?;
            return Ok(call_event);
        }
        let mut call_event = None;
        visit(event, path, |item| call_event = self.whole_in(&key, item));
        visit(event, path, |node| self.names_of(node, "name")).unwrap_or(Ok(()))?;
        self.record_call(key, name, id)?;
        Ok(call_event)
    }

    fn whole_in(&mut self, key: &Key, holder: &mut Node<'_>) -> Option<Node<'static>> {
        let mut buffered = self.buffered.close(key)?;
        let id = buffered.id.clone();
        let whole = self.whole(&mut buffered);
        self.reports.fill(id.as_deref(), &whole);
        if holder.get("arguments").is_some() {
            holder.set("arguments", Node::string(whole.clone()));
        }
        buffered.into_event(whole)
    }

    /// Records a reported call, because later events may repeat it.
    fn record_call(&mut self, key: Key, name: Text<'static>, id: Option<String>) -> Result<(), Error> {
        if self.restore_map.repairs(&name) {
            self.reports.record_reported(id.as_deref());
            self.buffered.open(key, name, id, true)?;
        }
        Ok(())
    }
}
