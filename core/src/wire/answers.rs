//! Structured output as a call: how a call to the function that replaces the response format becomes text.

use alloc::string::String;

use super::{
    reply::is_text_part,
    units::{walk, Step},
    ALL,
};
use crate::json::Node;

#[derive(Debug)]
pub(crate) struct AnswerText {
    pub(crate) conversion: Conversion,
    /// Returns true for a unit that contains text and nothing else.
    pub(crate) is_text: fn(&Node<'_>) -> bool,
    /// Member, its value for calls, its value for text.
    pub(super) stop_reasons: &'static [(&'static str, &'static str, &'static str)],
    /// Changes the copies of the request and of the output in a whole reply. The arguments are the name of the
    /// function, and true if the reply has structured output.
    pub(super) repeat: Option<fn(&mut Node<'_>, &str, bool)>,
    /// Conversions of events, if the events of text differ from the events of a call in more than their pieces.
    pub(crate) events: Option<TextEvents>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Conversion {
    /// The function replaces the call by a unit with text. The text is `None` if later events contain it.
    Unit(fn(&mut Node<'_>, Option<String>)),
    /// The text becomes this member of the message that contains the call. The function returns the form of the
    /// messages of a reply.
    Member(&'static str, fn(&Node<'_>) -> MessageForm),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageForm {
    /// True if the text is a list of parts.
    pub(crate) has_parts: bool,
    /// True if arguments are JSON values, although their member usually contains JSON text.
    pub(crate) has_values: bool,
}

pub(crate) fn message_form(reply: &Node<'_>) -> MessageForm {
    let form = |wire: &&super::Wire| match wire.answers.conversion {
        Conversion::Member(_, form) => Some(form(reply)),
        Conversion::Unit(_) => None,
    };
    ALL.iter().find_map(form).unwrap_or_default()
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TextEvents {
    /// Returns the event after the first event of the unit.
    pub(crate) part_begin: fn(&Node<'_>) -> Node<'static>,
    /// Converts an event with a piece of the arguments.
    pub(crate) piece: fn(&mut Node<'_>, Option<Node<'static>>),
    /// Converts the event that repeats all arguments. Returns the event to send after that event.
    pub(crate) whole: fn(&mut Node<'_>, String) -> Node<'static>,
    /// Members of the event that repeats all arguments. Events with a piece lack them.
    pub(crate) bare: &'static [&'static str],
}

impl AnswerText {
    /// For formats whose texts and calls are blocks. A call begins and ends with its block.
    pub(super) const fn block(convert: fn(&mut Node<'_>, Option<String>)) -> AnswerText {
        AnswerText { conversion: Conversion::Unit(convert), is_text, stop_reasons: &[], repeat: None, events: None }
    }
}

/// Returns true for a part or a block with text that the client would read as structured output.
pub(crate) fn is_text(part: &Node<'_>) -> bool {
    part.get("text").is_some_and(|text| text.as_text().is_some()) && is_text_part(part)
}

pub(super) fn has_only_text(message: &Node<'_>) -> bool {
    message.get("content").is_none_or(|content| content.as_array().is_some_and(|parts| parts.iter().all(is_text)))
}

pub(crate) fn set_stop_reason(holder: &mut Node<'_>) {
    for (key, of_calls, of_text) in ALL.iter().flat_map(|wire| wire.answers.stop_reasons) {
        if holder.get(*key).is_some_and(|word| word.is_text(of_calls)) {
            holder.set(key, Node::literal(of_text));
        }
    }
}

/// Sets the stop reasons of a reply. Does not change the reasons of its alternatives.
pub(crate) fn set_stop_reasons(reply: &mut Node<'_>) {
    set_stop_reason(reply);
    let ways = ALL.iter().filter(|wire| wire.alternatives.is_none()).flat_map(|wire| wire.reply.ends);
    ways.filter(|way| !way.is_empty()).for_each(|way| walk(reply, way, &mut set_stop_reason));
}

/// Removes the function from the reply's copies of the request and of the output.
pub(crate) fn repeat(reply: &mut Node<'_>, function: &str, has_answer: bool) {
    for repeat in ALL.iter().filter_map(|wire| wire.answers.repeat) {
        repeat(reply, function, has_answer);
    }
}

pub(crate) fn has_output(reply: &Node<'_>) -> bool {
    let ways = ALL.iter().flat_map(|wire| wire.reply.messages.iter().chain(wire.reply.ends));
    let heads = ways.filter_map(|way| match way.first() {
        Some(Step::Member(key) | Step::Items(key)) => Some(*key),
        _ => None,
    });
    let reasons = ALL.iter().flat_map(|wire| wire.answers.stop_reasons).map(|(key, ..)| *key);
    heads.chain(reasons).chain(super::units::lists()).any(|key| reply.get(key).is_some_and(|value| !value.is_null()))
}

pub(crate) enum Output<'n, 'a> {
    /// A list of items or steps: the object that contains it, and the member.
    List(&'n mut Node<'a>, &'static str),
    Message(&'n mut Node<'a>),
}

/// Visits a reply, its messages and its lists of items. Does not visit its alternatives.
pub(crate) fn visit_output(reply: &mut Node<'_>, visit: &mut dyn FnMut(Output<'_, '_>, Option<&'static super::Wire>)) {
    visit(Output::Message(reply), None);
    for wire in ALL.iter().copied().filter(|wire| wire.alternatives.is_none()) {
        for way in wire.own_messages() {
            match way.split_last() {
                Some((Step::Items(list), holder)) => {
                    walk(reply, holder, &mut |holder| visit(Output::List(holder, list), Some(wire)));
                }
                _ => walk(reply, way, &mut |message| visit(Output::Message(message), Some(wire))),
            }
        }
    }
}
