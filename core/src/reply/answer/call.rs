//! Converts replies to a request whose response format was sent as a function. The first call to the function contains
//! the structured output (in this folder: the *answer*), and becomes text. The reply then ends like a reply with text.
//! Other text is dropped, because the client reads all text of a reply as the answer.
//!
//! Calls are restored before this conversion, so the function has its original name, and the arguments match the
//! caller's schema.

use alloc::{string::String, vec::Vec};

use super::text::{restore_text, Answer};
use crate::{
    json::{self, Node},
    reply::{call_sites::each, streams::buffered_calls::append},
    report::AnswerChange,
    wire::{
        answers::{self, is_text, Conversion, MessageForm},
        reply::{self, text_part},
        units::{self, call_in, FoundCall},
        Wire,
    },
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) has_answer: bool,
    /// True if any call is a call of another function.
    pub(crate) has_others: bool,
    pub(crate) dropped: Dropped,
}

/// Kinds of content that are dropped from a reply because of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// True if text that is not blank is dropped.
    pub(crate) text: bool,
    /// True if later calls to the function are dropped.
    pub(crate) calls: bool,
}

impl Dropped {
    pub(crate) fn add(&mut self, other: Dropped) {
        self.text |= other.text;
        self.calls |= other.calls;
    }

    pub(crate) fn changes(self) -> impl Iterator<Item = AnswerChange> {
        let changes = [(self.text, AnswerChange::DropText), (self.calls, AnswerChange::DropCall)];
        changes.into_iter().filter(|(is_dropped, _)| *is_dropped).map(|(_, change)| change)
    }
}

impl Calls {
    pub(crate) const ANSWER: Calls =
        Calls { has_answer: true, has_others: false, dropped: Dropped { text: false, calls: false } };
    const OTHER: Calls = Calls { has_answer: false, has_others: true, ..Calls::ANSWER };

    pub(crate) fn add(&mut self, other: Calls) {
        self.has_answer |= other.has_answer;
        self.has_others |= other.has_others;
        self.dropped.add(other.dropped);
    }

    pub(super) const fn ends_with_answer(self) -> bool {
        self.has_answer && !self.has_others
    }
}

/// Indices of the calls and blocks of a stream that are hidden from the client.
#[derive(Debug, Default)]
pub(crate) struct HiddenIndices(Vec<u64>);

impl HiddenIndices {
    /// Maximum number of recorded indices. If a model calls the function more often in one reply, the client sees gaps
    /// in later indices.
    const MAX_INDICES: usize = 256;

    pub(crate) fn insert(&mut self, index: u64) {
        let at = self.0.partition_point(|known| *known < index);
        if self.0.get(at) != Some(&index) && self.0.len() < HiddenIndices::MAX_INDICES {
            self.0.insert(at, index);
        }
    }

    pub(crate) fn remove(&mut self, index: u64) {
        if let Ok(at) = self.0.binary_search(&index) {
            self.0.remove(at);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn count_before(&self, index: u64) -> u64 {
        self.0.partition_point(|known| *known < index) as u64
    }
}

pub(crate) fn is_call_of(call: &Node<'_>, name: &str, answer: &Answer) -> bool {
    call.get(name).is_some_and(|value| answer.tool.as_deref().is_some_and(|name| value.is_text(name)))
        && ["server", "namespace", "index"].iter().all(|key| call.get(key).is_none_or(Node::is_null))
}

pub(crate) fn is_not_blank(text: Option<&Node<'_>>) -> bool {
    text.and_then(Node::as_text).is_some_and(|text| text.chars().chars().any(|letter| !letter.is_whitespace()))
}

pub(super) fn is_answer(call: &FoundCall<'_, '_>, answer: &Answer) -> bool {
    // The arguments of a call that continues in another event are not complete.
    call.is_whole() && call.has_arguments() && is_call_of(call.node, call.name_key(), answer)
}

pub(super) fn is_answer_unit(unit: &Node<'_>, list: &str, answer: &Answer) -> bool {
    call_in(unit, Some(list), None).is_some_and(|call| is_answer(&call, answer))
}

pub(super) fn convert_unit(
    unit: &mut Node<'_>,
    (list, preferred): (Option<&str>, Option<&'static Wire>),
    answer: &Answer,
) -> Calls {
    let Some(call) = call_in(unit, list, preferred) else { return Calls::default() };
    let (true, Conversion::Unit(convert)) = (is_answer(&call, answer), call.wire.answers().conversion) else {
        return Calls::OTHER;
    };
    let text = answer.whole_text_of(call.node, call.arguments());
    convert(unit, Some(text));
    Calls::ANSWER
}

impl Answer {
    pub(crate) fn whole_text_of(&self, call: &Node<'_>, arguments: (Option<&Node<'_>>, bool)) -> String {
        let text = self.text_of(arguments);
        if text.is_empty() && !reply::is_cut(call) {
            return String::from("{}");
        }
        text
    }

    /// Returns the answer as text. Truncated text is restored as far as it is complete. The flag is true if the API
    /// expects JSON text.
    pub(crate) fn text_of(&self, (arguments, is_text): (Option<&Node<'_>>, bool)) -> String {
        match arguments {
            Some(arguments) if is_text && arguments.as_text().is_some() => {
                let mut out = String::new();
                arguments.as_text().into_iter().for_each(|text| append(&mut out, text));
                self.whole_text(out)
            }
            None if is_text => String::new(),
            Some(arguments) if is_text && arguments.is_null() => String::new(),
            // APIs omit empty arguments. Restored arguments are null only if the plan removed a wrapper around null.
            None => String::from("{}"),
            Some(arguments) if arguments.is_null() && self.plan.is_empty() => String::from("{}"),
            Some(arguments) => json::write(arguments),
        }
    }

    /// Restores text as far as it is complete. If truncated text needs too many steps, it is returned unchanged: it is
    /// not valid JSON, so no client can mistake it for a complete answer.
    pub(crate) fn whole_text(&self, text: String) -> String {
        if self.plan.is_empty() || json::read(&text).is_ok() {
            return text;
        }
        restore_text(Some(self), &text).text.unwrap_or(text)
    }
}

pub(crate) fn set_stop_reason(holder: &mut Node<'_>, calls: Calls) {
    if calls.ends_with_answer() {
        answers::set_stop_reason(holder);
    }
}

pub(crate) fn answer_in_message(message: &mut Node<'_>, answer: &Answer) -> Calls {
    convert_message(message, None, (answer, MessageForm::default()))
}

pub(super) fn convert_message(
    message: &mut Node<'_>,
    preferred: Option<&'static Wire>,
    (answer, form): (&Answer, MessageForm),
) -> Calls {
    let mut calls = Calls::default();
    // Text that replaces a call is not among the units of an earlier list.
    for list in units::lists().rev() {
        if !message.items_at(list).is_empty() {
            calls.add(convert_units(message, list, (answer, form), calls.has_answer));
        }
    }
    calls.add(convert_unit(message, (None, preferred), answer));
    calls
}

pub(super) fn has_text(parts: Option<&Node<'_>>) -> bool {
    let parts = parts.and_then(Node::as_array).unwrap_or_default();
    parts.iter().any(|part| is_text(part) && is_not_blank(part.get("text")))
}

/// Replaces the text of a message. Parts that are not text are kept.
fn set_text(message: &mut Node<'_>, member: &'static str, text: String, has_parts: bool) {
    let is_list = message.get(member).is_some_and(|content| content.as_array().is_some());
    if !(is_list || has_parts && message.get(member).is_none_or(Node::is_null)) {
        message.set(member, Node::string(text));
        return;
    }
    if !is_list {
        message.set(member, Node::array([].into()));
    }
    message.visit(member, |parts| {
        parts.as_array_mut().map(|parts| {
            parts.retain(|part| !is_text(part));
            parts.push(text_part("text", text));
        })
    });
}

/// Converts the first call to the function in a list of units, unless the message already has an answer. Removes
/// further calls to the function and other text.
fn convert_units(
    message: &mut Node<'_>,
    list: &str,
    (answer, form): (&Answer, MessageForm),
    is_answered: bool,
) -> Calls {
    if is_answered {
        return Calls::default();
    }
    let units = message.items_at(list).iter();
    let first = units.filter_map(|unit| call_in(unit, Some(list), None)).find(|call| is_answer(call, answer));
    let Some(first) = first else {
        let has_others = message.items_at(list).iter().any(|unit| call_in(unit, Some(list), None).is_some());
        return if has_others { Calls::OTHER } else { Calls::default() };
    };
    let Conversion::Member(member, _) = first.wire.answers().conversion else {
        let mut has_text = false;
        retain(message, list, |unit| {
            let is_other_text = call_in(unit, Some(list), None).is_none() && is_text(unit);
            has_text |= is_other_text && is_not_blank(unit.get("text"));
            !is_other_text
        });
        let mut calls = as_text_in_list(message, list, answer, false);
        calls.dropped.text |= has_text;
        return calls;
    };
    let (arguments, is_text) = first.arguments();
    let text = answer.text_of((arguments, is_text && !form.has_values));
    let is_answer = |unit: &Node<'_>| is_answer_unit(unit, list, answer);
    let all = message.items_at(list);
    let answers = all.iter().filter(|unit| is_answer(unit)).count();
    let content = message.get(member);
    let dropped = Dropped { text: is_not_blank(content) || has_text(content), calls: answers > 1 };
    let calls = Calls { has_answer: true, has_others: answers < all.len(), dropped };
    if calls.has_others {
        retain(message, list, |unit| !is_answer(unit));
    } else {
        message.remove(list);
    }
    set_text(message, member, text, form.has_parts);
    calls
}

/// Converts the first call to the function in a list of units to text, unless there was an answer before. Removes
/// further calls to the function.
pub(super) fn as_text_in_list(message: &mut Node<'_>, list: &str, answer: &Answer, was_answered: bool) -> Calls {
    let (mut calls, mut later) = (Calls { has_answer: was_answered, ..Calls::default() }, Vec::new());
    each(message, list, &mut |unit| {
        let is_later = calls.has_answer && is_answer_unit(unit, list, answer);
        if !is_later {
            calls.add(convert_unit(unit, (Some(list), None), answer));
        }
        calls.dropped.calls |= is_later;
        later.push(is_later);
    });
    if calls.dropped.calls {
        let mut later = later.into_iter();
        retain(message, list, |_| later.next() != Some(true));
    }
    calls
}

pub(super) fn retain<'a>(holder: &mut Node<'a>, list: &str, test: impl FnMut(&Node<'a>) -> bool) {
    holder.visit(list, |list| list.as_array_mut().map(|list| list.retain(test)));
}
