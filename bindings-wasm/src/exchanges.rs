//! Open exchanges by number: each is a request and the reply to it.
//!
//! JavaScript keeps exchanges in separate WebAssembly instances. It discards such an instance only if the instance has
//! no open exchange, and it calls [`close_exchange`] for each exchange that it no longer needs.

use std::{borrow::Cow, cell::RefCell};

use toolwire::{
    internal::{
        bindings::{self, Naming, TextOutput},
        json::{self, Node, Object},
    },
    Exchange, ExchangeOptions, ToolListCache,
};
use wasm_bindgen::{prelude::wasm_bindgen, JsValue};

use crate::{
    call::{return_outcome, whole_or_owned, Failure, InputLayout},
    shared_buffer,
};

thread_local! {
    static OPEN: RefCell<Vec<Option<Exchange>>> = const { RefCell::new(Vec::new()) };
    /// Tool lists of earlier requests, for all exchanges of this instance.
    static LISTS: ToolListCache = ToolListCache::default();
}

/// Opens an exchange for the URL and the body in the shared buffer. The output is the text to be sent. Returns an
/// object with the exchange's `number`, `betas`, `native` and `warning`. The object is empty if the request passes
/// unchanged without an exchange. Errors are returned as by [`crate::call::call`]. [`report_of_exchange`] returns the
/// report.
#[wasm_bindgen(js_name = openExchange)]
pub fn open_exchange(words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome =
        InputLayout { inputs: 2, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, options| {
            let (Some(url), Some(body)) = (texts.first().copied(), texts.get(1).copied()) else {
                return Err(missing_input());
            };
            let options = bindings::options::<ExchangeOptions>(options, Naming::Camel)?;
            let Some(exchange) = LISTS.with(|lists| Exchange::open_cached(url, body, &options, lists))? else {
                return Ok(TextOutput { text: Cow::Borrowed(body), report: Some(Node::empty_object()) });
            };
            let (text, mut facts) = (Cow::Owned(exchange.request().to_owned()), request_facts(&exchange));
            let number =
                OPEN.with_borrow_mut(|open| match open.iter_mut().enumerate().find(|(_, slot)| slot.is_none()) {
                    Some((free, slot)) => {
                        *slot = Some(exchange);
                        free
                    }
                    None => {
                        open.push(Some(exchange));
                        open.len() - 1
                    }
                });
            facts.set("number", Node::count(number as u64));
            Ok(TextOutput { text, report: Some(Node::object(facts)) })
        });
    return_outcome(input, outcome)
}

/// Returns the report of an exchange as JSON text; `undefined` if no exchange has this number. [`open_exchange`] does
/// not return the report, because most hosts never read it. For sixty tools, it is half a megabyte. Passing it took
/// most of the time of a request with a cached list.
#[wasm_bindgen(js_name = reportOfExchange)]
pub fn report_of_exchange(exchange: usize) -> Option<String> {
    OPEN.with_borrow(|open| open.get(exchange).and_then(Option::as_ref).map(report))
}

/// Handles the whole reply in the shared buffer. The output is the reply for the client, or, if the model must be asked
/// again, the next request. Returns an object, which has a `report` in the second case. The result also
/// contains the repaired `calls`, if there are any, as do the results of the functions below.
#[wasm_bindgen(js_name = replyExchange)]
pub fn reply_exchange(exchange: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    on_text(exchange, words, chars, spelled, broken, |reply| {
        with_exchange(exchange, |exchange| match exchange.reply(reply)? {
            Some(text) => Ok(TextOutput { text, report: Some(Node::empty_object()) }),
            None => Ok(next_request(exchange)),
        })
    })
}

/// Handles the piece of a stream in the shared buffer. The output is the text to be passed on.
#[wasm_bindgen(js_name = feedExchange)]
pub fn feed_exchange(exchange: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    on_text(exchange, words, chars, spelled, broken, |piece| {
        let text = with_exchange(exchange, |exchange| Ok(exchange.feed_text(piece)?))?;
        Ok(TextOutput { text: whole_or_owned(text, piece), report: None })
    })
}

/// Handles a piece of a stream of bytes. The shared buffer contains a character for each byte, and so does the output.
#[wasm_bindgen(js_name = feedBytesExchange)]
pub fn feed_bytes_exchange(exchange: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    on_text(exchange, words, chars, spelled, broken, |piece| {
        let bytes: Vec<u8> = piece.chars().map(|byte| byte as u8).collect();
        let out = with_exchange(exchange, |exchange| Ok(exchange.feed_bytes(&bytes)?))?;
        Ok(TextOutput { text: Cow::Owned(bytes_as_chars(&out)), report: None })
    })
}

/// Ends a stream of bytes, like [`finish_exchange`].
#[wasm_bindgen(js_name = finishBytesExchange)]
pub fn finish_bytes_exchange(exchange: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    on_text(exchange, words, chars, spelled, broken, |_| {
        with_exchange(exchange, |exchange| {
            let text = Cow::Owned(bytes_as_chars(&exchange.finish_bytes()?));
            Ok(TextOutput { text, report: Some(facts_about_end(exchange)) })
        })
    })
}

/// Converts the error body in the shared buffer to an error event of a stream of bytes.
#[wasm_bindgen(js_name = failBytesExchange)]
pub fn fail_bytes_exchange(exchange: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    on_text(exchange, words, chars, spelled, broken, |body| {
        with_exchange(exchange, |exchange| {
            Ok(TextOutput { text: Cow::Owned(bytes_as_chars(&exchange.failed_bytes(body))), report: None })
        })
    })
}

fn bytes_as_chars(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Ends a stream. The output is the remaining text. Returns an object, which has the next `request` and its `report` if
/// the model must be asked again.
#[wasm_bindgen(js_name = finishExchange)]
pub fn finish_exchange(exchange: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    on_text(exchange, words, chars, spelled, broken, |_| {
        with_exchange(exchange, |exchange| {
            let text = Cow::Owned(exchange.finish_text()?);
            Ok(TextOutput { text, report: Some(facts_about_end(exchange)) })
        })
    })
}

/// Converts the error body in the shared buffer to an error event, which is the output.
#[wasm_bindgen(js_name = failExchange)]
pub fn fail_exchange(exchange: usize, words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    on_text(exchange, words, chars, spelled, broken, |body| {
        with_exchange(exchange, |exchange| {
            Ok(TextOutput { text: Cow::Owned(exchange.failed_text(body)), report: None })
        })
    })
}

/// Writes an error response in the format of the API that the request's URL belongs to. The shared buffer contains the
/// URL and the error's code, pointer and message. The output is the body of the response.
#[wasm_bindgen(js_name = refuseExchange)]
pub fn refuse_exchange(words: usize, chars: usize, spelled: bool, broken: bool) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 4, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, _| {
        let &[url, code, pointer, message] = texts else { return Err(missing_input()) };
        let code = toolwire::Code::ALL.iter().find(|known| known.as_str() == code).ok_or_else(missing_input)?;
        let error = toolwire::Error::new(*code, pointer, message);
        Ok(TextOutput { text: Cow::Owned(Exchange::refusal(url, &error)), report: None })
    });
    return_outcome(input, outcome)
}

/// Closes an exchange.
#[wasm_bindgen(js_name = closeExchange)]
pub fn close_exchange(exchange: usize) {
    OPEN.with_borrow_mut(|open| {
        if let Some(slot) = open.get_mut(exchange) {
            *slot = None;
        }
    });
}

fn next_request(exchange: &Exchange) -> TextOutput<'static> {
    let (text, facts) = (Cow::Owned(exchange.request().to_owned()), facts_about_next(exchange));
    TextOutput { text, report: Some(Node::object(facts)) }
}

/// Returns the facts about a request that every host needs.
fn request_facts(exchange: &Exchange) -> Object<'static> {
    let mut facts = Object::new();
    facts.set("betas", Node::array(exchange.betas().iter().map(|beta| Node::string(beta.clone())).collect()));
    facts.set("native", Node::string(exchange.native().as_str().to_owned()));
    facts.set("warning", bindings::warning(exchange));
    facts
}

/// Includes the report as JSON text, because the exchange may already be at another request when the report is read.
fn facts_about_next(exchange: &Exchange) -> Object<'static> {
    let mut facts = request_facts(exchange);
    facts.set("report", Node::string(report(exchange)));
    facts
}

/// Returns an empty object if there is no next request.
fn facts_about_end(exchange: &Exchange) -> Node<'static> {
    if !exchange.asks_again() {
        return Node::empty_object();
    }
    let mut facts = facts_about_next(exchange);
    facts.set("request", Node::string(exchange.request().to_owned()));
    Node::object(facts)
}

fn report(exchange: &Exchange) -> String {
    json::write(&bindings::report(exchange))
}

/// Adds the repaired calls and the changes of the answer, if there are any.
fn with_calls(report: Option<Node<'static>>, exchange: usize) -> Option<Node<'static>> {
    let taken = OPEN.with_borrow_mut(|open| {
        let exchange = open.get_mut(exchange)?.as_mut()?;
        Some((exchange.take_repaired_calls(), exchange.take_answer_changes()))
    });
    let taken = taken.filter(|(calls, changes)| !calls.is_empty() || !changes.is_empty());
    let Some((calls, changes)) = taken else { return report };
    let mut report = report.unwrap_or_else(Node::empty_object);
    if let Some(object) = report.as_object_mut() {
        object.set("calls", bindings::repaired_calls(&calls));
        object.set("answerChanges", bindings::answer_changes(&changes));
    }
    Some(report)
}

fn missing_input() -> Failure {
    Failure::Defect("the shared buffer is empty")
}

fn with_exchange<T>(exchange: usize, work: impl FnOnce(&mut Exchange) -> Result<T, Failure>) -> Result<T, Failure> {
    OPEN.with_borrow_mut(|open| {
        work(open.get_mut(exchange).and_then(Option::as_mut).ok_or(Failure::Defect("no exchange with this number"))?)
    })
}

fn on_text(
    exchange: usize,
    words: usize,
    chars: usize,
    spelled: bool,
    broken: bool,
    work: impl for<'a> FnOnce(&'a str) -> Result<TextOutput<'a>, Failure>,
) -> JsValue {
    let (mut input, output) = shared_buffer::take();
    let outcome = InputLayout { inputs: 1, words, chars, spelled }.on_texts(broken, &mut input, output, |texts, _| {
        let result = work(texts.first().copied().ok_or_else(missing_input)?)?;
        Ok(TextOutput { report: with_calls(result.report, exchange), ..result })
    });
    // An exchange in its initial state has nothing to lose.
    let is_at_rest =
        OPEN.with_borrow(|open| open.get(exchange).and_then(Option::as_ref).is_some_and(bindings::is_exchange_at_rest));
    return_outcome(
        input,
        outcome
            .map(|(report, output, flags)| (report, output, flags | if is_at_rest { shared_buffer::RESTS } else { 0 })),
    )
}
