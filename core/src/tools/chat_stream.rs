//! Restores the chunks of Chat Completions. A call is identified by its index in a choice. The pieces of its arguments
//! are combined, and put into the chunk that ends the choice.

use alloc::{string::String, vec::Vec};

use super::{
    buffered_calls::{self, BufferedCall, Key},
    call_sites,
    stream_restorer::Stream,
};
use crate::{
    error::Error,
    json::{Node, Text},
};

impl Stream {
    /// Restores a chunk. Returns true if nothing is left to pass on.
    pub(super) fn chat(&mut self, event: &mut Node<'_>) -> Result<bool, Error> {
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
        self.reports.is_limited = call_sites::is_cut(choice);
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
        let key = Key::in_choice(choice, call.u64_at("index").unwrap_or(place));
        let name = call.get("function").and_then(|function| function.get("name")).and_then(Node::as_text);
        let name = name.filter(|name| !name.is_empty());
        let arguments = call.get("function").and_then(|function| function.get("arguments"));
        if let Some(id) = self.gives_way(&key, name, call_sites::id_of(call), arguments) {
            if let Some(buffered) = self.buffered.close(&key) {
                // Without a name, the new call is a call to the same tool.
                let name = name.unwrap_or(&buffered.name).clone().into_owned();
                let (buffered, whole) = self.settled(buffered);
                self.before.extend(whole.and_then(|whole| buffered.carried(whole)));
                self.begins(&key, &name, id)?;
            }
        } else if let (Some(name), None) = (name, self.buffered.get(&key)) {
            let id = call_sites::id_of(call).map(|id| id.display().into_owned());
            self.begins(&key, name, id)?;
        }
        let alone = name.is_none() && call.get("id").is_none_or(Node::is_null);
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
            self.buffered.is_reported(&key);
            return Ok(Piece::Passes);
        }
        let piece = call.get("function").and_then(|function| function.get("arguments")).and_then(Node::as_text);
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else { return Ok(Piece::Passes) };
        self.buffered.add(&key, piece)?;
        call.visit("function", |function| function.set("arguments", Node::string("")));
        Ok(Piece::BufferedCall { alone })
    }

    /// Opens a call if its arguments have to be buffered.
    fn begins(&mut self, key: &Key, name: &Text<'_>, id: Option<String>) -> Result<(), Error> {
        if self.restore_map.is_buffered(name) {
            self.buffered.open(key.clone(), name.clone().into_owned(), id, false)?;
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
        let mut whole: Vec<(u64, String)> = Vec::new();
        self.reports.is_limited = call_sites::is_cut(choice);
        for (index, buffered) in self.buffered.close_choice(number) {
            whole.extend(self.settled(buffered).1.map(|whole| (index, whole)));
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
        let restored = self.restore_map.text(&buffered.name, &pieces, buffered.id.take(), &mut self.reports);
        let restored = self.reports.restored(restored);
        self.reports.is_silent = false;
        let whole = restored.or(Some(pieces).filter(|pieces| !pieces.is_empty()));
        (buffered, whole)
    }
}

/// Result of processing an entry of `tool_calls`.
enum Piece {
    Passes,
    /// The arguments were buffered; `alone` is true if the entry has nothing else.
    BufferedCall {
        alone: bool,
    },
}
