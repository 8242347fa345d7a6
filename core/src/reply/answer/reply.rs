//! Converts whole replies, and events with complete calls, to a request whose response format was sent as a function.

use alloc::vec::Vec;

use super::{
    alternatives,
    call::{
        answer_in_message, convert_message, convert_unit, has_text, is_answer, retain, set_stop_reason, Calls, Dropped,
    },
    text::Answer,
};
use crate::{
    json::{Data, Node},
    reply::call_sites::each,
    wire::{
        alternatives::alternatives_of,
        answers::{self, MessageForm, Output},
        reply,
        units::call_in,
        Wire,
    },
};

pub(crate) fn answer_in_reply(whole: &mut Node<'_>, answer: &Answer) -> Calls {
    if let Some(calls) = alternatives::answer_in_units(whole, answer) {
        return calls;
    }
    let mut calls = Calls::default();
    if matches!(whole.data(), Data::Array(_)) {
        // The visitor never fails.
        let _ = whole.visit_children::<()>(|_, reply| {
            calls.add(answer_in_reply(reply, answer));
            Ok(())
        });
        return calls;
    }
    if let Some(alternatives) = alternatives_of(whole) {
        alternatives.visit(whole, &mut |item, _| {
            let item_calls =
                item.visit(alternatives.whole, |message| answer_in_message(message, answer)).unwrap_or_default();
            set_stop_reason(item, item_calls);
            calls.add(item_calls);
        });
    }
    let form = answers::message_form(whole);
    answers::visit_output(whole, &mut |output, preferred| {
        calls.add(match output {
            Output::List(holder, list) => in_items(holder, (list, preferred), answer),
            Output::Message(message) => {
                let form = if preferred.is_some() { form } else { MessageForm::default() };
                convert_message(message, preferred, (answer, form))
            }
        });
    });
    for inner in reply::wrappers() {
        calls.add(whole.visit(inner, |inner| answer_in_reply(inner, answer)).unwrap_or_default());
    }
    answer.tool.iter().for_each(|function| answers::repeat(whole, function, calls.has_answer));
    if calls.ends_with_answer() {
        answers::set_stop_reasons(whole);
    }
    calls
}

pub(crate) fn set_stop_reasons(reply: &mut Node<'_>, calls: Calls) {
    if calls.ends_with_answer() {
        answers::set_stop_reasons(reply);
    }
}

/// Converts the first call to the function in a list of items or steps. Removes further calls to the function and other
/// text.
fn in_items(reply: &mut Node<'_>, (list, preferred): (&str, Option<&'static Wire>), answer: &Answer) -> Calls {
    let (mut calls, mut is_left_out, mut dropped) = (Calls::default(), Vec::new(), Dropped::default());
    each(reply, list, &mut |item| {
        let is_call = |item: &Node<'_>| call_in(item, None, preferred).is_some_and(|call| is_answer(&call, answer));
        let is_second = calls.has_answer && is_call(item);
        let converted = if is_second { Calls::default() } else { convert_unit(item, (None, preferred), answer) };
        calls.add(converted);
        let is_text = preferred.is_some_and(|wire| (wire.answers().is_text)(item));
        let is_other_text = converted == Calls::default() && is_text;
        dropped.calls |= is_second;
        dropped.text |= is_other_text && has_text(item.get("content"));
        is_left_out.push(is_second || is_other_text);
    });
    if calls.has_answer {
        calls.dropped = dropped;
        let mut is_left_out = is_left_out.into_iter();
        retain(reply, list, |_| is_left_out.next() != Some(true));
    }
    calls
}
