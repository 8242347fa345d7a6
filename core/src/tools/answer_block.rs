//! One call to the function that replaces a response format, and the text that the call becomes.

use alloc::{string::String, vec::Vec};

use super::{
    answer::{restored, Answer},
    answer_parts::is_text_part,
    buffered_calls::append,
};
use crate::{
    json::{self, Node},
    report::AnswerChange,
    request::tool::has_type,
};

/// The calls of a reply or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    /// True if one of them is the answer.
    pub(super) has_answer: bool,
    /// True if one of them calls another function.
    pub(super) has_others: bool,
    /// Content that is dropped because of the answer.
    pub(super) dropped: Dropped,
}

/// Kinds of content that are dropped from a reply because of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dropped {
    /// True if text that is not blank is dropped.
    pub(super) text: bool,
    /// True if later calls to the function are dropped.
    pub(super) calls: bool,
}

impl Dropped {
    pub(super) fn add(&mut self, other: Dropped) {
        self.text |= other.text;
        self.calls |= other.calls;
    }

    pub(super) fn changes(self) -> impl Iterator<Item = AnswerChange> {
        let found = [(self.text, AnswerChange::DropText), (self.calls, AnswerChange::DropCall)];
        found.into_iter().filter(|(is_dropped, _)| *is_dropped).map(|(_, change)| change)
    }
}

impl Calls {
    pub(super) const ANSWER: Calls =
        Calls { has_answer: true, has_others: false, dropped: Dropped { text: false, calls: false } };
    pub(super) const OTHER: Calls = Calls { has_answer: false, has_others: true, ..Calls::ANSWER };

    pub(super) fn add(&mut self, other: Calls) {
        self.has_answer |= other.has_answer;
        self.has_others |= other.has_others;
        self.dropped.add(other.dropped);
    }

    /// Returns true if the reply has an answer, and no call that the client has to answer.
    pub(super) const fn ends_with_answer(self) -> bool {
        self.has_answer && !self.has_others
    }
}

/// Indices of the calls and blocks of a stream that are hidden from the client.
#[derive(Debug, Default)]
pub(super) struct Gone(Vec<u64>);

impl Gone {
    /// Maximum number of recorded indices. No model calls one function more often in one reply. If one does, later
    /// indices have gaps.
    const MAX_INDICES: usize = 256;

    pub(super) fn insert(&mut self, index: u64) {
        let at = self.0.partition_point(|known| *known < index);
        if self.0.get(at) != Some(&index) && self.0.len() < Gone::MAX_INDICES {
            self.0.insert(at, index);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of hidden indices before an index.
    pub(super) fn before(&self, index: u64) -> u64 {
        self.0.partition_point(|known| *known < index) as u64
    }
}

/// Position of a call, which determines the form of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The arguments are a string with JSON text.
    Text,
    /// The arguments are a value.
    Value,
}

/// Returns true for a restored call to the function. A tool of a server or of a namespace is another tool.
pub(super) fn is_call_of(call: &Node<'_>, answer: &Answer) -> bool {
    call.get("name").is_some_and(|own| answer.tool.as_deref().is_some_and(|name| own.is_text(name)))
        && ["server", "namespace", "index"].iter().all(|key| call.get(key).is_none_or(Node::is_null))
}

/// Returns true for a part or a block with text of the answer.
pub(super) fn is_text(part: &Node<'_>) -> bool {
    part.get("text").is_some_and(|text| text.as_text().is_some()) && is_text_part(part)
}

/// Returns true for text that is not blank.
pub(super) fn is_not_blank(text: Option<&Node<'_>>) -> bool {
    text.and_then(Node::as_text).is_some_and(|text| text.chars().chars().any(|one| !one.is_whitespace()))
}

pub(super) fn text_part(kind: &'static str, text: String) -> Node<'static> {
    Node::record([("type", Node::literal(kind)), ("text", Node::string(text))])
}

/// Returns the member that contains the call of a Converse block or of a Gemini part.
fn holder_of(block: &Node<'_>) -> Option<&'static str> {
    let is_call = |key: &&str| block.get(*key).is_some_and(|call| call.as_object().is_some());
    ["toolUse", "functionCall", "function_call"].into_iter().find(is_call)
}

fn call_of<'n, 'a>(block: &'n Node<'a>) -> Option<&'n Node<'a>> {
    match holder_of(block) {
        Some(key) => block.get(key),
        None => has_type(block, "tool_use").then_some(block),
    }
}

/// Returns true for a block or a part that is a complete call to the function.
pub(super) fn is_answer_block(block: &Node<'_>, answer: &Answer) -> bool {
    // The arguments of a call that continues in another event are not complete.
    let is_part = |call: &Node<'_>| ["partialArgs", "willContinue"].iter().any(|key| call.get(*key).is_some());
    call_of(block).is_some_and(|call| !is_part(call) && is_call_of(call, answer))
}

/// Converts a block of Anthropic or Converse, or a part of Gemini, to text if it is a call to the function.
pub(super) fn in_block(block: &mut Node<'_>, answer: &Answer) -> Calls {
    let Some(call) = call_of(block) else { return Calls::default() };
    if !is_answer_block(block, answer) {
        return Calls::OTHER;
    }
    let arguments = ["input", "args"].into_iter().find_map(|key| call.get(key));
    let text = answer.text_of(arguments, Place::Value);
    as_text_block(block, text);
    Calls::ANSWER
}

/// Converts a block with a call to a block with text.
pub(super) fn as_text_block(block: &mut Node<'_>, text: String) {
    match holder_of(block) {
        // Signatures of thoughts are siblings of the call, and are kept.
        Some(key) => drop(block.remove(key)),
        None => {
            ["id", "name", "input", "caller"].into_iter().for_each(|key| drop(block.remove(key)));
            block.set("type", Node::literal("text"));
        }
    }
    block.set("text", Node::string(text));
}

impl Answer {
    /// Returns restored arguments as text. Truncated text is restored as far as it is complete.
    pub(super) fn text_of(&self, arguments: Option<&Node<'_>>, place: Place) -> String {
        match (arguments, place) {
            (Some(arguments), Place::Text) if arguments.as_text().is_some() => {
                let mut out = String::new();
                arguments.as_text().into_iter().for_each(|text| append(&mut out, text));
                self.whole_text(out)
            }
            (None, Place::Text) => String::new(),
            (Some(arguments), Place::Text) if arguments.is_null() => String::new(),
            // APIs omit empty arguments. Only a wrapper contains null.
            (None, Place::Value) => String::from("{}"),
            (Some(arguments), Place::Value) if arguments.is_null() && self.plan.is_empty() => String::from("{}"),
            (Some(arguments), _) => json::write(arguments),
        }
    }

    /// Returns the complete text of restored arguments. Truncated text is restored as far as it is complete; if that
    /// takes too many steps, it stays unchanged, because nothing can read it as a complete answer.
    pub(super) fn whole_text(&self, text: String) -> String {
        if self.plan.is_empty() || json::read(&text).is_ok() {
            return text;
        }
        restored(Some(self), &text).text.unwrap_or(text)
    }
}
