//! Converts the streams of Cohere Chat v2 if a call contains the structured output.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Map,
    error::Error,
    json::{Node, Text},
    reply::answer::{
        call::{is_call_of, HiddenIndices},
        queue::{Held, Queue},
        text::{restore_text, Answer},
    },
    reply::streams::buffered_calls::{append, pay, CALL},
    wire::reply::is_text_part,
};

#[derive(Debug, Default)]
pub(crate) struct Cohere {
    calls: Map<u64, BegunCall>,
    hidden_indices: HiddenIndices,
    /// Index of the next content for the client.
    next: u64,
    open: Open,
    /// Buffered pieces of the structured output, if its arguments have to be restored.
    pieces: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    /// The events are passed on: the content is not text (for example a thought), or its text is not buffered.
    #[default]
    Passes,
    /// The events are buffered: the content is text that is dropped if structured output follows.
    Buffered,
    /// The events are hidden from the client.
    Hidden,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BegunCall {
    /// The structured output, with the index of its content.
    Answer(u64),
    /// A later call to the function.
    Second,
    Other,
}

impl Cohere {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.hidden_indices.is_empty() && self.next == 0
    }

    /// Returns the buffered structured output, if its call never ended.
    pub(crate) fn finish(&mut self, answer: &Answer) -> Result<Option<Node<'static>>, Error> {
        let open =
            self.calls.values().find_map(|call| if let BegunCall::Answer(text) = call { Some(*text) } else { None });
        open.map_or(Ok(None), |text| self.whole(text, answer))
    }

    fn whole(&mut self, text: u64, answer: &Answer) -> Result<Option<Node<'static>>, Error> {
        let pieces = core::mem::take(&mut self.pieces);
        if pieces.is_empty() {
            return Ok(None);
        }
        let whole = restore_text(Some(answer), &pieces);
        whole.failure.map_or(Ok(()), Err)?;
        Ok(Some(content("content-delta", text, Some(whole.text.unwrap_or(pieces)), false)))
    }

    /// Processes an event of a content or a call. Returns any other event.
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
                Open::Hidden => queue.record_text(&event),
                Open::Buffered => queue.hold(&event, Held::Text)?,
                Open::Passes if queue.is_holding() => queue.hold(&event, Held::Other)?,
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
                let before = self.hidden_indices.count_before(index);
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
        let is_answer = function(event).is_some_and(|function| is_call_of(function, "name", answer));
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
            self.hidden_indices.insert(index);
        }
        self.calls.insert(index, begun);
        Ok(())
    }
}

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

fn is_text_start(event: &Node<'_>) -> bool {
    let content = event.get("delta").and_then(|delta| delta.get("message")?.get("content"));
    content.is_none_or(is_text_part)
}

fn function<'n, 'a>(event: &'n Node<'a>) -> Option<&'n Node<'a>> {
    event.get("delta")?.get("message")?.get("tool_calls")?.get("function")
}
