//! Restores calls in the event stream of Bedrock Converse. Each event is an object with one member, whose name is the
//! kind of the event.
//!
//! Source: Amazon Bedrock, API reference, `ConverseStreamOutput`; read 2026-11-26.

use alloc::vec::Vec;

use super::{
    buffered_calls::{Key, CONVERSE_DELTA},
    call_sites::id_of,
    stream_restorer::{Passed, Stream},
};
use crate::{
    error::Error,
    json::{Node, Text},
};

const BEGINS: &str = "contentBlockStart";
const ENDS: &str = "contentBlockStop";
/// The last event before the event with the usage.
const LAST: &str = "messageStop";

impl Stream {
    /// Processes an event of Converse. Returns `None` for any other event.
    ///
    /// # Errors
    /// `limit-exceeded`, and those of restoring.
    pub(super) fn converse<'a>(
        &mut self,
        event: &mut Node<'a>,
        out: &mut Vec<Node<'a>>,
    ) -> Result<Option<Passed>, Error> {
        if is_of(event, BEGINS) {
            let key = key_of(event, BEGINS);
            let call = event.get(BEGINS).and_then(|block| block.get("start")).and_then(|start| start.get("toolUse"));
            let called = call.and_then(|call| self.restore_map.called(call, "name"));
            let id = call.and_then(id_of).map(|id| id.display().into_owned());
            // Passes on an unfinished call if its index is used again.
            let before = match called.filter(|name| self.restore_map.is_buffered(name)).map(Text::into_owned) {
                Some(name) => self.buffered.open(key, name, id, false)?,
                None => self.buffered.close(&key),
            };
            out.extend(before.and_then(|buffered| self.carried(buffered)));
            let begun = event.visit(BEGINS, |block| {
                block.visit("start", |start| start.visit("toolUse", |call| self.names_of(call))).flatten()
            });
            begun.flatten().unwrap_or(Ok(()))?;
        } else if is_of(event, CONVERSE_DELTA) {
            let key = key_of(event, CONVERSE_DELTA);
            let delta = event.get(CONVERSE_DELTA).and_then(|block| block.get("delta"));
            let piece = delta.and_then(|delta| delta.get("toolUse")?.get("input")?.as_text());
            if let (Some(piece), Some(_)) = (piece, self.buffered.get(&key)) {
                self.buffered.carry(&key, event)?;
                self.buffered.add(&key, piece)?;
                return Ok(Some(Passed::Nothing));
            }
        } else if is_of(event, ENDS) {
            if let Some(buffered) = self.buffered.close(&key_of(event, ENDS)) {
                out.extend(self.end_of(buffered, || {
                    let input = Node::record([("input", Node::literal(""))]);
                    let index = event.get(ENDS).and_then(|block| block.get("contentBlockIndex"));
                    let block = Node::record([
                        ("delta", Node::record([("toolUse", input)])),
                        ("contentBlockIndex", index.map(Node::detached).unwrap_or_default()),
                    ]);
                    Node::record([(CONVERSE_DELTA, block)])
                }));
            }
        } else if is_of(event, LAST) {
            out.extend(self.leave());
        } else {
            return Ok(None);
        }
        Ok(Some(Passed::Event))
    }
}

fn is_of(event: &Node<'_>, kind: &str) -> bool {
    event.get(kind).is_some_and(|block| block.as_object().is_some())
}

fn key_of(event: &Node<'_>, kind: &str) -> Key {
    Key::of_block(event.get(kind).and_then(|block| block.get("contentBlockIndex")))
}
