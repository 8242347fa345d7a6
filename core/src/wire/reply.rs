//! Where the messages of a reply are, and how a reply reports its end.

use alloc::string::String;

use super::{
    events::Path,
    prompt::is_system,
    turns::Speaker,
    units::{self, has_type, walk, NamedUnit, Step},
    Wire, ALL,
};
use crate::json::Node;

/// Locations in a whole reply, and in an event that contains whole parts.
pub(crate) struct Reply {
    /// Paths to messages, items and steps.
    pub(super) messages: &'static [&'static [Step]],
    /// Paths to the values that report the end of a reply.
    pub(super) ends: &'static [&'static [Step]],
    /// The members and values that report that a length limit ended the reply.
    pub(super) cut: &'static [(&'static str, &'static str)],
    pub(super) usage: &'static str,
    /// Member with a whole reply, in events and in replies that a gateway wraps.
    pub(super) wrapper: Option<&'static str>,
    /// Paths of parts of a text that an event repeats.
    pub(super) parts: &'static [Path],
    /// Paths of text that repeats the text of the messages.
    pub(super) repeated_texts: &'static [Path],
    /// Types of items that are not output for the client.
    pub(super) hidden_item_types: &'static [&'static str],
    /// Returns true for a reply or an event that exists only in this format.
    pub(super) is_only_of_format: fn(&Node<'_>) -> bool,
}

impl Reply {
    pub(crate) const fn usage(&self) -> &'static str {
        self.usage
    }

    pub(crate) fn is_only_of_format(&self, reply: &Node<'_>) -> bool {
        (self.is_only_of_format)(reply)
    }
}

pub(crate) fn visit_sites(reply: &mut Node<'_>, visit: &mut dyn FnMut(NamedUnit<'_, '_>)) {
    visit_messages(reply, &mut |message| units::visit(message, None, visit));
}

/// Visits the messages of a reply, and the reply itself, which is a message in some APIs.
pub(crate) fn visit_messages(reply: &mut Node<'_>, visit: &mut dyn FnMut(&mut Node<'_>)) {
    visit(reply);
    for way in ALL.iter().flat_map(|wire| wire.reply.messages) {
        walk(reply, way, visit);
    }
}

pub(crate) fn wrappers() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter_map(|wire| wire.reply.wrapper)
}

pub(crate) fn repeated_parts() -> impl Iterator<Item = Path> {
    ALL.iter().flat_map(|wire| wire.reply.parts).copied()
}

/// Visits the messages of a reply, and the reply itself, which is a message in some APIs. Skips the messages of a
/// wrapped reply.
pub(crate) fn visit_own_messages(reply: &mut Node<'_>, visit: &mut dyn FnMut(&mut Node<'_>)) {
    visit(reply);
    for way in ALL.iter().flat_map(|wire| wire.own_messages()) {
        walk(reply, way, visit);
    }
}

impl Wire {
    pub(super) fn own_messages(&self) -> impl Iterator<Item = &'static [Step]> {
        let is_wrapped =
            |way: &&&'static [Step]| matches!(way, [Step::Member(key), ..] if wrappers().any(|name| name == *key));
        self.reply.messages.iter().filter(move |way| !is_wrapped(way)).copied()
    }
}

pub(crate) fn repeated_texts() -> impl Iterator<Item = Path> {
    ALL.iter().flat_map(|wire| wire.reply.repeated_texts).copied()
}

pub(crate) fn may_be_output(message: &Node<'_>) -> bool {
    let is_by = |role: &str| message.get("role").is_some_and(|author| author.is_text(role));
    ALL.iter().all(|wire| {
        !wire.reply.hidden_item_types.iter().any(|kind| has_type(message, kind))
            && !wire.turns.roles.iter().any(|(role, speaker)| *speaker != Speaker::Model && is_by(role))
    }) && !is_system(message)
}

/// Returns true if a length limit ended the reply. A call in the reply may then be incomplete.
pub(crate) fn is_cut(reply: &Node<'_>) -> bool {
    let cuts = ALL.iter().flat_map(|wire| wire.reply.cut);
    let is_here = |node: &Node<'_>| cuts.clone().any(|(key, word)| node.get(*key).is_some_and(|end| end.is_text(word)));
    let mut ways = ALL.iter().flat_map(|wire| wire.reply.ends);
    is_here(reply) || ways.any(|way| any(reply, way, &is_here))
}

fn any(node: &Node<'_>, way: &[Step], test: &dyn Fn(&Node<'_>) -> bool) -> bool {
    let Some((step, rest)) = way.split_first() else { return test(node) };
    match step {
        Step::Member(key) => node.get(*key).is_some_and(|inner| any(inner, rest, test)),
        Step::Items(key) => node.items_at(*key).iter().any(|item| any(item, rest, test)),
        step => step.stays(node) && any(node, rest, test),
    }
}

pub(crate) fn is_text_part(part: &Node<'_>) -> bool {
    const KINDS: [&str; 2] = ["text", "output_text"];
    let is_of_kind = part.get("type").is_none_or(|kind| kind.is_null() || KINDS.iter().any(|text| kind.is_text(text)));
    is_of_kind && part.bool_at("thought") != Some(true)
}

pub(crate) fn text_part(kind: &'static str, text: String) -> Node<'static> {
    Node::record([("type", Node::literal(kind)), ("text", Node::string(text))])
}
