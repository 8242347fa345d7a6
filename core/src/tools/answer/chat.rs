//! Converts the streams of Chat Completions and Cohere Chat v2 if a call is the answer. Pieces of the first call to the
//! function that replaces the response format become pieces of the content.

use alloc::{string::String, vec::Vec};

use super::{
    call::{self, is_call_of, is_not_blank, is_text, text_part, Calls, Dropped, Gone, Place},
    queue::Queue,
    text::{is_text_part, restored, Answer},
};
use crate::{
    collections::Map,
    error::Error,
    json::{self, Node, Text},
    tools::{
        call_sites::each,
        streams::{
            buffered_calls::{append, pay, CALL},
            text::{Carrier, Slot},
        },
    },
};

/// State of all choices of a stream.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    known: Map<u64, Choice>,
    /// True if a choice has an answer.
    pub(crate) is_answered: bool,
    /// The kinds of content that were dropped because of an answer.
    pub(crate) dropped: Dropped,
    /// Choices of the current event with calls whose names are not known yet.
    nameless: Vec<u64>,
    cost: usize,
}

#[derive(Debug, Default)]
struct Choice {
    calls: Calls,
    /// The last call at each index.
    slots: Map<u64, Begun>,
    /// Indices of the calls that are hidden from the client.
    gone: Gone,
    /// Buffered text, which is dropped if an answer follows.
    buffered: String,
    /// Event that can carry the buffered text.
    carrier: Option<Carrier>,
    /// Event that can carry calls whose names remain unknown.
    chunk: Option<Node<'static>>,
}

/// A call that has started.
#[derive(Debug)]
enum Begun {
    /// A call to the function. The first such call is the answer.
    Answer { id: Option<Text<'static>>, is_first: bool },
    /// A call that is passed on to the client.
    Other,
    /// Pieces of a call whose name is not known yet.
    Nameless(Node<'static>),
}

/// Treatment of a piece of a call.
enum Handling {
    Same,
    /// This call is passed on in place of the piece.
    Changed(Node<'static>),
    /// The piece is part of the answer, with this text.
    Answer(String),
    Nothing,
}

impl Choices {
    /// Converts the calls of an event.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn feed(&mut self, event: &mut Node<'_>, answer: &Answer) -> Result<(), Error> {
        let mut carrier = None;
        if answer.is_only {
            let mut chunk = event.detached();
            // The event itself is passed on with its usage.
            ["choices", "usage"].into_iter().for_each(|key| drop(chunk.remove(key)));
            carrier = Some(Carrier::new(chunk, Slot::Choice(0)));
        }
        let mut outcome = Ok(());
        each(event, "choices", &mut |choice| {
            if outcome.is_ok() {
                outcome = self.choice(choice, answer, carrier.as_ref());
            }
        });
        for number in core::mem::take(&mut self.nameless) {
            let mut chunk = event.detached();
            ["choices", "usage"].into_iter().for_each(|key| drop(chunk.remove(key)));
            if let Some(known) = self.known.get_mut(&number) {
                known.chunk = Some(chunk);
            }
        }
        outcome
    }

    /// Returns true if no choice has state.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the text and the calls that are still buffered at the end of a stream.
    pub(crate) fn left(&mut self) -> Vec<Node<'static>> {
        self.cost = 0;
        let mut left = Vec::new();
        for (number, mut known) in core::mem::take(&mut self.known) {
            let text = core::mem::take(&mut known.buffered);
            left.extend(known.carrier.take().filter(|_| !text.is_empty()).map(|carrier| carrier.with(text)));
            let mut calls = Vec::new();
            if known.take_nameless(&mut calls) {
                let mut chunk = known.chunk.take().unwrap_or_else(Node::empty_object);
                let choice = Node::record([
                    ("index", Node::count(number)),
                    ("delta", Node::record([("tool_calls", Node::array(calls))])),
                    ("finish_reason", Node::default()),
                ]);
                chunk.set("choices", Node::array(Vec::from([choice])));
                left.push(chunk);
            }
        }
        left
    }

    fn choice(&mut self, choice: &mut Node<'_>, answer: &Answer, carrier: Option<&Carrier>) -> Result<(), Error> {
        let number = choice.u64_at("index").unwrap_or_default();
        let whole = choice.visit("message", |message| call::answer_in_message(message, answer, false));
        let list = choice.get("delta").and_then(|delta| delta.get("tool_calls")?.as_array()).unwrap_or_default();
        if !self.known.contains_key(&number) {
            if list.is_empty() && whole.is_none() && carrier.is_none() {
                return Ok(());
            }
            pay(&mut self.cost, CALL)?;
        }
        let known = self.known.entry(number).or_default();
        known.calls.add(whole.unwrap_or_default());
        let (mut text, mut calls, mut is_changed) = (None, Vec::new(), false);
        for (at, call) in list.iter().enumerate() {
            let index = call.u64_at("index").unwrap_or(at as u64);
            let handling = known.sort(index, call, answer, &mut self.cost)?;
            if let (Handling::Nothing, Some(Begun::Nameless(_)), None) =
                (&handling, known.slots.get(&index), &known.chunk)
            {
                self.nameless.push(number);
            }
            is_changed |= !matches!(handling, Handling::Same) || known.gone.before(index) > 0;
            match handling {
                Handling::Same => calls.push(known.renumbered(index, call.detached())),
                Handling::Changed(call) => calls.push(known.renumbered(index, call)),
                Handling::Answer(piece) => text.get_or_insert_with(String::new).push_str(&piece),
                Handling::Nothing => {}
            }
        }
        let ends = choice.get("finish_reason").is_some_and(|reason| !reason.is_null());
        is_changed |= ends && known.take_nameless(&mut calls);
        if is_changed {
            set_calls(choice, calls);
        }
        if known.calls.has_answer {
            self.is_answered = true;
            let content = choice.get("delta").and_then(|delta| delta.get("content"));
            let mut beside = is_not_blank(content) || !known.buffered.trim().is_empty();
            for part in content.and_then(Node::as_array).unwrap_or_default() {
                beside |= is_text(part) && is_not_blank(part.get("text"));
            }
            known.calls.dropped.text |= beside;
            self.dropped.add(known.calls.dropped);
            (known.buffered, known.carrier) = (String::new(), None);
            choice.visit("delta", |delta| set_piece(delta, text));
        } else if let Some(carrier) = carrier {
            let before = known.buffered.len();
            choice.visit("delta", |delta| take_text(delta, &mut known.buffered));
            pay(&mut self.cost, known.buffered.len() - before)?;
            known.carrier = Some(carrier.at(Slot::Choice(number)));
            if ends && !known.buffered.is_empty() {
                let whole = core::mem::take(&mut known.buffered);
                if choice.get("delta").is_none_or(|delta| delta.as_object().is_none()) {
                    choice.set("delta", Node::empty_object());
                }
                choice.visit("delta", |delta| set_piece(delta, Some(whole)));
            }
        }
        call::set_end(choice, known.calls);
        Ok(())
    }
}

impl Choice {
    /// Decides how to handle a piece of the call at an index.
    fn sort(&mut self, index: u64, call: &Node<'_>, answer: &Answer, cost: &mut usize) -> Result<Handling, Error> {
        let text = |node: Option<&Node<'_>>| {
            node.and_then(Node::as_text).filter(|text| !text.is_empty()).cloned().map(Text::into_owned)
        };
        let function = call.get("function").filter(|function| function.as_object().is_some());
        let (name, id) = (text(function.and_then(|function| function.get("name"))), text(call.get("id")));
        let is_answer = function.is_some_and(|function| is_call_of(function, answer));
        // A different name, or the same name with a different id, starts another call. Some servers repeat both in
        // every piece.
        let is_other_id = |known: &Option<Text<'static>>| id.is_some() && known.is_some() && id != *known;
        match self.slots.get(&index) {
            // Some servers assign a different id to every piece.
            Some(Begun::Answer { id: known, is_first })
                if function.is_some() && (name.is_none() || is_answer && !is_other_id(known)) =>
            {
                return Ok(if *is_first { Handling::Answer(piece_of(call, answer)) } else { Handling::Nothing });
            }
            Some(Begun::Other) if name.is_none() => return Ok(Handling::Same),
            _ => {}
        }
        if !self.slots.contains_key(&index) {
            pay(cost, CALL)?;
        }
        let (mut whole, mut is_merged) = (None, false);
        if let Some(Begun::Nameless(before)) = self.slots.get(&index) {
            (whole, is_merged) = (Some(merged(before, call)), true);
        }
        if name.is_none() && function.is_some() {
            let buffered = whole.unwrap_or_else(|| call.detached());
            pay(cost, json::length(call))?;
            self.slots.insert(index, Begun::Nameless(buffered));
            return Ok(Handling::Nothing);
        }
        if is_answer {
            let is_first = !self.calls.has_answer;
            self.calls.has_answer = true;
            self.calls.dropped.calls |= !is_first;
            self.gone.insert(index);
            self.slots.insert(index, Begun::Answer { id, is_first });
            let piece = || piece_of(whole.as_ref().unwrap_or(call), answer);
            return Ok(if is_first { Handling::Answer(piece()) } else { Handling::Nothing });
        }
        self.calls.has_others = true;
        self.slots.insert(index, Begun::Other);
        Ok(match whole.filter(|_| is_merged) {
            Some(whole) => Handling::Changed(whole),
            None => Handling::Same,
        })
    }

    /// Appends the calls whose names remain unknown to the calls of an event. Returns true if there are any.
    fn take_nameless(&mut self, calls: &mut Vec<Node<'static>>) -> bool {
        let known = core::mem::take(&mut self.slots);
        let before = calls.len();
        for (index, call) in known {
            match call {
                Begun::Nameless(call) => {
                    self.calls.has_others = true;
                    calls.push(self.renumbered(index, call));
                    self.slots.insert(index, Begun::Other);
                }
                known => drop(self.slots.insert(index, known)),
            }
        }
        calls.len() > before
    }

    /// Returns a call with its index among the calls that the client sees.
    fn renumbered(&self, index: u64, mut call: Node<'static>) -> Node<'static> {
        let before = self.gone.before(index);
        if before > 0 && call.get("index").is_some() {
            call.set("index", Node::count(index - before));
        }
        call
    }
}

fn piece_of(call: &Node<'_>, answer: &Answer) -> String {
    answer.text_of(call.get("function").and_then(|function| function.get("arguments")), Place::Text)
}

/// Merges two pieces of one call.
fn merged(before: &Node<'static>, call: &Node<'_>) -> Node<'static> {
    let mut whole = before.clone();
    for member in call.as_object().into_iter().flatten() {
        if member.key.is("function") {
            let mut arguments = String::new();
            for part in [before.get("function"), Some(&member.value)].into_iter().flatten() {
                part.text_at("arguments").into_iter().for_each(|text| append(&mut arguments, text));
            }
            let mut function = member.value.detached();
            function.set("arguments", Node::string(arguments));
            whole.set("function", function);
        } else if !member.value.is_null() {
            let key = member.key.clone().into_owned();
            whole.as_object_mut().into_iter().for_each(|whole| whole.set(key.clone(), member.value.detached()));
        }
    }
    whole
}

/// Sets the calls of a choice.
fn set_calls(choice: &mut Node<'_>, calls: Vec<Node<'static>>) {
    if choice.get("delta").is_none_or(|delta| delta.as_object().is_none()) {
        choice.set("delta", Node::empty_object());
    }
    choice.visit("delta", |delta| {
        if calls.is_empty() {
            delta.remove("tool_calls");
        } else {
            delta.set("tool_calls", Node::array(calls));
        }
    });
}

/// Replaces the text of a delta.
fn set_piece(delta: &mut Node<'_>, text: Option<String>) {
    if delta.get("content").is_some_and(|content| content.as_array().is_some()) {
        delta.visit("content", |parts| {
            parts.as_array_mut().map(|parts| {
                parts.retain(|part| !is_text(part));
                parts.extend(text.map(|text| text_part("text", text)));
            })
        });
    } else if let Some(text) = text {
        delta.set("content", Node::string(text));
    } else if delta.text_at("content").is_some_and(|text| !text.is_empty()) {
        delta.remove("content");
    }
}

/// Moves the text of a delta to the buffered text.
fn take_text(delta: &mut Node<'_>, buffered: &mut String) {
    let Some(content) = delta.get("content") else { return };
    if let Some(parts) = content.as_array() {
        let texts = parts.iter().filter(|part| is_text(part)).filter_map(|part| part.get("text")?.as_text());
        texts.for_each(|text| append(buffered, text));
    } else if let Some(text) = content.as_text() {
        append(buffered, text);
    }
    set_piece(delta, None);
}

/// State of the calls and the text of a Cohere stream.
#[derive(Debug, Default)]
pub(crate) struct Cohere {
    /// The calls that have started, by index.
    calls: Map<u64, BegunCall>,
    gone: Gone,
    /// Index of the next content for the client.
    next: u64,
    /// Treatment of the current content's events.
    open: Open,
    /// Buffered pieces of the answer, if its arguments have to be restored.
    pieces: String,
}

/// Treatment of a content's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    /// The events are passed on: the content is not text (for example a thought), or its text is not buffered.
    #[default]
    Passes,
    /// The events are buffered: the content is text that is dropped if an answer follows.
    Buffered,
    /// The events are hidden from the client.
    Hidden,
}

/// A call that has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BegunCall {
    /// The answer, with the index of its content.
    Answer(u64),
    /// A later call to the function.
    Second,
    Other,
}

impl Cohere {
    /// Returns true if there was neither a call nor text.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.gone.is_empty() && self.next == 0
    }

    /// Returns the buffered answer, if its call never ended.
    ///
    /// # Errors
    /// `budget-exceeded`.
    pub(crate) fn left(&mut self, answer: &Answer) -> Result<Option<Node<'static>>, Error> {
        let open =
            self.calls.values().find_map(|call| if let BegunCall::Answer(text) = call { Some(*text) } else { None });
        open.map_or(Ok(None), |text| self.whole(text, answer))
    }

    /// Removes the buffered pieces of the answer. Returns an event with the whole answer, if there were any pieces.
    fn whole(&mut self, text: u64, answer: &Answer) -> Result<Option<Node<'static>>, Error> {
        let pieces = core::mem::take(&mut self.pieces);
        if pieces.is_empty() {
            return Ok(None);
        }
        let whole = restored(Some(answer), &pieces);
        whole.failure.map_or(Ok(()), Err)?;
        Ok(Some(content("content-delta", text, Some(whole.text.unwrap_or(pieces)), false)))
    }

    /// Processes an event of a content or a call. Returns every other event, including those that end the reply.
    ///
    /// # Errors
    /// `limit-exceeded`, and `budget-exceeded` if the answer cannot be restored.
    pub(crate) fn feed<'a>(
        &mut self,
        mut event: Node<'a>,
        answer: &Answer,
        queue: &mut Queue,
        out: &mut Vec<Node<'a>>,
    ) -> Result<Option<Node<'a>>, Error> {
        const CALL_PREFIX: &str = "tool-call-";
        const TEXT_PREFIX: &str = "content-";
        let kind = event.text_at("type").and_then(Text::value);
        let Some(kind) = kind else { return Ok(Some(event)) };
        let index = event.u64_at("index").unwrap_or_default();
        if let Some(part) = kind.strip_prefix(TEXT_PREFIX) {
            if part == "start" {
                let is_text = is_text_start(&event);
                self.open = match (is_text, queue.calls.has_answer) {
                    (true, true) => Open::Hidden,
                    (true, false) if queue.buffers(answer) => Open::Buffered,
                    _ => Open::Passes,
                };
                if self.open == Open::Passes {
                    self.next = self.next.max(index.saturating_add(1));
                }
            }
            match self.open {
                Open::Hidden => queue.note_text(&event),
                Open::Buffered => queue.hold(&event, true)?,
                Open::Passes if queue.is_holding() => queue.hold(&event, false)?,
                Open::Passes => out.push(event),
            }
            return Ok(None);
        }
        let Some(part) = kind.strip_prefix(CALL_PREFIX) else { return Ok(Some(event)) };
        if part == "start" {
            self.begin(&event, index, answer, queue, out)?;
        }
        match self.calls.get(&index).copied() {
            Some(BegunCall::Answer(text)) => {
                let mut piece = String::new();
                let arguments = function(&event).and_then(|function| function.get("arguments")?.as_text());
                arguments.into_iter().for_each(|text| append(&mut piece, text));
                if !answer.plan.is_empty() {
                    pay(&mut queue.cost, piece.len())?;
                    self.pieces.push_str(&piece);
                } else if !piece.is_empty() {
                    out.push(content("content-delta", text, Some(piece), false));
                }
                if part == "end" {
                    out.extend(self.whole(text, answer)?);
                    out.push(content("content-end", text, None, false));
                    self.calls.remove(&index);
                }
            }
            Some(BegunCall::Second) => {}
            Some(BegunCall::Other) | None => {
                let before = self.gone.before(index);
                if before > 0 {
                    event.set("index", Node::count(index - before));
                }
                out.push(event);
            }
        }
        Ok(None)
    }

    fn begin<'a>(
        &mut self,
        event: &Node<'a>,
        index: u64,
        answer: &Answer,
        queue: &mut Queue,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if !self.calls.contains_key(&index) {
            pay(&mut queue.cost, CALL)?;
        }
        let is_answer = function(event).is_some_and(|function| is_call_of(function, answer));
        let begun = match (is_answer, queue.calls.has_answer) {
            (false, _) => {
                queue.calls.has_others = true;
                queue.release(out);
                BegunCall::Other
            }
            (true, true) => {
                queue.calls.dropped.calls = true;
                BegunCall::Second
            }
            (true, false) => {
                queue.calls.has_answer = true;
                queue.release_without_texts(out);
                let text = self.next;
                out.push(content("content-start", text, Some(String::new()), true));
                BegunCall::Answer(text)
            }
        };
        if begun != BegunCall::Other {
            self.gone.insert(index);
        }
        self.calls.insert(index, begun);
        Ok(())
    }
}

/// Returns a content event.
fn content(kind: &'static str, index: u64, text: Option<String>, has_type: bool) -> Node<'static> {
    let mut event = Node::record([("type", Node::literal(kind)), ("index", Node::count(index))]);
    if let Some(text) = text {
        let mut content = Node::empty_object();
        if has_type {
            content.set("type", Node::literal("text"));
        }
        content.set("text", Node::string(text));
        event.set("delta", Node::record([("message", Node::record([("content", content)]))]));
    }
    event
}

/// Returns true if an event starts text, not a thought.
fn is_text_start(event: &Node<'_>) -> bool {
    let content = event.get("delta").and_then(|delta| delta.get("message")?.get("content"));
    content.is_none_or(is_text_part)
}

/// Returns the function in an event of a call.
fn function<'n, 'a>(event: &'n Node<'a>) -> Option<&'n Node<'a>> {
    event.get("delta")?.get("message")?.get("tool_calls")?.get("function")
}
