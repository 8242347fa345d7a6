//! Calls of tools that are not sent as text: some APIs refuse a call that no tool is declared for.

use alloc::{format, string::String, vec::Vec};

use super::{Content, Conversation, Event, Part, Role, What};
use crate::{
    collections::Set,
    deferred::notice::whole,
    error::Error,
    json::{Node, Text},
    options::Removals,
};

/// Makes texts of them and of what they gave.
///
/// # Errors
/// `invalid-value` for half a surrogate pair in arguments.
pub(in crate::deferred) fn as_text<'a>(conversation: &mut Conversation<'a>, removals: Removals) -> Result<(), Error> {
    let tools = &conversation.tools;
    let is_sent = |name: &Text<'a>| {
        tools.get(name).is_some_and(|tool| {
            tool.is_available() || tool.withdrawn && removals == Removals::Notice && (tool.loaded || !tool.deferred)
        })
    };
    let mut told: Set<Text<'a>> = Set::new();
    let mut events = Vec::with_capacity(conversation.events.len());
    for Event { at, message, what } in core::mem::take(&mut conversation.events) {
        let what = match what {
            What::Call(call) if call.search.is_none() && !is_sent(&call.name) => {
                told.extend(call.id.as_text().cloned());
                let arguments = call.arguments.text();
                let arguments = arguments.as_text().map(|text| whole(text, "")).transpose()?;
                let text = format!("[Call of {}: {}]", call.name.display(), arguments.unwrap_or_default());
                What::Text { role: Role::Assistant, content: Content::sentence(text) }
            }
            What::Result(outcome) if outcome.id.as_text().is_some_and(|id| told.contains(id)) => {
                let mut parts = outcome.content.into_parts();
                if parts.is_empty() {
                    parts.push(Part::Text(Node::string(String::from("[No result]"))));
                }
                What::Text { role: Role::User, content: Content::Parts(parts) }
            }
            other => other,
        };
        events.push(Event { at, message, what });
    }
    conversation.events = events;
    Ok(())
}
