//! Restores calls in the event streams of Chat Completions and OpenAI Responses.
//!
//! In Chat Completions, a call is identified by its index in a choice. The pieces of its arguments are combined, and
//! put into the chunk that ends the choice. In Responses, up to four events contain the arguments of a call, which are
//! reported once.

use alloc::{string::String, vec::Vec};

use super::{
    brackets::Scan,
    buffered_calls::{self, BufferedCall},
    restorer::Stream,
    unnumbered::entry_id,
};
use crate::{
    error::Error,
    json::{Node, Text},
    tools::call_sites::{self, is_none},
    wire::{
        events::{visit, Cursor, Key},
        reply,
    },
};

impl Stream {
    /// Restores a chunk. Returns true if nothing is left to pass on.
    pub(crate) fn chat(&mut self, event: &mut Node<'_>) -> Result<bool, Error> {
        let mut outcome = Ok(false);
        let mut nothing_left = event.get("usage").is_none_or(Node::is_null);
        call_sites::each(event, "choices", &mut |choice| {
            let number = choice.u64_at("index").unwrap_or_default();
            match self.choice(choice, number) {
                Ok(buffered) => outcome = outcome.clone().map(|before| before || buffered),
                Err(error) => outcome = Err(error),
            }
            let is_set = |key: &str| choice.get(key).is_some_and(|value| !value.is_null());
            let delta = choice.object_at("delta");
            let empty =
                delta.is_none_or(|delta| delta.iter().all(|member| member.key.is("role") || member.value.is_null()));
            nothing_left &= empty && !is_set("finish_reason") && !is_set("message");
        });
        let fresh = core::mem::take(&mut self.fresh);
        // Keeps the carrier even if the chunk is refused, so that earlier pieces are not lost.
        let kept = if fresh.is_empty() { Ok(()) } else { self.buffered.carry_in_chunk(fresh, event) };
        let buffered = outcome?;
        kept?;
        Ok(buffered && nothing_left)
    }

    /// Restores a choice of a chunk. Returns true if something was buffered.
    fn choice(&mut self, choice: &mut Node<'_>, number: u64) -> Result<bool, Error> {
        // Some servers send whole messages as chunks.
        self.reports.is_limited = reply::is_cut(choice);
        let whole = choice.visit("message", |message| self.restore_map.reply(message, &mut self.reports));
        self.reports.is_limited = false;
        whole.unwrap_or(Ok(()))?;
        let (mut outcome, mut withheld) = (Ok(()), false);
        let (mut place, mut gone) = (0_u64, Vec::new());
        choice.visit("delta", |delta| {
            call_sites::each(delta, "tool_calls", &mut |call| {
                match self.call(call, number, place) {
                    Ok(Piece::Passes) => {}
                    Ok(Piece::BufferedCall { alone }) => {
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
            if delta.array_at("tool_calls").is_some_and(<[Node<'_>]>::is_empty) {
                delta.remove("tool_calls");
            }
        });
        outcome?;
        if choice.get("finish_reason").is_some_and(|reason| !reason.is_null()) {
            self.close(choice, number);
        }
        Ok(withheld)
    }

    /// Restores an entry of `tool_calls` in a chunk.
    fn call(&mut self, call: &mut Node<'_>, choice: u64, place: u64) -> Result<Piece, Error> {
        let key = self.buffered.key_in_choice(choice, call, place)?;
        let name = call.get("function").and_then(|function| function.get("name")).and_then(Node::as_text);
        let name = name.filter(|name| !name.is_empty());
        let arguments = call.get("function").and_then(|function| function.get("arguments"));
        if self.buffered.get(&key).is_some() || name.is_some_and(|name| self.needs_index(name)) {
            self.buffered.record_index(&key, place)?;
        }
        if let Some(id) = self.gives_way(&key, name, entry_id(call), arguments) {
            if let Some(buffered) = self.buffered.close(&key) {
                // Without a name, the new call is a call to the same tool.
                let name = name.unwrap_or(&buffered.name).clone().into_owned();
                let (buffered, whole) = self.settled(buffered);
                self.before.extend(whole.and_then(|whole| buffered.carried(whole)));
                self.begins(&key, &name, id)?;
            }
        } else if let (Some(name), None) = (name, self.buffered.get(&key)) {
            let id = entry_id(call).map(|id| id.display().into_owned());
            self.begins(&key, name, id)?;
        }
        let is_empty = |id: &Node<'_>| id.is_null() || id.as_text().is_some_and(Text::is_empty);
        let alone = name.is_none() && call.get("id").is_none_or(is_empty);
        for inner in ["function", "custom"] {
            call.visit(inner, |function| self.rename(function));
        }
        let Some(buffered) = self.buffered.get(&key) else { return Ok(Piece::Passes) };
        let arguments = call.get("function").and_then(|function| function.get("arguments"));
        if arguments.and_then(Node::as_object).is_some_and(|arguments| !arguments.is_empty()) {
            // Some servers send the complete arguments as a value.
            let (called, id) = (buffered.name.clone(), buffered.id.clone());
            let (restore_map, reports) = (&self.restore_map, &mut self.reports);
            let restored = call.visit("function", |function| {
                function.visit("arguments", |node| restore_map.arguments(&called, node, (id, false), reports))
            });
            restored.flatten().unwrap_or(Ok(()))?;
            self.buffered.mark_reported(&key);
            return Ok(Piece::Passes);
        }
        let piece = call.get("function").and_then(|function| function.get("arguments")).and_then(Node::as_text);
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else { return Ok(Piece::Passes) };
        if key.is_unnumbered() && !alone && buffered.pieces.is_empty() && !buffered.is_reported && is_complete(piece) {
            // Clients cannot assign a later piece to its call.
            let (called, id) = (buffered.name.clone(), buffered.id.clone());
            let (restore_map, reports) = (&self.restore_map, &mut self.reports);
            let restored = call.visit("function", |function| {
                function.visit("arguments", |node| restore_map.arguments(&called, node, (id, true), reports))
            });
            restored.flatten().unwrap_or(Ok(()))?;
            self.buffered.mark_reported(&key);
            return Ok(Piece::Passes);
        }
        self.buffered.add(&key, piece)?;
        call.visit("function", |function| function.set("arguments", Node::string("")));
        Ok(Piece::BufferedCall { alone })
    }

    /// Returns true if later entries without an index could belong to another call than the one with this name.
    fn needs_index(&self, name: &Text<'_>) -> bool {
        self.restore_map.is_buffered(name) || !self.buffered.is_empty()
    }

    /// Opens a call if its arguments have to be buffered.
    fn begins(&mut self, key: &Key, name: &Text<'_>, id: Option<String>) -> Result<(), Error> {
        if self.restore_map.is_buffered(name) {
            let has_identity = !key.is_unnumbered() || id.is_some();
            self.buffered.open(key.clone(), name.clone().into_owned(), id, false)?;
            if let Some(restored) = self.restore_map.name(name).filter(|_| !has_identity) {
                self.buffered.set_client_name(key, restored.name.display().into_owned());
            }
            self.fresh.push(key.clone());
        }
        Ok(())
    }

    /// Returns the id of a new call if that call replaces the open one under the same key; the inner `None` is a call
    /// without an id. Some servers use one index for all calls and distinguish calls by their ids; others send a new id
    /// with every piece of one call.
    #[expect(clippy::option_option, reason = "the inner `None` is a call without an id")]
    fn gives_way(
        &mut self,
        key: &Key,
        name: Option<&Text<'_>>,
        id: Option<Text<'_>>,
        arguments: Option<&Node<'_>>,
    ) -> Option<Option<String>> {
        let buffered = self.buffered.get(key)?;
        let id = id.map(|id| id.display().into_owned());
        if name.is_some_and(|name| *name != buffered.name) {
            return Some(id);
        }
        let is_other = id.is_some() && buffered.id.is_some() && id != buffered.id;
        let next = if is_other { id } else { buffered.next_id.clone() };
        next.as_ref()?;
        let text = arguments.and_then(Node::as_text).map(Text::display).unwrap_or_default();
        let is_object = arguments.and_then(Node::as_object).is_some_and(|arguments| !arguments.is_empty());
        let is_over = buffered.is_whole() || (buffered.is_reported && buffered.pieces.is_empty());
        if is_over && (is_object || text.trim_start().starts_with('{')) {
            return Some(next);
        }
        let is_waiting = is_over && text.trim().is_empty() && !is_object;
        self.buffered.may_give_way(key, next.filter(|_| is_waiting));
        None
    }

    /// Ends a choice: puts the arguments of its calls into this chunk.
    fn close(&mut self, choice: &mut Node<'_>, number: u64) {
        let mut whole = Vec::new();
        self.reports.is_limited = reply::is_cut(choice);
        for (key, buffered) in self.buffered.close_choice(number) {
            let (buffered, arguments) = self.settled(buffered);
            whole.extend(arguments.map(|arguments| buffered.entry(&key, arguments)));
        }
        self.reports.is_limited = false;
        if whole.is_empty() {
            return;
        }
        if choice.get("delta").is_none_or(|delta| delta.as_object().is_none()) {
            choice.set("delta", Node::empty_object());
        }
        choice.visit("delta", |delta| buffered_calls::put(delta, whole));
    }

    /// Ends a call. Returns the call and its restored arguments, or `None` if there is nothing to send.
    fn settled(&mut self, mut buffered: BufferedCall) -> (BufferedCall, Option<String>) {
        let pieces = core::mem::take(&mut buffered.pieces);
        if buffered.is_reported && pieces.is_empty() {
            return (buffered, None);
        }
        // Empty arguments are repaired as well: they are not JSON, and clients that parse them fail.
        self.reports.is_silent = buffered.is_reported;
        let restored = self.restore_map.text(&buffered.name, &pieces, buffered.id.clone(), &mut self.reports);
        let restored = self.reports.restored(restored);
        self.reports.is_silent = false;
        let whole = restored.or(Some(pieces).filter(|pieces| !pieces.is_empty()));
        (buffered, whole)
    }
}

/// Returns true if the text is a complete object, as far as its brackets show.
fn is_complete(text: &Text<'_>) -> bool {
    let mut scan = Scan::default();
    scan.feed(&text.display());
    scan.is_whole
}

/// Result of processing an entry of `tool_calls`.
enum Piece {
    Passes,
    /// The arguments were buffered; `alone` is true if the entry has nothing else.
    BufferedCall {
        alone: bool,
    },
}

impl Stream {
    /// Processes the event that ends an item's arguments and repeats them.
    pub(crate) fn end_arguments(
        &mut self,
        cursor: Cursor,
        event: &mut Node<'_>,
    ) -> Result<Option<Node<'static>>, Error> {
        let key = cursor.key(event);
        let Some(buffered) = self.buffered.get(&key) else { return Ok(None) };
        if buffered.pieces.is_empty() && event.get("arguments").is_none() {
            // The arguments are not known yet.
            return Ok(None);
        }
        let (name, id) = (buffered.name.clone(), buffered.id.clone());
        let carried = if buffered.pieces.is_empty() || !is_none(event, "arguments") {
            self.reports.is_silent = buffered.is_reported;
            let (restore_map, reports) = (&self.restore_map, &mut self.reports);
            let restored =
                event.visit("arguments", |node| restore_map.arguments(&name, node, (id.clone(), true), reports));
            self.reports.is_silent = false;
            restored.unwrap_or(Ok(()))?;
            self.buffered.close(&key).and_then(|buffered| self.carried(buffered.reported(true)))
        } else {
            self.whole_in(&key, event)
        };
        self.known(key, name, id)?;
        Ok(carried)
    }

    /// Processes the event that ends an item and contains the whole item.
    pub(crate) fn end_item(&mut self, cursor: Cursor, event: &mut Node<'_>) -> Result<Option<Node<'static>>, Error> {
        let (key, path) = (cursor.key(event), cursor.unit_path());
        let item = cursor.unit(event);
        let is_its =
            |buffered: &&BufferedCall| item.is_some_and(|item| call_sites::may_be(item, buffered.id.as_deref()));
        let Some(buffered) = self.buffered.get(&key).filter(is_its) else {
            // The item has no start event, or another item started under the same key.
            let call = item.filter(|item| item.get("type").is_some_and(|kind| kind.is_text("function_call")));
            let name = call.and_then(|item| self.restore_map.called(item, "name")).map(Text::into_owned);
            let id = item.and_then(call_sites::id_of);
            let id = id.map(|id| id.display().into_owned());
            self.in_item(event, path)?;
            let carried = self.buffered.close(&key).and_then(|buffered| self.carried(buffered));
            if let Some(name) = name {
                self.known(key, name, id)?;
            }
            return Ok(carried);
        };
        let (name, id) = (buffered.name.clone(), buffered.id.clone());
        // Some servers send one of the item's two ids first and the other one later.
        if let (Some(old), Some(new)) = (&id, item.and_then(call_sites::id_of)) {
            self.reports.is_also(old, &new.display());
        }
        if buffered.pieces.is_empty() || !item.is_some_and(|item| is_none(item, "arguments")) {
            self.reports.is_silent = buffered.is_reported;
            let restored = self.in_item(event, path);
            self.reports.is_silent = false;
            restored?;
            let carried = self.buffered.close(&key).and_then(|buffered| self.carried(buffered.reported(true)));
            self.known(key, name, id)?;
            return Ok(carried);
        }
        let mut carried = None;
        visit(event, path, |item| carried = self.whole_in(&key, item));
        visit(event, path, |node| self.names_of(node, "name")).unwrap_or(Ok(()))?;
        self.known(key, name, id)?;
        Ok(carried)
    }

    /// Ends a call whose event lacks the arguments: fills in the arguments that were received in pieces.
    fn whole_in(&mut self, key: &Key, holder: &mut Node<'_>) -> Option<Node<'static>> {
        let mut buffered = self.buffered.close(key)?;
        let id = buffered.id.clone();
        let whole = self.whole(&mut buffered);
        self.reports.fill(id.as_deref(), &whole);
        if holder.get("arguments").is_some() {
            holder.set("arguments", Node::string(whole.clone()));
        }
        buffered.carried(whole)
    }

    /// Records that a call was reported, because later events may repeat it.
    fn known(&mut self, key: Key, name: Text<'static>, id: Option<String>) -> Result<(), Error> {
        if self.restore_map.repairs(&name) {
            self.reports.see(id.as_deref());
            self.buffered.open(key, name, id, true)?;
        }
        Ok(())
    }
}
