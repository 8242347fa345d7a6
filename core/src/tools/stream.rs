//! A reply in pieces: names restored at once, encoded arguments held back and restored where their call ends.
//!
//! The events of all APIs are told apart by what is in them; which API it is need not be known. Events that hold whole calls
//! (Gemini's, and the closing ones of Responses) are restored like whole replies.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write as _;

use super::{
    calls,
    restore::{own, Ways},
    shape::{remove, set},
};
use crate::{
    error::{Code, Error},
    json::{Data, Node, Text},
    limits::MAX_HELD_BYTES,
    sorted::Map,
};

/// A stream being restored.
#[derive(Debug)]
pub(crate) struct Stream {
    ways: Ways,
    /// The calls whose arguments are held back, by where their pieces say they belong.
    held: Map<String, Held>,
    /// Calls in chunks of Chat Completions of which the first piece was held back just now.
    fresh: Vec<String>,
    /// How much is held back in all.
    bytes: usize,
    pub(super) text: super::sse::Buffer,
}

/// One call's arguments.
#[derive(Debug)]
struct Held {
    /// The name that the API saw.
    name: Text<'static>,
    pieces: String,
    /// An event as it would have been passed on, to carry the whole in place of its piece.
    carrier: Option<Node<'static>>,
}

impl Stream {
    pub(crate) fn new(ways: Ways) -> Stream {
        Stream { ways, held: Map::new(), fresh: Vec::new(), bytes: 0, text: super::sse::Buffer::default() }
    }

    /// What is to be passed on for an event.
    pub(crate) fn feed<'a>(&mut self, mut event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        let is = |name: &str| event.get("type").is_some_and(|kind| kind.is_text(name));
        let mut out = Vec::new();
        if is("content_block_start") || is("response.output_item.added") {
            self.begin(&mut event)?;
        } else if is("content_block_delta") || is("response.function_call_arguments.delta") {
            if self.hold(&event)? {
                return Ok(out);
            }
        } else if is("content_block_stop") {
            out.extend(self.end(&event));
        } else if is("response.function_call_arguments.done") {
            let name = self.held.get(&key(&event)).map(|held| held.name.clone());
            out.extend(self.end(&event));
            if let Some(name) = name {
                event.visit("arguments", |arguments| self.ways.any(&name, arguments)).unwrap_or(Ok(()))?;
            }
            self.rename(&mut event);
        } else if is("response.output_item.done") {
            out.extend(self.end(&event));
            self.in_item(&mut event, "item")?;
        } else if event.get("choices").is_some_and(|choices| choices.as_array().is_some()) {
            if self.chat(&mut event)? {
                return Ok(out);
            }
        } else {
            self.ways.reply(&mut event)?;
        }
        out.push(event);
        Ok(out)
    }

    /// What is still held back: calls that never ended.
    pub(crate) fn finish(&mut self) -> Vec<Node<'static>> {
        let held = core::mem::take(&mut self.held);
        self.bytes = 0;
        held.into_iter().filter_map(|(_, held)| self.carried(held)).collect()
    }

    /// A block or an item begins.
    fn begin(&mut self, event: &mut Node<'_>) -> Result<(), Error> {
        for inner in ["content_block", "item"] {
            let is_call = |item: &Node<'_>| item.get("type").is_some_and(|kind| kind.is_text("tool_use") || kind.is_text("function_call"));
            let called = event.get(inner).filter(|item| is_call(item)).and_then(|item| item.get("name")).and_then(Node::as_text);
            if let Some(name) = called.filter(|name| self.ways.is_encoded(name)) {
                let held = Held { name: name.clone().into_owned(), pieces: String::new(), carrier: None };
                self.held.insert(key(event), held);
            }
            self.in_item(event, inner)?;
        }
        Ok(())
    }

    /// Restores the one call that an event wraps.
    fn in_item(&self, event: &mut Node<'_>, inner: &str) -> Result<(), Error> {
        let mut outcome = Ok(());
        event.visit(inner, |item| {
            let kind = item.get("type").and_then(Node::as_text);
            let arguments = match kind {
                Some(kind) if kind.is("tool_use") => Some("input"),
                Some(kind) if kind.is("function_call") => Some("arguments"),
                Some(kind) if kind.is("custom_tool_call") => None,
                _ => return,
            };
            outcome = self.ways.site(calls::Site { node: item, name: "name", arguments });
        });
        outcome
    }

    fn rename(&self, event: &mut Node<'_>) {
        if let Some(name) = event.get("name").and_then(Node::as_text).map(|name| name.clone().into_owned()) {
            self.ways.rename(&name, event, "name");
        }
    }

    /// Holds a piece back, if it belongs to a call whose arguments have to be restored.
    fn hold(&mut self, event: &Node<'_>) -> Result<bool, Error> {
        let Some(held) = self.held.get_mut(&key(event)) else { return Ok(false) };
        let piece = match event.get("delta").map(Node::data) {
            Some(Data::String(piece)) => piece,
            Some(Data::Object(delta)) => match delta.get("partial_json").and_then(Node::as_text) {
                Some(piece) => piece,
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        add(&mut held.pieces, piece, &mut self.bytes)?;
        held.carrier = Some(own(event.clone()));
        Ok(true)
    }

    /// A call ends: the event that carries its arguments, if any were held back.
    fn end(&mut self, event: &Node<'_>) -> Option<Node<'static>> {
        let held = self.held.remove(&key(event))?;
        self.bytes = self.bytes.saturating_sub(held.pieces.len());
        self.carried(held)
    }

    fn carried(&self, held: Held) -> Option<Node<'static>> {
        let Held { name, pieces, carrier } = held;
        let mut carrier = carrier?;
        let whole = self.ways.text(&name, &pieces).unwrap_or(pieces);
        if carrier.get("choices").is_some() {
            // A chunk of Chat Completions was made to carry exactly this call.
            calls::each(&mut carrier, "choices", &mut |choice| {
                choice.visit("delta", |delta| {
                    calls::each(delta, "tool_calls", &mut |call| {
                        call.visit("function", |function| set(function, "arguments", Node::string(whole.clone())));
                    });
                });
            });
        } else if carrier.get("delta").is_some_and(|delta| delta.as_text().is_some()) {
            set(&mut carrier, "delta", Node::string(whole));
        } else {
            carrier.visit("delta", |delta| set(delta, "partial_json", Node::string(whole)));
        }
        Some(carrier)
    }

    /// A chunk of Chat Completions. Tells whether nothing is left of it.
    fn chat(&mut self, event: &mut Node<'_>) -> Result<bool, Error> {
        let mut outcome = Ok(false);
        let mut nothing_left = event.get("usage").is_none_or(Node::is_null);
        calls::each(event, "choices", &mut |choice| {
            let number = choice.get("index").and_then(Node::as_u64).unwrap_or_default();
            match self.choice(choice, number) {
                Ok(held) => outcome = outcome.clone().map(|before| before || held),
                Err(error) => outcome = Err(error),
            }
            let says = |key: &str| choice.get(key).is_some_and(|value| !value.is_null());
            let delta = choice.get("delta").and_then(Node::as_object);
            let empty = delta.is_none_or(|delta| delta.iter().all(|member| member.key.is("role") || member.value.is_null()));
            nothing_left &= empty && !says("finish_reason") && !says("message");
        });
        let held = outcome?;
        if held {
            self.give_carriers(event);
        }
        Ok(held && nothing_left)
    }

    /// A choice of a chunk. Tells whether something was held back.
    fn choice(&mut self, choice: &mut Node<'_>, number: u64) -> Result<bool, Error> {
        // Some servers send whole messages as chunks.
        choice.visit("message", |message| self.ways.reply(message)).unwrap_or(Ok(()))?;
        let (mut outcome, mut withheld) = (Ok(()), false);
        let (mut place, mut gone) = (0_u64, Vec::new());
        choice.visit("delta", |delta| {
            calls::each(delta, "tool_calls", &mut |call| {
                match self.call(call, &format!("{number}/"), place) {
                    Ok(Piece::Passes) => {}
                    Ok(Piece::Held { alone }) => {
                        withheld = true;
                        if alone {
                            gone.push(place);
                        }
                    }
                    Err(error) => outcome = Err(error),
                }
                place += 1;
            });
            if gone.is_empty() {
                return;
            }
            delta.visit("tool_calls", |list| {
                let (mut at, mut gone) = (0_u64, gone.into_iter().peekable());
                list.as_array_mut().into_iter().for_each(|list| {
                    list.retain(|_| {
                        let goes = gone.next_if_eq(&at).is_some();
                        at += 1;
                        !goes
                    });
                });
            });
            if delta.get("tool_calls").and_then(Node::as_array).is_some_and(<[Node<'_>]>::is_empty) {
                remove(delta, "tool_calls");
            }
        });
        outcome?;
        if choice.get("finish_reason").is_some_and(|reason| !reason.is_null()) {
            self.close(choice, number);
        }
        Ok(withheld)
    }

    /// An entry of `tool_calls` in a chunk.
    fn call(&mut self, call: &mut Node<'_>, choice: &str, place: u64) -> Result<Piece, Error> {
        let number = call.get("index").and_then(Node::as_u64).unwrap_or(place);
        let key = format!("{choice}{number}");
        let name = call.get("function").and_then(|function| function.get("name")).and_then(Node::as_text);
        if let Some(name) = name.filter(|name| self.ways.is_encoded(name)) {
            let name = name.clone().into_owned();
            self.held.entry(key.clone()).or_insert_with(|| Held { name, pieces: String::new(), carrier: None });
        }
        let alone = name.is_none_or(Text::is_empty) && call.get("id").is_none_or(Node::is_null);
        for inner in ["function", "custom"] {
            call.visit(inner, |function| self.rename(function));
        }
        let Some(held) = self.held.get_mut(&key) else { return Ok(Piece::Passes) };
        let piece = call.get("function").and_then(|function| function.get("arguments")).and_then(Node::as_text);
        let Some(piece) = piece.filter(|piece| !piece.is_empty()) else { return Ok(Piece::Passes) };
        if held.pieces.is_empty() {
            self.fresh.push(key);
        }
        add(&mut held.pieces, piece, &mut self.bytes)?;
        call.visit("function", |function| set(function, "arguments", Node::string("")));
        Ok(Piece::Held { alone })
    }

    /// A choice is finished: its calls get their arguments in this very chunk.
    fn close(&mut self, choice: &mut Node<'_>, number: u64) {
        let prefix = format!("{number}/");
        let keys: Vec<String> = self.held.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
        for key in keys {
            let Some(held) = self.held.remove(&key) else { continue };
            self.bytes = self.bytes.saturating_sub(held.pieces.len());
            if held.pieces.is_empty() {
                continue;
            }
            let index = key.rsplit('/').next().and_then(|index| index.parse().ok()).unwrap_or_default();
            let whole = self.ways.text(&held.name, &held.pieces).unwrap_or(held.pieces);
            if choice.get("delta").is_none_or(|delta| delta.as_object().is_none()) {
                set(choice, "delta", Node::empty_object());
            }
            choice.visit("delta", |delta| put(delta, index, whole));
        }
    }

    /// Makes, for every call that a chunk held back a piece of, a chunk that could carry the whole.
    fn give_carriers(&mut self, event: &Node<'_>) {
        for key in core::mem::take(&mut self.fresh) {
            let (choice, index) = key.split_once('/').unwrap_or_default();
            let numbers = (choice.parse().unwrap_or_default(), index.parse().unwrap_or_default());
            if let Some(held) = self.held.get_mut(&key) {
                held.carrier = Some(carrier(event, numbers));
            }
        }
    }
}

/// What became of an entry of `tool_calls`.
enum Piece {
    Passes,
    /// Its arguments were held back; `alone`: there was nothing else in it.
    Held {
        alone: bool,
    },
}

/// Where the pieces of a call say they belong: the place of a block (Anthropic) or of an item (Responses).
fn key(event: &Node<'_>) -> String {
    let place = event.get("output_index").or_else(|| event.get("index"));
    place.and_then(Node::as_number).unwrap_or_default().into()
}

fn add(pieces: &mut String, piece: &Text<'_>, bytes: &mut usize) -> Result<(), Error> {
    let before = pieces.len();
    for point in piece.code_points() {
        match char::from_u32(point) {
            Some(one) => pieces.push(one),
            // Half of a surrogate pair, whose other half is in the next piece: inside JSON text its escape says the same.
            None => {
                // Writing into a String cannot fail.
                let _ = write!(pieces, "\\u{point:04x}");
            }
        }
    }
    *bytes += pieces.len() - before;
    if *bytes > MAX_HELD_BYTES {
        let message = format!("expected the arguments of all open calls to be at most {MAX_HELD_BYTES} bytes, found more");
        return Err(Error::new(Code::LimitExceeded, "", message));
    }
    Ok(())
}

/// Gives a call its arguments in a chunk: in its entry, or in one of its own.
fn put(delta: &mut Node<'_>, index: u64, whole: String) {
    let mut whole = Some(whole);
    calls::each(delta, "tool_calls", &mut |call| {
        if call.get("index").and_then(Node::as_u64) == Some(index) {
            call.visit("function", |function| {
                if let Some(whole) = whole.take() {
                    set(function, "arguments", Node::string(whole));
                }
            });
        }
    });
    let Some(whole) = whole else { return };
    let call = Node::record([("index", Node::count(index)), ("function", Node::record([("arguments", Node::string(whole))]))]);
    if delta.get("tool_calls").and_then(Node::as_array).is_none() {
        set(delta, "tool_calls", Node::array(Vec::new()));
    }
    delta.visit("tool_calls", |list| list.as_array_mut().map(|list| list.push(call)));
}

/// A chunk like this one with one call in it.
fn carrier(event: &Node<'_>, (choice, index): (u64, u64)) -> Node<'static> {
    let mut made = own(event.clone());
    let call = Node::record([("index", Node::count(index)), ("function", Node::record([("arguments", Node::string(""))]))]);
    let choice = Node::record([
        ("index", Node::count(choice)),
        ("delta", Node::record([("tool_calls", Node::array(Vec::from([call])))])),
        ("finish_reason", Node::default()),
    ]);
    set(&mut made, "choices", Node::array(Vec::from([choice])));
    made
}
