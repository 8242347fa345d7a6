//! Restores calls in the event stream of Gemini Interactions, whose events have an `event_type`.
//!
//! Source: google-genai 3.6.1, `_gaos/types/interactions/interactionsseevent.py` and the events in it
//! (read 2026-11-26).

use alloc::vec::Vec;

use super::{
    buffered_calls::Key,
    call_sites::{id_of, is_none},
    stream_restorer::{Passed, Stream},
};
use crate::{
    error::Error,
    json::{Node, Text},
    request::tool::has_type,
};

impl Stream {
    /// Processes an event of Gemini Interactions. Returns `None` for any other event.
    ///
    /// # Errors
    /// `limit-exceeded`, and those of restoring.
    pub(super) fn interactions<'a>(
        &mut self,
        event: &mut Node<'a>,
        out: &mut Vec<Node<'a>>,
    ) -> Result<Option<Passed>, Error> {
        let Some(kind) = event.text_at("event_type") else { return Ok(None) };
        if kind.is("step.start") {
            self.begin_step(event, out)?;
        } else if kind.is("step.delta") {
            let key = Key::of(event);
            let piece = event.get("delta").and_then(|delta| delta.get("arguments")?.as_text());
            if let (Some(piece), Some(_)) = (piece, self.buffered.get(&key)) {
                self.buffered.carry(&key, event)?;
                self.buffered.add(&key, piece)?;
                return Ok(Some(Passed::Nothing));
            }
            event.visit("delta", |delta| self.restore_map.message(delta, &mut self.reports)).unwrap_or(Ok(()))?;
        } else if kind.is("step.stop") {
            if let Some(buffered) = self.buffered.close(&Key::of(event)) {
                out.extend(self.end_of(buffered, || {
                    let delta = [("type", Node::literal("arguments_delta")), ("arguments", Node::literal(""))];
                    Node::record([
                        ("event_type", Node::literal("step.delta")),
                        ("index", event.get("index").map(Node::detached).unwrap_or_default()),
                        ("delta", Node::record(delta)),
                    ])
                }));
            }
        } else {
            let ends = kind.is("interaction.completed");
            if ends {
                out.extend(self.leave());
            }
            // The event with the whole interaction repeats its steps.
            self.reports.skips_seen = true;
            let restored = self.restore_map.reply(event, &mut self.reports);
            self.reports.skips_seen = false;
            if ends {
                self.reports.forget();
            }
            restored?;
        }
        Ok(Some(Passed::Event))
    }

    /// Processes the start of a step.
    fn begin_step<'a>(&mut self, event: &mut Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        let key = Key::of(event);
        let step = event.get("step").filter(|step| has_type(step, "function_call"));
        let called = step.and_then(|step| self.restore_map.called(step, "name"));
        let called = called.filter(|name| self.restore_map.is_buffered(name)).map(Text::into_owned);
        // The arguments are usually in later events.
        let is_bare = step.is_some_and(|step| is_none(step, "arguments"));
        let id = step.and_then(id_of).map(|id| id.display().into_owned());
        if step.is_none() {
            event.visit("step", |step| self.restore_map.message(step, &mut self.reports)).unwrap_or(Ok(()))?;
        } else if is_bare {
            event.visit("step", |step| self.names_of(step)).unwrap_or(Ok(()))?;
        } else {
            self.in_item(event, "step")?;
            self.reports.see(id.as_deref());
        }
        // Passes on an unfinished call if its index is used again.
        let before = match called {
            Some(name) => self.buffered.open(key, name, id, !is_bare)?,
            None => self.buffered.close(&key),
        };
        out.extend(before.and_then(|buffered| self.carried(buffered)));
        Ok(())
    }
}
