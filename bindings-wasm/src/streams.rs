//! Replies, and single calls, that are being restored from streamed pieces, by number.
//!
//! JavaScript keeps them in separate instances. It does not discard an instance with an open stream, and reports when a
//! stream is no longer needed.

use std::cell::RefCell;

use toolwire::{
    internal::{
        bindings::{self, TextOutput, ValueOutput},
        json::{Node, Object},
    },
    CallStream, ReplyRestorer,
};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{return_outcome, whole_or_owned, Failure, InputLayout, Outcome},
    shared_buffer,
};

enum Restoring {
    Reply(Box<ReplyRestorer>),
    Call(Box<CallStream>),
}

thread_local! {
    static OPEN: RefCell<Vec<Option<Restoring>>> = const { RefCell::new(Vec::new()) };
}

/// Opens a stream for the value in the shared buffer: a `restore`, or a list of a `restore` and the name of the called
/// tool.
/// The output is the stream's number. Returns undefined, or an error as [`crate::call::call`] does.
#[wasm_bindgen(js_name = openStream)]
pub fn open_stream(words: usize, chars: usize, spelled: bool) -> JsValue {
    on_value(words, chars, spelled, |value| {
        let stream = match bindings::call_stream(&value)? {
            Some(call) => Restoring::Call(Box::new(call)),
            None => Restoring::Reply(Box::new(bindings::restore(&value)?.stream())),
        };
        let number = OPEN.with_borrow_mut(|open| match open.iter_mut().enumerate().find(|(_, slot)| slot.is_none()) {
            Some((free, slot)) => {
                *slot = Some(stream);
                free
            }
            None => {
                open.push(Some(stream));
                open.len() - 1
            }
        });
        Ok(Node::count(number as u64))
    })
}

/// Handles the event in the shared buffer. The output is the list of events to be passed on. Returns what
/// [`open_stream`] returns, or an object with the repaired `calls`.
#[wasm_bindgen(js_name = feedStream)]
pub fn feed_stream(stream: usize, words: usize, chars: usize, spelled: bool) -> JsValue {
    on_value_of(stream, words, chars, spelled, |event| {
        with_stream(stream, |restoring| match restoring {
            Restoring::Reply(restorer) => Ok(Node::array(bindings::feed(restorer, event)?)),
            Restoring::Call(_) => Err(Failure::Defect("a call takes text")),
        })
    })
}

/// Handles the piece of text in the shared buffer. The output is the text to be passed on. Returns what [`open_stream`]
/// returns.
#[wasm_bindgen(js_name = feedStreamText)]
pub fn feed_stream_text(stream: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, _| {
        let piece = texts.first().copied().unwrap_or_default();
        let text = with_stream(stream, |restoring| match restoring {
            Restoring::Reply(restorer) => Ok(restorer.feed_text(piece)?),
            Restoring::Call(call) => Ok(call.feed_text(piece)?),
        })?;
        Ok(TextOutput { text: whole_or_owned(text, piece), report: repaired_calls(stream) })
    });
    return_outcome(input, with_rest_flag(stream, outcome))
}

/// Ends a stream. The output is the list of events that were still held back; for a stream of text, a list with the
/// remaining text. Returns what [`open_stream`] returns.
#[wasm_bindgen(js_name = finishStream)]
pub fn finish_stream(stream: usize, as_text: bool, words: usize, chars: usize, spelled: bool) -> JsValue {
    on_value_of(stream, words, chars, spelled, |_| {
        with_stream(stream, |restoring| {
            Ok(Node::array(match restoring {
                Restoring::Reply(restorer) if as_text => vec![Node::string(restorer.finish_text()?)],
                Restoring::Reply(restorer) => bindings::finish(restorer)?,
                Restoring::Call(call) => vec![Node::string(call.finish_text()?)],
            }))
        })
    })
}

/// Closes a stream.
#[wasm_bindgen(js_name = closeStream)]
pub fn close_stream(stream: usize) {
    OPEN.with_borrow_mut(|open| {
        if let Some(slot) = open.get_mut(stream) {
            *slot = None;
        }
    });
}

fn with_stream<T>(stream: usize, work: impl FnOnce(&mut Restoring) -> Result<T, Failure>) -> Result<T, Failure> {
    OPEN.with_borrow_mut(|open| {
        let restoring =
            open.get_mut(stream).and_then(Option::as_mut).ok_or(Failure::Defect("no stream with this number"))?;
        work(restoring)
    })
}

/// Returns the repairs of the calls that ended with this step and the changes of answers, or `None` if there are none.
fn repaired_calls(stream: usize) -> Option<Node<'static>> {
    let (calls, changes) = OPEN.with_borrow_mut(|open| match open.get_mut(stream).and_then(Option::as_mut)? {
        Restoring::Reply(restorer) => Some((restorer.take_repaired_calls(), restorer.take_answer_changes())),
        Restoring::Call(call) => Some((call.take_repaired_calls(), Vec::new())),
    })?;
    if calls.is_empty() && changes.is_empty() {
        return None;
    }
    let mut report = Object::new();
    report.set("calls", bindings::repaired_calls(&calls));
    report.set("answerChanges", bindings::answer_changes(&changes));
    Some(Node::object(report))
}

/// Adds the flag that the instance can be discarded without loss, if the stream has buffered nothing.
fn with_rest_flag(stream: usize, outcome: Outcome) -> Outcome {
    let is_at_rest = OPEN.with_borrow(|open| match open.get(stream).and_then(Option::as_ref) {
        Some(Restoring::Reply(restorer)) => bindings::is_stream_at_rest(restorer),
        Some(Restoring::Call(call)) => bindings::is_call_at_rest(call),
        None => false,
    });
    outcome.map(|(report, output, flags)| (report, output, flags | if is_at_rest { shared_buffer::RESTS } else { 0 }))
}

fn on_value(
    words: usize,
    chars: usize,
    spelled: bool,
    work: impl for<'a> FnOnce(Node<'a>) -> Result<Node<'a>, Failure>,
) -> JsValue {
    on_value_of(usize::MAX, words, chars, spelled, work)
}

fn on_value_of(
    stream: usize,
    words: usize,
    chars: usize,
    spelled: bool,
    work: impl for<'a> FnOnce(Node<'a>) -> Result<Node<'a>, Failure>,
) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_values(&mut input, output, |inputs, _| {
        let value = inputs.into_iter().next().ok_or(Failure::Defect("the shared buffer is empty"))?;
        Ok(ValueOutput { value: work(value)?, report: repaired_calls(stream), share: false })
    });
    return_outcome(input, with_rest_flag(stream, outcome))
}
