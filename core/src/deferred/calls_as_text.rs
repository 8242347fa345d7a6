//! Replaces calls to tools that are not sent.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    error::Error,
    json::{Node, Text},
    options::Removals,
    request::conversation::{Content, Conversation, Event, EventKind, Part, Role},
    wire::prompt::whole,
};

/// Replaces calls to tools that are not sent, and their results, with text.
///
/// # Errors
/// `invalid-value` for an unpaired surrogate in arguments.
pub(super) fn replace_unavailable_calls<'a>(
    conversation: &mut Conversation<'a>,
    removals: Removals,
) -> Result<(), Error> {
    let Conversation { tools, events, changed, .. } = conversation;
    let is_sent = |name: &Text<'a>| {
        tools.get(name).is_some_and(|tool| {
            tool.is_available() || tool.is_removed && removals == Removals::Notice && (tool.loaded || !tool.deferred)
        })
    };
    let mut texts: Set<Text<'a>> = Set::new();
    let mut out = Vec::with_capacity(events.len());
    let mut turn = Turn::default();
    for Event { at, message, member, origin, other_origins, kind } in core::mem::take(events) {
        let is_call_or_result = matches!(kind, EventKind::Call(_) | EventKind::Result(_));
        // A later turn may use an id again.
        if let EventKind::Call(call) = &kind {
            call.id.as_text().map(|id| texts.remove(id));
        }
        let kind = match kind {
            EventKind::Call(call) if call.search.is_none() && !is_sent(&call.name) => {
                texts.extend(call.id.as_text().cloned());
                let arguments = call.arguments.text();
                let arguments = arguments.as_text().map(|text| whole(text, "")).transpose()?;
                let text = format!("[Call to {}: {}]", call.name.display(), arguments.unwrap_or_default());
                EventKind::Text { role: Role::Assistant, content: Content::added_text(text) }
            }
            EventKind::Result(outcome) if outcome.id.as_text().is_some_and(|id| texts.contains(id)) => {
                let mut parts = outcome.content.into_parts();
                if parts.is_empty() {
                    parts.push(Part::Text(Node::string(String::from("[No result]"))));
                }
                EventKind::Text { role: Role::User, content: Content::Parts(parts) }
            }
            other => other,
        };
        if is_call_or_result && matches!(kind, EventKind::Text { .. }) {
            changed.insert(at);
        }
        turn.add(
            Event { at, message, member, origin, other_origins, kind },
            is_call_or_result,
            (&mut out, &mut *changed),
        );
    }
    turn.end((&mut out, changed));
    *events = out;
    Ok(())
}

/// Consecutive calls, or consecutive results, with no other message or item between them. APIs require results directly
/// after their calls. So the text that replaces calls precedes the other calls, and the text that replaces results
/// follows the other results.
#[derive(Default)]
struct Turn<'a> {
    is_results: bool,
    steps: Vec<Event<'a>>,
}

impl<'a> Turn<'a> {
    fn add(
        &mut self,
        event: Event<'a>,
        is_call_or_result: bool,
        (out, changed): (&mut Vec<Event<'a>>, &mut Set<usize>),
    ) {
        let is_results = matches!(event.kind, EventKind::Result(_) | EventKind::Text { role: Role::User, .. });
        // If the format does not change, messages without mentions of tools are not read and have no events.
        let is_next = self.steps.last().is_none_or(|last| event.at <= last.at + 1);
        if !is_call_or_result || !is_next || is_results != self.is_results {
            self.end((&mut *out, changed));
        }
        self.is_results = is_results;
        if is_call_or_result { &mut self.steps } else { out }.push(event);
    }

    fn end(&mut self, (out, changed): (&mut Vec<Event<'a>>, &mut Set<usize>)) {
        let steps = core::mem::take(&mut self.steps);
        let is_text = |event: &Event<'a>| matches!(event.kind, EventKind::Text { .. });
        let others = || steps.iter().enumerate().filter(|(_, event)| !is_text(event));
        let neighbor = if self.is_results { others().next_back() } else { others().next() };
        let Some((neighbor_index, at, member)) =
            neighbor.map(|(neighbor_index, event)| (neighbor_index, event.at, event.member))
        else {
            out.extend(steps);
            return;
        };
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        for (index, mut event) in steps.into_iter().enumerate() {
            if !is_text(&event) {
                others.push(event);
                continue;
            }
            // A moved text joins the message of the last call or result that it passes.
            let is_moved = if self.is_results { index < neighbor_index } else { index > neighbor_index };
            if is_moved {
                changed.insert(at);
                (event.at, event.member) = (at, member);
            }
            texts.push(event);
        }
        let (first, second) = if self.is_results { (others, texts) } else { (texts, others) };
        out.extend(first);
        out.extend(second);
    }
}
